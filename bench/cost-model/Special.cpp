//===- Special.cpp - figures that published tools are held to -------------===//
#include "Report.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpucc::bench {

namespace {

void line(const char *what, std::vector<double> ratios) {
  double mean = 0, worst = 0;
  for (double x : ratios) {
    mean += std::abs(x - 1) / static_cast<double>(ratios.size());
    worst = std::max(worst, std::abs(x - 1));
  }
  std::printf("%-58s n %3zu  mean %5.2f%%  worst %5.2f%%\n", what, ratios.size(), 100 * mean,
              100 * worst);
}

/// Table 5 of the selective-recomputation paper, without its row of 2,240 GPUs, which adds data
/// parallelism: what Calculon is validated on.
void calculon(const std::vector<Ratio> &ratios) {
  std::vector<double> rows, others;
  for (const Ratio &r : ratios)
    if (r.ratio > 0 && r.run->layout.dp == 1 &&
        r.run->source.find("selective") != std::string::npos)
      (r.run->source.find("Table 5") != std::string::npos ? rows : others).push_back(r.ratio);
  if (rows.size() < 2)
    return;
  line("Calculon's eight rows, raw", rows);
  if (!others.empty()) {
    std::vector<double> scaled;
    for (double x : rows)
      scaled.push_back(x / median(others));
    line("  scale from that paper's other rows (Table 4, one layer)", scaled);
  }
  std::vector<double> held;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> rest = rows;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    held.push_back(rows[i] / median(rest));
  }
  line("  scale from the other seven rows", held);
}

using Dates = std::map<std::string, std::vector<double>>;

/// Each date scaled by the median of all other dates.
std::vector<double> acrossDates(const Dates &dates) {
  std::vector<double> held;
  for (const auto &[date, v] : dates) {
    std::vector<double> rest;
    for (const auto &[other, w] : dates)
      if (other != date)
        rest.insert(rest.end(), w.begin(), w.end());
    for (double x : v)
      held.push_back(x / median(rest));
  }
  return held;
}

/// The log of the sweep says that processes were bound to the right NUMA nodes from 25 February on;
/// the same layout went from 120.2 to 114.1 s that day.
void bloom(const std::vector<Ratio> &ratios) {
  Dates dates, before, after;
  for (const Ratio &r : ratios)
    if (r.ratio > 0 && r.run->family == "BLOOM" && !r.run->doubtful) {
      dates[r.run->date].push_back(r.ratio);
      (r.run->date < "02-25" ? before : after)[r.run->date].push_back(r.ratio);
    }
  if (dates.size() < 2)
    return;
  line("BLOOM, scale from the other dates", acrossDates(dates));
  if (before.size() > 1 && after.size() > 1) {
    std::vector<double> held = acrossDates(before), later = acrossDates(after);
    held.insert(held.end(), later.begin(), later.end());
    line("  from those on the same side of the NUMA fix of 02-25", held);
  }
  std::vector<Ratio> without;
  for (const Ratio &r : ratios)
    if (r.run->family == "BLOOM" && !(r.run->workload.name == "GPT-182B" &&
                                      r.run->layout.microBatch == 1 && r.run->layout.tp == 4))
      without.push_back(r);
  Errors e = errorsOf(without);
  std::printf("%-58s tau %.2f, regret %.1f%% (random %.1f%%), %d groups\n",
              "  without the 182B TP4 micro-batch 1 outlier", e.tau, 100 * e.regret, 100 * e.random,
              e.groups);
}

/// Every second row (by a hash of its number) is held; the scale comes from the others.
void vtrain(const std::vector<Ratio> &ratios, const char *family) {
  std::vector<double> fit, held, result;
  unsigned i = 0;
  for (const Ratio &r : ratios)
    if (r.ratio > 0 && r.run->family == family)
      ((++i * 2654435761u) >> 16 & 1 ? fit : held).push_back(r.ratio);
  for (double x : held)
    result.push_back(x / median(fit));
  if (result.empty())
    return;
  line((std::string(family) + ", random held half, raw").c_str(), held);
  line((std::string(family) + ", random held half, scale from the other").c_str(), result);
}

} // namespace

void printSpecial(const std::vector<Ratio> &ratios) {
  calculon(ratios);
  bloom(ratios);
  vtrain(ratios, "vTrain single");
  vtrain(ratios, "vTrain multi");
}

void printFlopIdentity(const std::vector<Run> &runs) {
  double worst = 0, mean = 0;
  int n = 0;
  for (const Run &run : runs) {
    if (run.family != "BLOOM" || run.doubtful || run.seconds <= 0 || run.hardwareTflops <= 0 ||
        run.layersInferred)
      continue;
    const workload::Workload &w = run.workload;
    // Their count: 96 B s l h^2 (1 + s / 6h + V / 16 l h), recomputation included, V unpadded.
    workload::Workload unpadded = w;
    unpadded.vocab = 250000;
    workload::FlopCount f = workload::countFlops(unpadded);
    double flops = (4 * (f.linear + f.attentionFull) + 3 * f.logits) *
                   static_cast<double>(run.layout.globalBatch);
    double ratio = flops / (run.seconds * run.hardwareTflops * 1e12 * run.gpus);
    worst = std::max(worst, std::abs(ratio - 1));
    mean += std::abs(ratio - 1);
    ++n;
  }
  if (n)
    std::printf("BLOOM FLOP identity: n %d, mean %.2f%%, worst %.2f%%\n", n, 100 * mean / n,
                100 * worst);
}

} // namespace gpucc::bench
