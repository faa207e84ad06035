//===- Text.h - numbers as people read them ---------------------*- C++ -*-===//
//
//   bytesText(812) == "812 B"     bytesText(3 * 1048576) == "3.00 MiB"
//   format("%.1f %%", 12.34) == "12.3 %"
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_TEXT_H
#define GPUCC_FACTS_TEXT_H

#include <string>

namespace gpucc {

/// Bytes in the largest binary unit of which there is at least one, up to TiB; negative values keep
/// their sign.
std::string bytesText(double bytes);

/// As printf, of any length.
[[gnu::format(printf, 1, 2)]] std::string format(const char *pattern, ...);

/// Appends what format() gives.
[[gnu::format(printf, 2, 3)]] void print(std::string &out, const char *pattern, ...);

} // namespace gpucc

#endif // GPUCC_FACTS_TEXT_H
