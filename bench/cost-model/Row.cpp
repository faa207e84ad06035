//===- Row.cpp - numbers and words of cells -------------------------------===//
#include "Row.h"
#include <cmath>
#include <regex>

namespace gpucc::bench {

const std::string &textOf(const Cells &cells, const std::string &key) {
  static const std::string none;
  auto it = cells.find(key);
  return it == cells.end() ? none : it->second;
}

static double numberOf(std::string digits) {
  static const std::regex grouped("-?[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]*)?");
  if (digits.find(',') != std::string::npos && std::regex_match(digits, grouped))
    std::erase(digits, ',');
  char *end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  bool fine = end != digits.c_str() && !*end && std::abs(value) < 1e12; // no NaN either
  return fine ? value : 0;
}

std::string found(const std::string &text, const char *pattern) {
  std::smatch m;
  return std::regex_search(text, m, std::regex(pattern)) ? m[1].str() : "";
}

Row::Row(const std::vector<Cells> &lines) : cells(lines.front()) {
  for (const Cells &line : lines)
    metrics[textOf(line, "metric_name")] = numberOf(textOf(line, "metric_value"));
  source = text("source");
  notes = text("notes");
  name = lower(text("model") + (has(notes, "LoRA") ? " lora" : ""));
}

const std::string &Row::text(const char *key) const { return textOf(cells, key); }
double Row::number(const char *key) const { return numberOf(text(key)); }
double Row::metric(const char *key) const {
  auto it = metrics.find(key);
  return it == metrics.end() ? 0 : it->second;
}

} // namespace gpucc::bench
