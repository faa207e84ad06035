//===- OpInterfaces.cpp - what every graph op answers ---------------------===//
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

#include "dialects/Interfaces/OpInterfaces.cpp.inc"

SmallVector<Value> gpucc::cloneWithTypes(OpBuilder &builder, Operation *op, ValueRange operands,
                                         TypeRange resultTypes) {
  IRMapping mapping;
  Operation *copy = builder.clone(*op, mapping);
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), resultTypes))
    result.setType(type);
  return SmallVector<Value>(copy->getResults());
}
