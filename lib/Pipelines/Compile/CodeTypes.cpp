//===- CodeTypes.cpp - element types that have code -----------------------===//
#include "CodeTypes.h"

#include "dialects/Graph/Graph.h"
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

/// What of sm_80 an op needs, "" when nothing. Products of f16 are what the skeletons of matrix
/// products and attention form with mma.sync.m16n8k16 (convolutions have no such code).
static std::string needOfSm80(Operation &op) {
  auto contract = dyn_cast<graph::ContractOp>(op);
  bool product = isa<graph::ContractOp, graph::AttentionOp>(op);
  for (Type type : llvm::concat<Type>(llvm::to_vector(op.getOperandTypes()),
                                      llvm::to_vector(op.getResultTypes())))
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      if (tensor.getElementType().isBF16())
        return "values of type bf16";
      if (product && tensor.getElementType().isF16())
        return "matrix products of type f16";
    }
  return contract && contract.getPrecision() == graph::Precision::Tf32
             ? "matrix products of type tf32"
             : "";
}

LogicalResult gpucc::verifyArchitectures(ModuleOp module, const std::vector<std::string> &archs) {
  auto old = llvm::find(archs, "sm_75");
  if (old == archs.end())
    return success();
  WalkResult found = module.walk([&](Operation *op) {
    std::string need = needOfSm80(*op);
    if (need.empty())
      return WalkResult::advance();
    op->emitError() << *old << " has no " << need
                    << "; sm_80 and newer have: compile with --precision f32, or leave " << *old
                    << " out of --target";
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}
