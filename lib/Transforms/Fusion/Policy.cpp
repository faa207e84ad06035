//===- Policy.cpp - what a target fuses -----------------------------------===//
#include "lib/Transforms/Fusion/Policy.h"

#include "dialects/Graph/Graph.h"
#include "gpucc/Support/Types.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

int64_t fusion::elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

int64_t fusion::bytesOf(Value value) {
  std::optional<DType> type = toDType(getElementTypeOrSelf(value.getType()));
  return type ? byteSize(*type, elementsOf(value)) : 0;
}

bool fusion::isCostly(Operation *op) {
  if (auto unary = dyn_cast<graph::UnaryOp>(op)) {
    switch (unary.getKind()) {
    case graph::UnaryKind::Neg:
    case graph::UnaryKind::Abs:
    case graph::UnaryKind::Sign:
    case graph::UnaryKind::Relu:
    case graph::UnaryKind::Not:
    case graph::UnaryKind::IsNan:
    case graph::UnaryKind::IsInf:
    case graph::UnaryKind::Floor:
    case graph::UnaryKind::Ceil:
    case graph::UnaryKind::RoundEven:
      return false;
    default:
      return true;
    }
  }
  if (auto binary = dyn_cast<graph::BinaryOp>(op))
    return llvm::is_contained({graph::BinaryKind::Div, graph::BinaryKind::Pow,
                               graph::BinaryKind::Rem, graph::BinaryKind::Mod},
                              binary.getKind());
  return isa<graph::GeluOp, graph::SiluOp, graph::RngUniformOp>(op);
}

bool fusion::movesLastDim(Operation *op) {
  auto transpose = dyn_cast<graph::TransposeOp>(op);
  if (!transpose)
    return false;
  // Dimensions of size 1 do not count.
  ArrayRef<int64_t> shape = shapeOf(transpose.getX()), permutation = transpose.getPermutation();
  auto isOne = [&](int64_t d) { return shape[d] == 1; };
  int64_t lastResult = -1, last = -1;
  for (int64_t p : permutation)
    if (!isOne(p))
      lastResult = p;
  for (int64_t d = 0, e = shape.size(); d != e; ++d)
    if (!isOne(d))
      last = d;
  return last != lastResult;
}

std::optional<Policy> Policy::get(StringRef target) {
  Policy policy;
  policy.cuda = target.starts_with("cuda");
  if (!policy.cuda && !target.starts_with("host"))
    return std::nullopt;
  return policy;
}

bool Policy::isLibraryCall(Operation *op) const {
  if (cuda)
    return false;
  if (!isa<graph::ContractOp, graph::ConvolutionOp, graph::ConvolutionInputGradOp,
           graph::ConvolutionFilterGradOp>(op))
    return false;
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  return element.isF32() || element.isBF16();
}

bool Policy::isCheapToCopy(Operation *op) const {
  if (isa<graph::ReshapeOp>(op))
    return true;
  if (auto broadcast = dyn_cast<graph::BroadcastOp>(op))
    return true;
  OpRole role = roleOf(op);
  return (role == OpRole::Pointwise || role == OpRole::Movement) && !isCostly(op) &&
         elementsOf(op->getResult(0)) <= 16;
}

std::string Policy::refuse(ArrayRef<Operation *> ops, ArrayRef<Value> outputs,
                           const ClusterDomain &domain) const {
  if (ops.size() > maxOps)
    return "the cluster would hold more than " + std::to_string(maxOps) + " ops";
  llvm::SetVector<Value> views;
  llvm::DenseSet<Operation *> members(ops.begin(), ops.end());
  for (Operation *op : ops)
    for (Value v : op->getOperands())
      if (!v.getDefiningOp() ||
          (!members.contains(v.getDefiningOp()) && roleOf(v.getDefiningOp()) != OpRole::Leaf))
        views.insert(v);
  if (views.size() + outputs.size() > maxViews)
    return "the kernel would have more than " + std::to_string(maxViews) + " operands and results";

  int64_t points = domain.keptPoints() * domain.reducedPoints();
  if (!domain.reductions.empty()) {
    bool lastReduced = domain.reduced.back();
    // Columns run 32 at a time in one program.
    int64_t programs = lastReduced ? domain.keptPoints() : domain.keptPoints() / 32;
    bool fullOutput = llvm::any_of(outputs, [&](Value v) { return domain.isFull(v); });
    if (fullOutput && programs < minPrograms && points > smallWork)
      return "its reduction has only " + std::to_string(programs) +
             " programs, too few for the work behind it";
    for (Operation *op : ops)
      if (movesLastDim(op))
        return "a transpose of the contiguous dimension does not suit a reduction's loops";
    return "";
  }
  // Without reductions: a costly op on few elements would run again at many points.
  for (Operation *op : ops)
    if (isCostly(op) && elementsOf(op->getResult(0)) * 8 < points)
      return "a costly op on " + std::to_string(elementsOf(op->getResult(0))) +
             " elements would run at " + std::to_string(points) + " points";
  return "";
}
