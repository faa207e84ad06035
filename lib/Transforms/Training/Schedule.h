//===- Schedule.h - learning-rate schedules -----------------------*- C++ -*-===//
//
//   constant             lr
//   warmup:W             lr (k + 1) / W while k < W, then lr
//   cosine:W:T[:MIN]     warm-up, then a half cosine from lr down to MIN at step T
//
// k counts completed steps: the first step runs with k = 0.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_TRAINING_SCHEDULE_H
#define GPUCC_LIB_TRANSFORMS_TRAINING_SCHEDULE_H

#include "dialects/Graph/Build.h"

#include <string>

namespace gpucc::training {

struct LearningRateSchedule {
  double rate = 0, minimum = 0;
  int64_t warmup = 0, total = 0; ///< total 0: no decay

  /// None, with `error` set, when the text is not of one of the forms above.
  static std::optional<LearningRateSchedule> parse(llvm::StringRef text, double rate,
                                                   std::string &error);
  /// The rate as a scalar f64 from `step`, a scalar i64.
  mlir::Value build(graph::GraphBuilder &g, mlir::Value step) const;
};

} // namespace gpucc::training

#endif // GPUCC_LIB_TRANSFORMS_TRAINING_SCHEDULE_H
