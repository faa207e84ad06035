//===- CodeTypes.cpp - element types that old devices lack ----------------===//
#include "CodeTypes.h"

#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc;

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
