//===- Evaluator.h - runs a function of graph ops on the CPU ----*- C++ -*-===//
//
// The oracle: plain, slow, and the meaning that every pass, target and partition
// must keep. It is only the driver; each op evaluates itself
// (EvaluateOpInterface), weights come from a WeightSource.
//
//   FileWeights weights("/models/mlp");          // the model's folder
//   auto results = evaluateFunction(main, {x}, weights,
//       [](mlir::Operation *op, llvm::ArrayRef<HostTensor> values) { ... look ... });
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_REFERENCE_EVALUATOR_H
#define GPUCC_REFERENCE_EVALUATOR_H

#include "dialects/Graph/Graph.h"
#include "gpucc/Support/WeightFiles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {

/// Where the bytes of weights come from.
class WeightSource {
public:
  virtual ~WeightSource() = default;
  /// The whole stored tensor; a failure has emitted its error. Nobody writes to it.
  virtual mlir::FailureOr<HostTensor> read(graph::WeightDataOp data) const = 0;
};

/// Files named by the module's `graph.files`, relative to `folder`, mapped read-only.
class FileWeights : public WeightSource {
public:
  explicit FileWeights(std::string folder) : files(std::move(folder)) {}
  mlir::FailureOr<HostTensor> read(graph::WeightDataOp data) const override;

private:
  mutable WeightFiles files; // maps on first use
};

/// Tensors by key, for tests and for functions without weights.
class MapWeights : public WeightSource {
public:
  MapWeights() = default;
  explicit MapWeights(std::map<std::string, HostTensor> tensors) : tensors(std::move(tensors)) {}
  mlir::FailureOr<HostTensor> read(graph::WeightDataOp data) const override;

private:
  std::map<std::string, HostTensor> tensors;
};

/// Called after each op of the function with the op's results.
using Tap = llvm::function_ref<void(mlir::Operation *, llvm::ArrayRef<HostTensor>)>;

/// Results of one op; `operands[i]` has the type of operand i. A failure has emitted its error.
mlir::FailureOr<llvm::SmallVector<HostTensor>>
evaluateOp(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands, const WeightSource &weights);

/// Results of the function for the given arguments. Values are freed after their last use, so the
/// peak is what the function keeps alive. A failure has emitted its error.
mlir::FailureOr<llvm::SmallVector<HostTensor>>
evaluateFunction(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> arguments,
                 const WeightSource &weights, Tap tap = nullptr);

/// Of the function's results those whose size a run computes (base.varying_dim), cut to their real
/// entries, as a caller of a plan sees them. A count outside 0 … bound is an error.
mlir::LogicalResult cutToSize(mlir::func::FuncOp function,
                              llvm::MutableArrayRef<HostTensor> results);

} // namespace gpucc

#endif // GPUCC_REFERENCE_EVALUATOR_H
