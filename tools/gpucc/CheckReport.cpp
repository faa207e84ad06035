//===- CheckReport.cpp - the table of a comparison ------------------------===//
#include "Output.h"
#include "Check.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace gpucc;
using namespace gpucc::tool;

void CheckReport::add(const std::string &name, const Difference &difference, double tolerance,
                      const std::vector<int64_t> &shape, const std::string &note) {
  rows.push_back({name, note, difference, tolerance, shape});
  bool ok = difference.error <= tolerance;
  std::printf("%-4s %-40s error %.2e  (allowed %.0e)%s%s\n", ok ? "ok" : "FAIL", name.c_str(),
              difference.error, tolerance, note.empty() ? "" : "  ", note.c_str());
  if (ok)
    return;
  if (!difference.problem.empty())
    std::printf("     %s\n", difference.problem.c_str());
  else
    std::printf("     at %s: found %.9g, expected %.9g\n", place(difference.index, shape).c_str(),
                difference.found, difference.expected);
}

int CheckReport::finish() {
  size_t wrong = 0;
  const Row *first = nullptr;
  for (const Row &row : rows)
    if (!(row.difference.error <= row.tolerance)) {
      ++wrong;
      first = first ? first : &row;
    }
  std::printf("%zu tensors compared, %zu wrong\n", rows.size(), wrong);
  if (first)
    std::printf("first wrong: %s%s%s\n", first->name.c_str(), first->note.empty() ? "" : "  ",
                first->note.c_str());
  if (!json.empty()) {
    nlohmann::json table = nlohmann::json::array();
    for (const Row &row : rows)
      table.push_back(
          {{"tensor", row.name},
           {"error", std::isfinite(row.difference.error) ? nlohmann::json(row.difference.error)
                                                         : nlohmann::json(nullptr)},
           {"allowed", row.tolerance},
           {"ok", row.difference.error <= row.tolerance},
           {"note", row.note}});
    if (int code = writeText(json, table.dump(1) + "\n"))
      return code;
  }
  return wrong ? 1 : 0;
}
