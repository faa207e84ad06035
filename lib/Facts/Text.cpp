//===- Text.cpp - numbers as people read them -----------------------------===//
#include "gpucc/Facts/Text.h"
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
