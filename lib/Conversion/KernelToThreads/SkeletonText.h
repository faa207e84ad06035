//===- SkeletonText.h - operands of device skeletons as text ----*- C++ -*-===//
//
// How a map into a view reads in the words of lib/Target/Cuda/Skeletons/operand.cuh:
//
//   (b, i, k) -> (i, k) into memref<64x784xf32>       gk_direct<float, 0, 784, 1>{$0}
//   (b, i, k) -> (b floordiv 12, i, b mod 12, k)      a struct whose base(b) divides
//   strides 3 and 5                                   gk_computed<float, true>([=](...) {...})
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_CONVERSION_KERNELTOTHREADS_SKELETONTEXT_H
#define GPUCC_LIB_CONVERSION_KERNELTOTHREADS_SKELETONTEXT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Value.h"
#include <string>

namespace gpucc::threads {

/// float, double, gk_bf16, gk_i64, ...
std::string deviceType(mlir::Type type);
/// "0.125f"
std::string floatText(double value);
/// An expression over named dimensions in C; operands are not negative.
std::string exprText(mlir::AffineExpr expr, llvm::ArrayRef<std::string> names);

/// A matrix per batch: inputs of the map are (b, ., .), of which `row` and `depth` number two.
struct MatrixOperand {
  mlir::Value view;
  mlir::AffineMap map;
  unsigned row, depth;
  int64_t rows, depths; ///< extents
  int64_t alignment;    ///< of the view, bytes
};
/// `placeholder` stands for the pointer; declarations go to `preamble` under `name`.
std::string matrixOperandText(const MatrixOperand &operand, llvm::StringRef placeholder,
                              llvm::StringRef name, std::string &preamble);
/// A function (n, c, h, w) -> float of a convolution's operand; `flat`: the view lacks h.
std::string imageOperandText(mlir::Value view, llvm::StringRef placeholder, bool flat);
/// Rows per (b, h) of attention.
std::string headsOperandText(mlir::Value view, mlir::AffineMap map, llvm::StringRef placeholder,
                             int64_t alignment);
/// score + bias(b, h, i, j)
std::string scoreText(mlir::Value bias, mlir::AffineMap map, llvm::StringRef placeholder);

} // namespace gpucc::threads

#endif // GPUCC_LIB_CONVERSION_KERNELTOTHREADS_SKELETONTEXT_H
