//===- ExternalData.cpp - weights that lie beside the model ---------------===//
//
// A model names files; a hostile one names files it should not. Allowed is a
// relative path without `..` to a regular file inside the model's folder, also
// after symbolic links were followed (unless the caller trusts them), and a
// range inside that file.
//
//===----------------------------------------------------------------------===//
#include "lib/Import/Onnx/Tensor.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace gpucc::onnx_import;

namespace {
struct Keys {
  std::string location;
  std::optional<uint64_t> offset, length;
};
} // namespace

static bool readKeys(const ::onnx::TensorProto &tensor, Keys &keys, std::string &error) {
  StringSet<> seen;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (!seen.insert(key).second) {
      error =
          ("has external_data with the key '" + key + "' twice; each is allowed once: remove one")
              .str();
      return false;
    }
    if (key == "location") {
      keys.location = value.str();
    } else if (key == "offset" || key == "length") {
      uint64_t number;
      if (value.getAsInteger(10, number) || number > (uint64_t(1) << 62)) {
        error = ("has external_data with " + key + " '" + value +
                 "'; a number of bytes from 0 to 2^62 is allowed: correct it")
                    .str();
        return false;
      }
      (key == "offset" ? keys.offset : keys.length) = number;
    } else if (key != "checksum" && key != "basepath") {
      error = ("has external_data with the unknown key '" + key +
               "'; known are location, offset, length and checksum: remove it")
                  .str();
      return false;
    }
  }
  return true;
}

static bool checkPath(StringRef location, StringRef folder, bool followLinks,
                      SmallString<256> &full, std::string &error) {
  auto refuse = [&](const Twine &why) {
    error = ("keeps its data in the external file '" + location + "', " + why).str();
    return false;
  };
  if (location.empty())
    return refuse("which is no name; external_data needs a location: add the path of the file");
  if (location.contains('\0') || sys::path::is_absolute(location))
    return refuse("which is no relative path; put the file beside the model");
  for (StringRef part : make_range(sys::path::begin(location), sys::path::end(location)))
    if (part == "..")
      return refuse("which leads out of the model's folder; put the file beside the model");
  full = folder.empty() ? StringRef(".") : folder;
  sys::path::append(full, location);
  sys::fs::file_status status;
  if (sys::fs::status(full, status))
    return refuse("which does not exist in '" + Twine(folder.empty() ? "." : folder) +
                  "'; copy it there");
  if (status.type() != sys::fs::file_type::regular_file)
    return refuse("which is not a regular file; give one with the tensor's bytes");
  SmallString<256> realFolder, realFile;
  if (sys::fs::real_path(folder.empty() ? "." : folder, realFolder) ||
      sys::fs::real_path(full, realFile))
    return refuse("which cannot be resolved; put the file beside the model");
  StringRef rest = realFile.str();
  if (!followLinks &&
      !(rest.consume_front(realFolder) &&
        (realFolder == "/" || (!rest.empty() && sys::path::is_separator(rest.front())))))
    return refuse("which is a link out of the model's folder; if you trust the model, allow links "
                  "with --follow-links");
  return true;
}

bool gpucc::onnx_import::locateExternal(const ::onnx::TensorProto &tensor, StringRef folder,
                                        uint64_t need, bool followLinks, ExternalData &result,
                                        std::string &error) {
  Keys keys;
  SmallString<256> full;
  if (!readKeys(tensor, keys, error) || !checkPath(keys.location, folder, followLinks, full, error))
    return false;
  uint64_t size = 0;
  if (sys::fs::file_size(full, size)) {
    error = "keeps its data in '" + keys.location +
            "', whose size cannot be read; put the file beside the model";
    return false;
  }
  uint64_t offset = keys.offset.value_or(0);
  if (keys.length && *keys.length != need) {
    error = "says its external data has " + std::to_string(*keys.length) +
            " bytes, but its dims and type take " + std::to_string(need) + ": correct one of them";
    return false;
  }
  if (offset > size || need > size - offset) {
    error = "needs bytes " + std::to_string(offset) + " to " + std::to_string(offset + need) +
            " of '" + keys.location + "', which has only " + std::to_string(size) +
            "; the file is cut short or belongs to another model: copy it again";
    return false;
  }
  result = {keys.location, offset, need};
  return true;
}
