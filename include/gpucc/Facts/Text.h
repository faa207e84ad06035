//===- Text.h - numbers as people read them ---------------------*- C++ -*-===//
//
//   bytesText(812) == "812 B"     bytesText(3 * 1048576) == "3.00 MiB"
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_TEXT_H
#define GPUCC_FACTS_TEXT_H

#include <string>

namespace gpucc {

/// Bytes in the largest binary unit of which there is at least one, up to TiB; negative values keep
/// their sign.
std::string bytesText(double bytes);

} // namespace gpucc

#endif // GPUCC_FACTS_TEXT_H
