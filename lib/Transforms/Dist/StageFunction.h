//===- StageFunction.h - a function of one stage, built op by op -*- C++ -*-=//
//
// Cutting walks the source function once and appends to the functions of all
// stages side by side. Arguments and results appear when they are needed.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_DIST_STAGEFUNCTION_H
#define GPUCC_LIB_TRANSFORMS_DIST_STAGEFUNCTION_H

#include "dialects/Base/Base.h"
#include "dialects/Dist/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace gpucc {

class StageFunction {
public:
  /// An empty function `stage<s>_<segment>` before `source`.
  StageFunction(mlir::func::FuncOp source, int64_t stage, llvm::StringRef segment);

  int64_t stage() const { return stageNumber; }
  bool has(mlir::Value value) const { return mapping.contains(value); }
  mlir::Value at(mlir::Value value) const { return mapping.lookup(value); }
  void put(mlir::Value value, mlir::Value here) { mapping.map(value, here); }

  /// The source's argument as an argument here.
  mlir::Value argument(mlir::BlockArgument argument);
  unsigned argumentIndex(mlir::BlockArgument argument);
  /// A value that forward saved under `key`.
  mlir::Value savedArgument(mlir::Value value, int64_t key);
  /// Copies an op; its operands are here already.
  mlir::Operation *clone(mlir::Operation *op);
  void sendTo(mlir::Value value, int64_t stage, int64_t channel);
  mlir::Value receive(mlir::Value value, int64_t stage, int64_t channel);

  /// A result with the attributes of the source's result `index`.
  void result(mlir::Value value, unsigned index);
  void savedResult(mlir::Value value, int64_t key);
  void stateResult(mlir::Value value, unsigned index, mlir::BlockArgument state);

  mlir::OpBuilder &builder() { return opBuilder; }
  mlir::func::FuncOp function() { return target; }
  bool isEmpty() { return target.getBody().front().empty() && results.empty(); }
  /// Ends the function: unused pure ops are dropped, types and attributes are set.
  mlir::func::FuncOp finish();

private:
  mlir::func::FuncOp source, target;
  int64_t stageNumber;
  mlir::OpBuilder opBuilder;
  mlir::IRMapping mapping;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs, resultAttrs;
  llvm::SmallVector<mlir::Value> results;
  llvm::DenseMap<unsigned, unsigned> indices; ///< source argument to own argument

  mlir::Value addArgument(mlir::Type type, mlir::Location loc, mlir::DictionaryAttr attrs);
};

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_DIST_STAGEFUNCTION_H
