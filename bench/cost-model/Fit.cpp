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

/// Hooke and Jeeves (1961): each constant in turn by a shrinking factor, then the whole move of the
/// round once more, which follows the valleys that two constants span. Steps that have become too
/// small to matter begin again at a tenth.
cost::Calibration fit(const std::vector<Run> &runs, cost::Calibration c, int rounds, bool verbose) {
  std::map<std::string, double> step;
  for (const auto &[key, constant] : c.constants)
    if (constant.free() && countsForTime(key))
      step[key] = 0.25;
  double best = lossOf(runs, c);
  auto tryIt = [&](const cost::Calibration &next) {
    double loss = lossOf(runs, next);
    if (loss >= best - 1e-6)
      return false;
    best = loss;
    c = next;
    return true;
  };
  for (int round = 0; round < rounds; ++round) {
    cost::Calibration before = c;
    for (auto &[key, size] : step) {
      bool better = false;
      for (double factor : {1 + size, 1 / (1 + size)}) {
        cost::Calibration next = c;
        cost::Constant &constant = next.constants[key];
        constant.value = std::clamp(constant.value * factor, constant.least, constant.most);
        if (constant.value != c(key) && (better = tryIt(next)))
          break;
      }
      if (!better)
        size = size < 0.005 ? 0.1 : size / 2;
    }
    for (bool moved = true; moved;) {
      cost::Calibration next = c;
      for (const auto &[key, size] : step) {
        cost::Constant &constant = next.constants[key];
        constant.value = std::clamp(c(key) * c(key) / before(key), constant.least, constant.most);
      }
      before = c;
      moved = tryIt(next);
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
/// at what others measured without any of these runs; a constant that only the left-out family
/// determines stays there.
///   products    best matmul of PyTorch, share of the dense peak: A100 271 of 312, H100 795 of 989,
///               B200 1745 of 2250; fp8: H100 1403 of 1979 (Bekman, Machine
///               Learning Engineering, "Maximum achievable matmul FLOPS"); V100 83 of 112 (Jia et
///               al. 2018, arXiv 1804.06826)
///   attention   FlashAttention 2 forward, causal, head 128, A100: about 190 of 312 (arXiv
///               2307.08691)
///   memory      pointwise kernels of PyTorch on B200 reach .69 (pytorch/pytorch 193774), T4 220
///               of 320 GB/s (Jia et al. 2019)
///   host        a linear layer takes PyTorch 13 us on a Xeon and 37 us on Grace, Transformer
///               Engine 100 us (TransformerEngine issue 2053)
///   overlap, ragged-64   no measurement found: half, and three quarters
static cost::Calibration prior(cost::Calibration c) {
  const std::pair<const char *, double> values[] = {{"matrix-efficiency.ampere", 0.87},
                                                    {"matrix-efficiency.hopper", 0.80},
                                                    {"matrix-efficiency.blackwell", 0.78},
                                                    {"matrix-efficiency.older", 0.74},
                                                    {"low-precision", 0.88},
                                                    {"attention-efficiency", 0.61},
                                                    {"memory-efficiency", 0.69},
                                                    {"host-seconds", 50e-6},
                                                    {"overlap", 0.5},
                                                    {"ragged-64", 0.75}};
  for (auto [key, value] : values)
    if (cost::Constant &constant = c.constants[key]; constant.free())
      constant.value = value;
  return c;
}

void leaveOneOut(const std::vector<Run> &runs, const cost::Calibration &start, int rounds,
                 const std::string &only) {
  std::vector<std::string> families;
  for (const Run &run : runs)
    if (run.seconds > 0 &&
        std::find(families.begin(), families.end(), run.family) == families.end())
      families.push_back(run.family);
  std::printf("left out: constants fitted without the family, from prior values\n");
  std::vector<Ratio> all;
  std::vector<std::vector<Run>> kept;
  for (const std::string &family : families) {
    if (!only.empty() && family != only)
      continue;
    std::vector<Run> in, out;
    for (const Run &run : runs)
      (run.family == family ? out : in).push_back(run);
    cost::Calibration c = fit(thinned(in, 30), prior(start), rounds, false);
    std::printf("  without %-20s", family.c_str());
    for (const auto &[key, constant] : c.constants)
      if (constant.free() && countsForTime(key))
        std::printf(" %s=%.3g", key.c_str(), constant.value);
    std::printf("\n");
    kept.push_back(std::move(out));
    for (Ratio &r : predictAll(kept.back(), c))
      all.push_back(r);
    std::fflush(stdout);
  }
  printErrors(all, "family (left out of the fit)", [](const Run &r) { return r.family; });
  printErrors(all, "kind (left out of the fit)", [](const Run &r) { return r.kind(); });
  Errors e = errorsOf(all);
  std::printf("left-out overall: n=%d, MAPE %.2f %%, scaled %.2f %%\n", e.n, 100 * e.mape,
              100 * e.scaled);
}

} // namespace gpucc::bench
