//===- CodeTypes.cpp - element types that have code -----------------------===//
#include "CodeTypes.h"

#include "gpucc/Support/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace gpucc;

static bool hasCode(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<DType> dtype = tensor ? toDType(tensor.getElementType()) : std::nullopt;
  return !dtype || (*dtype != DType::F8E4M3 && *dtype != DType::F8E5M2 && *dtype != DType::I4 &&
                    *dtype != DType::U4);
}

LogicalResult gpucc::verifyCudaTypes(ModuleOp module) {
  std::string where;
  Type first;
  auto look = [&](Operation *op, Type type) {
    if (hasCode(type) || isa<func::ReturnOp>(op))
      return;
    first = first ? first : type;
    std::string name = op->getName().getStringRef().str();
    if (auto named = op->getLoc()->findInstanceOf<NameLoc>())
      name = named.getName().str();
    if (where.find(name) == std::string::npos)
      where += (where.empty() ? "" : ", ") + name;
  };
  module.walk([&](Operation *op) {
    for (Type type : op->getOperandTypes())
      look(op, type);
    for (Type type : op->getResultTypes())
      look(op, type);
  });
  if (!first)
    return success();
  return module.emitError() << "there is no CUDA code for the element type of " << first
                            << " (there is for f64, f32, f16, bf16, i1 and integers of 8 to 64 "
                               "bits; the host target has it); used by: "
                            << where;
}
