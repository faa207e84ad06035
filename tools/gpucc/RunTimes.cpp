//===- RunTimes.cpp - which commands take the time ------------------------===//
//
// From the trace of rank 0: the median of each command over the runs (but the first, which warms
// up), the largest first.
//
//    share   median us  command
//    54.1 %      8.210  LibraryCall conv1 (Conv)
//    20.3 %      3.080  Launch      MaxPool_1 (MaxPool)
//
//===----------------------------------------------------------------------===//
#include "RunTimes.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace gpucc;

namespace {
struct Row {
  std::string kind, name;
  double median = 0; // microseconds
};

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One row per command of a step, in the order of the trace, which is the same in every run.
std::vector<Row> rowsOf(const nlohmann::json &trace, uint64_t runs) {
  std::vector<const nlohmann::json *> events;
  for (const nlohmann::json &event : trace["traceEvents"])
    if (event["ph"] == "X" && event["pid"] == 0)
      events.push_back(&event);
  size_t perRun = events.size() / runs;
  std::vector<Row> rows;
  for (size_t i = 0; i < perRun; ++i) {
    std::vector<double> times;
    for (size_t run = runs > 1 ? 1 : 0; run < runs; ++run)
      times.push_back((*events[run * perRun + i])["dur"].get<double>());
    rows.push_back({(*events[i])["cat"].get<std::string>(), (*events[i])["name"].get<std::string>(),
                    medianOf(std::move(times))});
  }
  return rows;
}
} // namespace

void tool::printTimes(const std::string &traceFile, uint64_t runs, size_t most) {
  std::ifstream file(traceFile);
  std::vector<Row> rows = rowsOf(nlohmann::json::parse(file), runs);
  double whole = 0;
  for (const Row &row : rows)
    whole += row.median;
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.median != b.median ? a.median > b.median : a.name < b.name;
  });
  std::printf("\n%8s %12s  command (of %zu, %.1f us together)\n", "share", "median us", rows.size(),
              whole);
  double rest = whole;
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    std::printf("%6.1f %% %12.3f  %-12s %s\n", 100 * rows[i].median / whole, rows[i].median,
                rows[i].kind.c_str(), rows[i].name.c_str());
    rest -= rows[i].median;
  }
  if (rows.size() > most)
    std::printf("%6.1f %% %12.3f  %zu more (--trace FILE.json has all)\n",
                100 * std::max(rest, 0.0) / whole, std::max(rest, 0.0), rows.size() - most);
}
