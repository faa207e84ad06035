//===- PostOps.h - pointwise work that a library does on its result -*- C++ -*-===//
//
// Libraries apply short chains of pointwise functions to each element of a product or convolution
// before it is stored:
//
//   relu(convolution(x, w) + broadcast(b) + y)   →   bias b, add_operand y, relu
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_ANALYSIS_POSTOPS_H
#define GPUCC_ANALYSIS_POSTOPS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace gpucc {

struct PostOp {
  /// "bias", or the plan's kinds: add_operand, multiply_operand, relu, gelu_erf, gelu_tanh,
  /// sigmoid, silu, tanh, clip, linear.
  llvm::StringRef kind;
  double alpha = 0, beta = 0;
  /// bias and *_operand: a vector over the channels, or a tensor like the result.
  mlir::Value operand;
  bool perChannel = false;
};

/// What `op` does to `chain`, which is computed from the result of `library` (graph.contract or
/// graph.convolution); none when no library does that. Only the first of a chain is a bias.
std::optional<PostOp> asPostOp(mlir::Operation *op, mlir::Value chain, mlir::Operation *library);

/// The op of a library cluster whose result its other ops work on.
mlir::Operation *libraryOpOf(mlir::Operation *cluster);

} // namespace gpucc

#endif // GPUCC_ANALYSIS_POSTOPS_H
