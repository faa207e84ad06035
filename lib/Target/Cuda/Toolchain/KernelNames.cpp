//===- KernelNames.cpp - Names of the kernels in a kernel file ------------===//

#include "gpucc/Target/Cuda/Toolchain.h"

#include <cctype>

using namespace gpucc::cuda;

/// Position after the parenthesis that closes the one at `open`.
static size_t afterParentheses(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0)
      return i + 1;
  }
  return text.size();
}

/// `__global__ void __launch_bounds__(256) name(...)` -> name: the last identifier before the
/// parameter list, that is before a parenthesis that no attribute-like word (`__...__`) owns.
std::vector<std::string> gpucc::cuda::kernelNames(std::string_view text) {
  constexpr std::string_view marker = "__global__";
  std::vector<std::string> names;
  for (size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at)) {
    at += marker.size();
    if (size_t lineStart = text.rfind('\n', at); // not in a comment
        text.substr(lineStart + 1, at - lineStart - 1).find("//") != std::string_view::npos)
      continue;
    std::string word;
    while (at < text.size()) {
      const auto c = static_cast<unsigned char>(text[at]);
      if (std::isalnum(c) || c == '_') {
        size_t end = at;
        while (end < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
          ++end;
        word = std::string(text.substr(at, end - at));
        at = end;
      } else if (c == '(') {
        if (word.substr(0, 2) != "__") {
          names.push_back(word);
          break;
        }
        at = afterParentheses(text, at);
      } else if (c == ';' || c == '{')
        break;
      else
        ++at;
    }
  }
  return names;
}
