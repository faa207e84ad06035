//===- RandomProgram.h - random well-typed graph programs -------*- C++ -*-===//
//
// Programs for checking that a pass, a partition or an emitter keeps the
// meaning: build one, evaluate it, transform it, evaluate again.
//
//   RandomProgramOptions options;
//   for (uint64_t seed = 0; seed < 500; ++seed) {
//     auto module = buildRandomProgram(&context, seed, options);
//     auto main = module->lookupSymbol<func::FuncOp>("main");
//     auto arguments = randomArguments(main, seed);
//     ...
//   }
//
// Shrinking: the program of a seed with fewer `ops` is a prefix of the one with
// more (arguments appear in the order of first use, every unused value is a
// result), so the least failing `ops` is found by counting up; then switch off
// families that the program left does not use.
//
// Values stay tame: operands of exp, log, division are bounded first, so that
// no program overflows and f32 results are comparable to about 1e-4.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_REFERENCE_RANDOMPROGRAM_H
#define GPUCC_REFERENCE_RANDOMPROGRAM_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace gpucc {

struct RandomProgramOptions {
  int ops = 12;                                    ///< steps; some take two or three ops
  DType type = DType::F32;                         ///< of all floats
  int64_t maxElements = 2048;                      ///< of any tensor
  std::vector<int64_t> sizes = {1, 2, 3, 4, 6, 8}; ///< of dimensions
  // Families. At least one must be on.
  bool pointwise = true;
  bool reductions = true;
  bool movement = true;
  bool contractions = true; ///< contract and convolutions
  bool windows = true;      ///< pooling
  bool composites = true;
  bool integers = true; ///< compare and select, index arithmetic, gather, scatter
  bool random = true;   ///< dropout
  bool numbers = true;  ///< bf16 and f16, integers of all widths, functions that jump
  /// Only ops with derivatives everywhere near the values met (no max, abs, rounding, …).
  bool smooth = false;
  /// One more result, `loss`: the mean of all float results' squares, a scalar.
  bool loss = false;
};

/// A module with one function `main` in the form of docs/conventions.md (inputs and outputs named).
mlir::OwningOpRef<mlir::ModuleOp> buildRandomProgram(mlir::MLIRContext *context, uint64_t seed,
                                                     const RandomProgramOptions &options = {});

/// Arguments for such a function: floats uniform in [-1, 1), integers in [-2, 6).
llvm::SmallVector<HostTensor> randomArguments(mlir::func::FuncOp function, uint64_t seed);

} // namespace gpucc

#endif // GPUCC_REFERENCE_RANDOMPROGRAM_H
