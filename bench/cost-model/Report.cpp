//===- Report.cpp - tables ------------------------------------------------===//
#include "Report.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpucc::bench {

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Concordant minus discordant pairs over all pairs whose measurements differ.
double kendallTau(const std::vector<std::pair<double, double>> &v) {
  double sum = 0;
  int pairs = 0;
  for (size_t i = 0; i < v.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (v[i].second == v[j].second)
        continue;
      double sign = (v[i].first - v[j].first) * (v[i].second - v[j].second);
      sum += (sign > 0) - (sign < 0);
      ++pairs;
    }
  return pairs ? sum / pairs : 0;
}

std::vector<Ratio> predictAll(const std::vector<Run> &runs, const cost::Calibration &calibration) {
  std::vector<Ratio> ratios;
  for (const Run &run : runs) {
    Prediction p = predict(run, calibration);
    if (p.valid && p.seconds > 0 && p.seconds < 1e12)
      ratios.push_back({&run, run.seconds > 0 ? p.seconds / run.seconds : 0, p});
  }
  return ratios;
}

static void addGroups(const std::vector<Ratio> &ratios, Errors &e) {
  std::map<std::string, std::vector<std::pair<double, double>>> groups;
  for (const Ratio &r : ratios)
    if (r.ratio > 0)
      groups[r.run->group].push_back({r.prediction.seconds, r.run->seconds});
  for (const auto &[name, v] : groups) {
    double best = v[0].second, worst = best, mean = 0;
    for (auto [p, m] : v) {
      best = std::min(best, m);
      worst = std::max(worst, m);
      mean += m / static_cast<double>(v.size());
    }
    if (v.size() < 3 || worst <= best)
      continue;
    ++e.groups;
    e.tau += kendallTau(v);
    e.regret += std::min_element(v.begin(), v.end())->second / best - 1;
    e.random += mean / best - 1;
  }
  if (e.groups > 0)
    e.tau /= e.groups, e.regret /= e.groups, e.random /= e.groups;
}

Errors errorsOf(const std::vector<Ratio> &ratios) {
  Errors e;
  std::vector<double> all;
  std::map<std::string, std::vector<double>> bySource;
  for (const Ratio &r : ratios)
    if (r.ratio > 0) {
      all.push_back(r.ratio);
      bySource[r.run->source].push_back(r.ratio);
    }
  e.n = static_cast<int>(all.size());
  if (!e.n)
    return e;
  for (const auto &[source, v] : bySource) {
    double scale = median(v);
    for (double x : v) {
      e.mape += std::abs(x - 1) / e.n;
      e.worst = std::max(e.worst, std::abs(x - 1));
      e.scaled += std::abs(x / scale - 1) / e.n;
    }
  }
  e.bias = median(all) - 1;
  addGroups(ratios, e);
  return e;
}

void printErrors(const std::vector<Ratio> &ratios, const char *title, const KeyOf &key) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Ratio>> by;
  for (const Ratio &r : ratios)
    if (r.ratio > 0) {
      std::string k = key(*r.run);
      if (!by.count(k))
        order.push_back(k);
      by[k].push_back(r);
    }
  std::printf("%-42s %4s %7s %7s %7s %7s %6s %7s %7s %s\n", title, "n", "MAPE", "bias", "worst",
              "scaled", "tau", "regret", "random", "groups");
  for (const std::string &k : order) {
    Errors e = errorsOf(by[k]);
    std::printf("%-42.42s %4d %6.1f%% %+6.1f%% %6.1f%% %6.1f%%", k.c_str(), e.n, 100 * e.mape,
                100 * e.bias, 100 * e.worst, 100 * e.scaled);
    if (e.groups)
      std::printf(" %6.2f %6.1f%% %6.1f%% %d", e.tau, 100 * e.regret, 100 * e.random, e.groups);
    std::printf("\n");
  }
}

void printMemory(const std::vector<Ratio> &ratios) {
  std::map<std::string, std::vector<double>> by;
  for (const Ratio &r : ratios)
    if (r.run->memoryBytes > 0 && !r.run->unstated.any())
      by[r.run->source].push_back(r.prediction.memory.total() / r.run->memoryBytes);
  std::printf("%-42s %4s %7s %7s %7s %7s\n", "memory", "n", "MAPE", "bias", "worst", "scaled");
  for (const auto &[source, v] : by) {
    double m = median(v), mape = 0, worst = 0, scaled = 0;
    for (double x : v) {
      mape += std::abs(x - 1) / static_cast<double>(v.size());
      worst = std::max(worst, std::abs(x - 1));
      scaled += std::abs(x / m - 1) / static_cast<double>(v.size());
    }
    std::printf("%-42.42s %4zu %6.1f%% %+6.1f%% %6.1f%% %6.1f%%\n", source.c_str(), v.size(),
                100 * mape, 100 * (m - 1), 100 * worst, 100 * scaled);
  }
}

void printOutOfMemory(const std::vector<Ratio> &ratios) {
  std::map<std::string, int[2][2]> by; // [measured fits][predicted fits]
  for (const Ratio &r : ratios)
    if (r.run->fits >= 0 && !r.run->unstated.any())
      ++by[r.run->source][r.run->fits][r.prediction.fits];
  std::printf("%-42s %9s %9s %9s %9s\n", "out of memory (measured/predicted)", "fits/fits",
              "fits/OOM", "OOM/OOM", "OOM/fits");
  for (const auto &[source, c] : by)
    std::printf("%-42.42s %9d %9d %9d %9d\n", source.c_str(), c[1][1], c[1][0], c[0][0], c[0][1]);
}

} // namespace gpucc::bench
