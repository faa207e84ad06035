//===- Fit.cpp - coordinate search ----------------------------------------===//
#include "Fit.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

namespace gpucc::bench {

std::vector<Run> thinned(const std::vector<Run> &runs, size_t most) {
  std::map<std::string, std::vector<const Run *>> by;
  for (const Run &run : runs)
    if (run.seconds > 0 && !run.doubtful)
      by[run.source].push_back(&run);
  std::vector<Run> result;
  for (const auto &[source, v] : by)
    for (size_t i = 0, step = std::max<size_t>(1, v.size() / most); i < v.size(); i += step)
      result.push_back(*v[i]);
  return result;
}

double lossOf(const std::vector<Run> &runs, const cost::Calibration &calibration) {
  std::vector<double> logs(runs.size());
  auto work = [&](size_t begin) {
    for (size_t i = begin; i < runs.size(); i += 2)
      logs[i] = std::log(std::max(1e-12, predict(runs[i], calibration).seconds) / runs[i].seconds);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  std::map<std::string, std::vector<double>> by;
  std::map<std::string, std::map<std::string, int>> families;
  std::map<std::string, std::string> familyOfSource;
  for (size_t i = 0; i < runs.size(); ++i) {
    by[runs[i].source].push_back(logs[i]);
    familyOfSource[runs[i].source] = runs[i].family;
    ++families[runs[i].family][runs[i].source];
  }
  double total = 0, weights = 0;
  for (const auto &[source, v] : by) {
    double m = median(v), spread = 0;
    for (double x : v)
      spread += std::min(0.5, std::abs(x - m)) / static_cast<double>(v.size());
    double releases = static_cast<double>(families[familyOfSource[source]].size());
    double weight = std::sqrt(std::min(1.0, static_cast<double>(v.size()) / 8) / releases);
    total += weight * (spread + 0.5 * std::min(0.5, std::abs(m)));
    weights += weight;
  }
  return total / weights;
}

/// Constants of memory have no influence on times.
static bool countsForTime(const std::string &key) {
  return key != "allocator-share" && key != "communicator-bytes";
}

cost::Calibration fit(const std::vector<Run> &runs, cost::Calibration c, int rounds, bool verbose) {
  std::map<std::string, double> step;
  for (const auto &[key, constant] : c.constants)
    if (constant.free() && countsForTime(key))
      step[key] = 0.25;
  double best = lossOf(runs, c);
  for (int round = 0; round < rounds; ++round) {
    for (auto &[key, size] : step) {
      cost::Constant &constant = c.constants[key];
      double was = constant.value;
      bool better = false;
      for (double sign : {1.0, -1.0}) {
        constant.value = std::clamp(was * (1 + sign * size), constant.least, constant.most);
        double loss = constant.value == was ? best : lossOf(runs, c);
        if (loss < best - 1e-6) {
          best = loss;
          better = true;
          break;
        }
      }
      if (!better) {
        constant.value = was;
        size *= 0.5;
      }
    }
    if (verbose) {
      std::printf("round %d loss %.4f", round, best);
      for (const auto &[key, size] : step)
        std::printf(" %s=%.4g", key.c_str(), c(key));
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  return c;
}

/// The constants in use saw every family: a fit that left one out must not begin there. It begins
/// at what one would write down without any run: 0.7 of the peak for products, 0.8 of the
/// bandwidth, half of the traffic hidden, 50 us to issue an operator; a constant that only the
/// left-out family determines stays there.
static cost::Calibration prior(cost::Calibration c) {
  for (auto &[key, constant] : c.constants)
    if (constant.free() && countsForTime(key))
      constant.value = key == "host-seconds"              ? 50e-6
                       : key == "overlap"                 ? 0.5
                       : key == "memory-efficiency"       ? 0.8
                       : key.starts_with("low-precision") ? 1.0
                       : key == "ragged-64"               ? 0.75
                                                          : 0.7;
  return c;
}

void leaveOneOut(const std::vector<Run> &runs, const cost::Calibration &start, int rounds) {
  std::vector<std::string> families;
  for (const Run &run : runs)
    if (run.seconds > 0 &&
        std::find(families.begin(), families.end(), run.family) == families.end())
      families.push_back(run.family);
  std::printf("left out: constants fitted without the family, from prior values\n");
  std::vector<Ratio> all;
  std::vector<std::vector<Run>> kept;
  for (const std::string &family : families) {
    std::vector<Run> in, out;
    for (const Run &run : runs)
      (run.family == family ? out : in).push_back(run);
    cost::Calibration c = fit(thinned(in, 30), prior(start), rounds, false);
    kept.push_back(std::move(out));
    for (Ratio &r : predictAll(kept.back(), c))
      all.push_back(r);
    std::fflush(stdout);
  }
  printErrors(all, "family (left out of the fit)", [](const Run &r) { return r.family; });
  Errors e = errorsOf(all);
  std::printf("left-out overall: n=%d, MAPE %.2f %%, scaled %.2f %%\n", e.n, 100 * e.mape,
              100 * e.scaled);
}

} // namespace gpucc::bench
