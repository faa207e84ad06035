//===- Fit.h - constants from runs ------------------------------*- C++ -*-===//
//
// What: coordinate search with shrinking steps over the constants that calibration.yaml marks free
// (least < most). The loss is a mean over sources of |log(predicted / measured)| around the
// source's median, plus half of that median: the shape counts more than one factor per source,
// which differs between clusters and releases of one software.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_FIT_H
#define GPUCC_BENCH_COSTMODEL_FIT_H

#include "Report.h"

namespace gpucc::bench {

/// Every k-th run of large sources, doubtful ones left out.
std::vector<Run> thinned(const std::vector<Run> &runs, size_t most);
double lossOf(const std::vector<Run> &runs, const cost::Calibration &calibration);
cost::Calibration fit(const std::vector<Run> &runs, cost::Calibration start, int rounds,
                      bool verbose);
/// Fits without each family in turn (or without `only` that one) and reports on it.
void leaveOneOut(const std::vector<Run> &runs, const cost::Calibration &start, int rounds,
                 const std::string &only);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_FIT_H
