//===- StageStep.h - forward and backward of a stage as one -----*- C++ -*-===//
//
// A pipeline stage has two functions, and what backward needs of forward is
// handed over by `dist.saved`. To choose what to hand over, both are joined in
// one function, where a saved value is just a value; afterwards it is split
// again, and whatever crosses then is saved.
//
//   forward(x, w) -> a saved 0, b saved 1     joined(x, w, acc):  a = exp x; b = gelu a
//   backward(a saved 0, b saved 1, acc)                           n = acc + b * a
//
//   recompute a:  joined(x, w, acc): a; b; a' = exp x; n = acc + b * a'
//   split:        forward(x, w) -> b saved 0     backward(x, b saved 0, acc): a'; n
//
// Inputs, labels and state that forward leaves alone are there in backward too,
// so they become its arguments; state that forward overwrites (counters) is saved.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_MEMORY_STAGESTEP_H
#define GPUCC_LIB_TRANSFORMS_MEMORY_STAGESTEP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace gpucc::memory {

class StageStep {
public:
  /// Makes the joined function beside the two. Its ops of backward carry base.backward, others do
  /// not.
  StageStep(mlir::func::FuncOp forward, mlir::func::FuncOp backward);

  mlir::func::FuncOp joined() const { return function; }
  /// Arguments of the joined function that forward overwrites.
  const llvm::DenseSet<mlir::Value> &overwritten() const { return overwrittenArguments; }

  /// Writes the joined function back into the two, and erases it.
  void split();
  /// Erases the joined function; the two stay as they are.
  void discard() { function.erase(); }

private:
  void join();
  mlir::Value joinArgument(mlir::func::FuncOp source, unsigned index);
  void joinResults(mlir::func::FuncOp source, const mlir::IRMapping &mapping);
  void splitBackward();
  void splitForward();
  mlir::Value bring(mlir::Value value);
  mlir::Value backwardArgument(mlir::Value joinedValue, mlir::DictionaryAttr attrs);

  mlir::func::FuncOp forward, backward, function;
  llvm::DenseSet<mlir::Value> overwrittenArguments;
  std::map<std::string, mlir::Value> arguments; ///< of the joined function, by kind and name
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs, resultAttrs;
  llvm::SmallVector<mlir::Value> results;
  size_t numForwardResults = 0;
  // While splitting:
  mlir::IRMapping toBackward;
  llvm::SmallVector<mlir::DictionaryAttr> backwardAttrs;
  llvm::SmallVector<mlir::Value> saved; ///< of the joined function, by key
};

} // namespace gpucc::memory

#endif // GPUCC_LIB_TRANSFORMS_MEMORY_STAGESTEP_H
