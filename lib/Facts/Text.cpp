//===- Text.cpp - numbers as people read them -----------------------------===//
#include "gpucc/Facts/Text.h"
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

static void append(std::string &out, const char *pattern, va_list values) {
  va_list again;
  va_copy(again, values);
  int length = std::vsnprintf(nullptr, 0, pattern, values);
  if (length > 0) {
    size_t before = out.size();
    out.resize(before + length + 1); // with the terminating zero
    std::vsnprintf(out.data() + before, length + 1, pattern, again);
    out.pop_back();
  }
  va_end(again);
}

std::string gpucc::format(const char *pattern, ...) {
  std::string text;
  va_list values;
  va_start(values, pattern);
  append(text, pattern, values);
  va_end(values);
  return text;
}

void gpucc::print(std::string &out, const char *pattern, ...) {
  va_list values;
  va_start(values, pattern);
  append(out, pattern, values);
  va_end(values);
}

std::string gpucc::bytesText(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (std::abs(bytes) >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return format(unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
}

size_t gpucc::editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row.back();
}

size_t gpucc::slipsAllowed(const std::string &word) {
  return word.size() < 5 ? 1 : word.size() < 9 ? 2 : 3;
}

std::string gpucc::nearestWord(const std::vector<std::string> &words, const std::string &found) {
  std::string nearest;
  size_t best = slipsAllowed(found) + 1;
  for (const std::string &word : words)
    if (size_t d = editDistance(word, found); d < best) {
      best = d;
      nearest = word;
    }
  return nearest;
}
