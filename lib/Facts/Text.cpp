//===- Text.cpp - numbers as people read them -----------------------------===//
#include "gpucc/Facts/Text.h"
#include <cmath>
#include <cstdio>

std::string gpucc::bytesText(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (std::abs(bytes) >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}
