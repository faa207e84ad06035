//===- Layouts.h - workloads and layouts for tests of their ops -*- C++ -*-===//
#ifndef GPUCC_TEST_WORKLOAD_LAYOUTS_H
#define GPUCC_TEST_WORKLOAD_LAYOUTS_H

#include "gpucc/Workload/Layout.h"
#include <gtest/gtest.h>

namespace gpucc::workload {

inline Workload builtin(const std::string &name) {
  WorkloadOrError w = loadWorkload(name);
  EXPECT_TRUE(std::holds_alternative<Workload>(w));
  return std::get<Workload>(w);
}

inline Layout layoutOf(int64_t tp, bool sp, bool flash, int64_t microBatch = 1) {
  Layout l;
  l.tp = tp;
  l.sequenceParallel = sp;
  l.microBatch = microBatch;
  l.recipe.flashAttention = flash;
  l.recipe.precision = Precision::F16;
  return l;
}

} // namespace gpucc::workload
#endif // GPUCC_TEST_WORKLOAD_LAYOUTS_H
