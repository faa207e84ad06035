//===- Profiles.cpp - sizes of symbolic dimensions, as text ---------------===//
#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace gpucc;

bool gpucc::parseProfiles(StringRef text, std::vector<ProfileBinding> &profiles,
                          std::string &error) {
  if (text.trim().empty())
    return true;
  SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (auto [i, part] : enumerate(parts)) {
    ProfileBinding profile{"p" + std::to_string(i), {}};
    SmallVector<StringRef> pairs;
    part.split(pairs, ',', -1, /*KeepEmpty=*/false);
    for (StringRef pair : pairs) {
      auto [symbol, value] = pair.split('=');
      int64_t size = 0;
      if (symbol.trim().empty() || value.trim().getAsInteger(10, size) || size < 0) {
        error = ("'" + pair +
                 "' is no binding of a dimension; write NAME=SIZE, separate "
                 "dimensions by ',' and profiles by ';': batch=1,seq=16;batch=4,seq=16")
                    .str();
        return false;
      }
      profile.sizes[symbol.trim().str()] = size;
    }
    profiles.push_back(std::move(profile));
  }
  return true;
}
