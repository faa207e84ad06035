//===- Infer.h - helpers for inference of result types ----------*- C++ -*-===//
//
// An op's constraints are checked where its result types are inferred, so the
// parser, the verifier and every builder meet the same check. `InferContext`
// words the errors: the op, the constraint's number, what was found, and a
// note with the remedy.
//
//   InferContext c(location, getOperationName());
//   if (dim < 0 || dim >= rank)
//     return c.fail("(C1) `dim` is 5, the operand has rank 2", "give a dimension from 0 to 1");
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_INFER_H
#define GPUCC_GRAPH_INFER_H

#include "dialects/Graph/Graph.h"

namespace gpucc::graph {

class InferContext {
public:
  InferContext(std::optional<mlir::Location> location, llvm::StringRef opName)
      : location(location), opName(opName) {}

  /// Emits "'op' op message" with a note (when not empty) and returns failure.
  mlir::LogicalResult fail(const llvm::Twine &message, const llvm::Twine &remedy = "") const;

  /// Fails unless 0 <= value < rank.
  mlir::LogicalResult checkDim(llvm::StringRef constraint, llvm::StringRef attr, int64_t value,
                               int64_t rank) const;
  /// Fails unless every entry is in [0, rank) and none is repeated; with `ascending` also when the
  /// order is not.
  mlir::LogicalResult checkDims(llvm::StringRef constraint, llvm::StringRef attr,
                                llvm::ArrayRef<int64_t> values, int64_t rank, bool ascending) const;
  mlir::LogicalResult checkLength(llvm::StringRef constraint, llvm::StringRef attr,
                                  llvm::ArrayRef<int64_t> values, int64_t length) const;
  /// Fails when an entry is below `least`.
  mlir::LogicalResult checkAtLeast(llvm::StringRef constraint, llvm::StringRef attr,
                                   llvm::ArrayRef<int64_t> values, int64_t least) const;
  /// Fails unless both types are the same.
  mlir::LogicalResult checkSame(llvm::StringRef constraint, llvm::StringRef whatA, mlir::Type a,
                                llvm::StringRef whatB, mlir::Type b) const;

private:
  std::optional<mlir::Location> location;
  llvm::StringRef opName;
};

/// "[2, 3]", for messages.
std::string str(llvm::ArrayRef<int64_t> values);
/// "tensor<2xf32>", for messages.
std::string str(mlir::Type type);

inline mlir::RankedTensorType tensorOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}
inline mlir::RankedTensorType tensorOf(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  return mlir::RankedTensorType::get(shape, element);
}

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_INFER_H
