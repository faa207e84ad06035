//===- Report.h - errors, ranking, regret -----------------------*- C++ -*-===//
//
// What: per source or family the errors that issue-sized claims need: MAPE, bias (median of
// predicted / measured - 1), worst, the same after one scale per source ("scaled": median ratio of
// that source divided out), Kendall's tau and regret over groups of runs that differ only in the
// layout, memory errors and the out-of-memory table.
//
// Regret: how much slower the run is that the model would pick than the best one of its group.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_REPORT_H
#define GPUCC_BENCH_COSTMODEL_REPORT_H

#include "Runs.h"
#include <functional>

namespace gpucc::bench {

struct Ratio {
  const Run *run;
  double ratio; ///< predicted / measured seconds
  Prediction prediction;
};

struct Errors {
  int n = 0;
  double mape = 0, bias = 0, worst = 0, scaled = 0;
  int groups = 0;
  double tau = 0, regret = 0, random = 0;
};

double median(std::vector<double> values);
double kendallTau(const std::vector<std::pair<double, double>> &predictedMeasured);
Errors errorsOf(const std::vector<Ratio> &ratios);

std::vector<Ratio> predictAll(const std::vector<Run> &runs, const cost::Calibration &calibration);

using KeyOf = std::function<std::string(const Run &)>;
void printErrors(const std::vector<Ratio> &ratios, const char *title, const KeyOf &key);
void printMemory(const std::vector<Ratio> &ratios);
void printOutOfMemory(const std::vector<Ratio> &ratios);
/// sec * TFLOP/s of BLOOM's rows against our count of FLOP.
void printFlopIdentity(const std::vector<Run> &runs);
/// Calculon's eight rows, BLOOM across dates, vTrain on a held half.
void printSpecial(const std::vector<Ratio> &ratios);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_REPORT_H
