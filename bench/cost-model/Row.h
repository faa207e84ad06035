//===- Row.h - what a table says of one run ---------------------*- C++ -*-===//
//
// What: the lines of one run (one per metric) as cells by column, metrics by name, and the words of
// its notes. Cells that are absent or no number count as 0.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_ROW_H
#define GPUCC_BENCH_COSTMODEL_ROW_H

#include "Names.h"
#include "Runs.h"

namespace gpucc::bench {

class Row {
public:
  explicit Row(const std::vector<Cells> &lines);

  std::string source, notes;
  std::string name; ///< of the model, in lower case

  bool from(const char *part) const { return has(source, part); } ///< part of the source's name
  const std::string &text(const char *key) const;
  /// "1,024" is 1024.
  double number(const char *key) const;
  int64_t integer(const char *key) const { return static_cast<int64_t>(number(key)); }
  double metric(const char *key) const;
  bool hasMetric(const char *key) const { return metrics.count(key) > 0; }

private:
  Cells cells; ///< of the first line
  std::map<std::string, double> metrics;
};

/// Empty: no such column.
const std::string &textOf(const Cells &cells, const std::string &key);

/// What the first group of `pattern` matches; empty: nothing.
std::string found(const std::string &text, const char *pattern);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_ROW_H
