//===- main.cpp - the cost model against published runs -------------------===//
//
//   costmodel [--data DIR] [--runs FILE] [--calibration FILE] [--fit] [--left-out [--only FAMILY]]
//             [--rows] [--parts]
//
// Last line: "overall: n=..., MAPE ...".
//
//===----------------------------------------------------------------------===//
#include "Fit.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

using namespace gpucc;
using namespace gpucc::bench;

namespace {

struct Options {
  std::string data, runs, calibration, only;
  bool fit = false, leftOut = false, rows = false, parts = false;
  int rounds = 8;
};

int usage(const char *found) {
  std::fprintf(
      stderr,
      "costmodel: found '%s', allowed --data DIR (with published-runs/ and vtrain/), --runs "
      "FILE (a CSV of the same columns or of vTrain's instead), --calibration FILE, --fit, "
      "--left-out [--only "
      "FAMILY], "
      "--rows, --parts, --rounds N; see docs/cost-model.md\n",
      found);
  return 2;
}

bool load(const Options &options, Runs &runs) {
  std::string error;
  if (!options.runs.empty()) {
    addRuns(options.runs, runs, error);
  } else {
    addRuns(options.data + "/published-runs/published_runs.csv", runs, error);
    for (const char *which : {"single", "multi"})
      addRuns(options.data + "/vtrain/ground_truth_" + which + ".csv", runs, error);
  }
  if (!error.empty())
    std::fprintf(stderr, "costmodel: %s\n", error.c_str());
  return error.empty();
}

void printConstants(const cost::Calibration &c) {
  int fitted = 0;
  for (const auto &[key, constant] : c.constants)
    fitted += constant.free();
  std::printf("constants (%s): %d fitted, %zu others\n%s\n", c.origin.c_str(), fitted,
              c.constants.size() - fitted, c.dump().c_str());
}

/// Shares of the predicted step, in per cent.
void printParts(const Prediction &p) {
  const simulate::Parts &q = p.parts;
  const std::pair<const char *, double> shares[] = {
      {"matmul", q.matmul}, {"attention", q.attention}, {"pointwise", q.pointwise},
      {"host", q.host},     {"tensor", q.tensor},       {"context", q.context},
      {"expert", q.expert}, {"recompute", q.recompute}, {"bubble", p.bubble},
      {"gather", p.gather}, {"gradient", p.gradient},   {"update", p.update}};
  std::printf("       ");
  for (const auto &[name, seconds] : shares)
    if (seconds > 0.005 * p.seconds)
      std::printf(" %s %.0f", name, 100 * seconds / p.seconds);
  std::printf("\n");
}

void printRows(const std::vector<Ratio> &ratios, bool parts) {
  for (const Ratio &r : ratios)
    if (r.ratio > 0) {
      std::printf(
          "%6.3f  %-44s %-18s %-14s L%-3lld h%-5lld s%-6lld gb%-5lld %s  %.3f s  mem %.1f/%.1f\n",
          r.ratio, r.run->id.c_str(), r.run->workload.name.c_str(), r.run->machine.name.c_str(),
          static_cast<long long>(r.run->workload.layers),
          static_cast<long long>(r.run->workload.hidden),
          static_cast<long long>(r.run->workload.sequence),
          static_cast<long long>(r.run->layout.globalBatch), r.prediction.layout.line().c_str(),
          r.run->seconds, r.prediction.memory.total() / 1e9, r.run->memoryBytes / 1e9);
      if (parts)
        printParts(r.prediction);
    }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (const char *data = std::getenv("GPUCC_DATA"))
    options.data = data;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    bool more = i + 1 < argc;
    if (a == "--data" && more)
      options.data = argv[++i];
    else if (a == "--runs" && more)
      options.runs = argv[++i];
    else if (a == "--calibration" && more)
      options.calibration = argv[++i];
    else if (a == "--rounds" && more)
      options.rounds = std::atoi(argv[++i]);
    else if (a == "--fit")
      options.fit = true;
    else if (a == "--only" && more)
      options.only = argv[++i];
    else if (a == "--left-out")
      options.leftOut = true;
    else if (a == "--rows" || a == "--parts")
      options.rows = true, options.parts |= a == "--parts";
    else
      return usage(a.c_str());
  }
  if (!options.only.empty() && !options.leftOut)
    return usage("--only without --left-out");
  if (options.data.empty() && options.runs.empty())
    return usage("neither --data nor --runs");
  cost::Calibration calibration = cost::Calibration::builtin();
  if (!options.calibration.empty()) {
    cost::CalibrationOrError loaded = cost::loadCalibration(options.calibration);
    if (std::string *wrong = std::get_if<std::string>(&loaded)) {
      std::fprintf(stderr, "%s\n", wrong->c_str());
      return 2;
    }
    calibration = std::get<cost::Calibration>(loaded);
  }
  Runs runs;
  if (!load(options, runs))
    return 1;
  std::set<std::string> families;
  for (const Run &run : runs.runs)
    families.insert(run.family);
  if (!options.only.empty() && !families.count(options.only)) {
    std::fprintf(stderr, "costmodel: --only: found '%s', allowed one of", options.only.c_str());
    for (const std::string &family : families)
      std::fprintf(stderr, " '%s'", family.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  if (options.fit)
    calibration = fit(thinned(runs.runs, 60), calibration, options.rounds, true);
  printConstants(calibration);
  std::vector<Ratio> ratios = predictAll(runs.runs, calibration);
  if (options.rows)
    printRows(ratios, options.parts);
  printErrors(ratios, "source", [](const Run &r) { return r.source; });
  std::printf("\n");
  printErrors(ratios, "family", [](const Run &r) { return r.family; });
  std::printf("\n");
  printErrors(ratios, "kind", [](const Run &r) { return r.kind(); });
  std::printf("\n");
  printSpecial(ratios);
  printFlopIdentity(runs.runs);
  std::printf("\n");
  printMemory(ratios);
  printOutOfMemory(ratios);
  std::set<std::string> unknown;
  for (const Run &run : runs.runs)
    if (run.stack == "unknown")
      unknown.insert(run.source);
  for (const std::string &source : unknown)
    std::printf("assumed %-40.40s      software unknown: what today's stacks have in common\n",
                source.c_str());
  for (const auto &[source, reasons] : runs.skipped)
    for (const auto &[why, n] : reasons)
      std::printf("skipped %-40.40s %3d  %s\n", source.c_str(), n, why.c_str());
  if (options.leftOut)
    leaveOneOut(runs.runs, calibration, options.rounds, options.only);
  Errors all = errorsOf(ratios);
  std::printf("overall: n=%d, MAPE %.2f %%, scaled per source %.2f %%\n", all.n, 100 * all.mape,
              100 * all.scaled);
  return 0;
}
