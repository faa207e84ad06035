//===- FusedRun.h - a function through fusion, kernels and machine code -*- C++ -*-===//
//
// The chain under test, against the evaluator at three points:
//
//   original ─prepare─► prepared ─fuse─► clusters ─outline─► kernels ─► host code, or CUDA text
//      │ tolerance        │ equal bits       │                 │ tolerance
//      └──────────────────┴──────────────────┴─────────────────┘
//
// Launches run as machine code, or as their CUDA text on the SIMT executor under its race, bounds
// and barrier checks; what stays outside of clusters (library calls, views) is evaluated.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_CONVERSION_GRAPHTOKERNEL_FUSEDRUN_H
#define GPUCC_TEST_CONVERSION_GRAPHTOKERNEL_FUSEDRUN_H

#include "gpucc/Reference/Evaluator.h"
#include "mlir/IR/BuiltinOps.h"

namespace gpucc::test {

struct FusedRunOptions {
  std::string target = "host";
  bool executeCuda = false; ///< with target "cuda": run the CUDA text instead of host code
  /// |a - b| <= tolerance * max(|b|, floor, max|B| / 100), per element type: f64, f32, narrower
  /// floats.
  double f64 = 1e-9, f32 = 2e-5, narrow = 2e-2, floor = 1e-2;
};

/// How many kernels checkFused has run as CUDA text in this process.
int64_t executedCudaKernels();

/// Empty when all comparisons hold; else what differs, where, and the IR that shows it.
std::string checkFused(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs,
                       const FusedRunOptions &options = {});

/// Everything the tests need, host code generation included.
void registerForFusedRun(mlir::DialectRegistry &registry);

} // namespace gpucc::test

#endif // GPUCC_TEST_CONVERSION_GRAPHTOKERNEL_FUSEDRUN_H
