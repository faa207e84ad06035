//===- Text.h - numbers as people read them ---------------------*- C++ -*-===//
//
//   bytesText(812) == "812 B"     bytesText(3 * 1048576) == "3.00 MiB"
//   format("%.1f %%", 12.34) == "12.3 %"
//   nearestWord({"h100", "a100-80gb"}, "h101") == "h100"
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_TEXT_H
#define GPUCC_FACTS_TEXT_H

#include <string>
#include <vector>

namespace gpucc {

/// Bytes in the largest binary unit of which there is at least one, up to TiB; negative values keep
/// their sign.
std::string bytesText(double bytes);

/// As printf, of any length.
[[gnu::format(printf, 1, 2)]] std::string format(const char *pattern, ...);

/// Appends what format() gives.
[[gnu::format(printf, 2, 3)]] void print(std::string &out, const char *pattern, ...);

/// How many single-letter edits lie between two words.
size_t editDistance(const std::string &a, const std::string &b);

/// How many of them are a slip of the finger, not another word: one letter of a short word, two or
/// three of a longer one (letters that changed places count as two).
size_t slipsAllowed(const std::string &word);

/// That of `words` which differs from `found` by slips only; empty when none does.
std::string nearestWord(const std::vector<std::string> &words, const std::string &found);

} // namespace gpucc

#endif // GPUCC_FACTS_TEXT_H
