//===- ReductionPlan.cpp - loops, tiles and stores of a reduction kernel --===//
#include "ReductionPlan.h"

#include "gpucc/Support/Types.h"

using namespace mlir;
using namespace gpucc;

namespace {
class Planner {
public:
  Planner(KernelContext &kernel, const ClusterDomain &domain, int64_t tilePoints)
      : kernel(kernel), domain(domain), tilePoints(tilePoints),
        math(kernel.context(), domain.extents), dynamic(kernel.context()) {}

  SmallVector<ReductionStep> run();

private:
  void visit(Value value, const Index &index, unsigned step);
  bool isAtHome(Value value, const Index &index) const {
    return domain.isFull(value) && ArrayRef(domain.positions.lookup(value)) == ArrayRef(index);
  }
  bool fitsTile(Value value);
  /// Costs nothing but cheap operations on what is at hand.
  bool isCheapAgain(Value value);

  KernelContext &kernel;
  const ClusterDomain &domain;
  int64_t tilePoints, tileBytes = 0;
  IndexMath math;
  DynamicIndices dynamic;
  SmallVector<ReductionStep> steps;
  llvm::DenseMap<Value, unsigned> firstStep;
  std::set<std::pair<unsigned, std::vector<const void *>>> visited;
};
} // namespace

bool Planner::fitsTile(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  std::optional<DType> dtype = toDType(type);
  if (!dtype || *dtype == DType::I1 || bitWidth(*dtype) < 8)
    return false;
  int64_t bytes = byteSize(*dtype, tilePoints);
  return bytes <= kernel.target.tileBytes() && tileBytes + bytes <= 3 * kernel.target.tileBytes();
}

static bool isCostlyBody(Operation *op) {
  if (isa<graph::GeluOp, graph::SiluOp>(op))
    return true;
  if (auto binary = dyn_cast<graph::BinaryOp>(op))
    return binary.getKind() == graph::BinaryKind::Div || binary.getKind() == graph::BinaryKind::Pow;
  auto unary = dyn_cast<graph::UnaryOp>(op);
  return unary && !llvm::is_contained({graph::UnaryKind::Neg, graph::UnaryKind::Abs,
                                       graph::UnaryKind::Relu, graph::UnaryKind::Not},
                                      unary.getKind());
}

bool Planner::isCheapAgain(Value value) {
  auto first = firstStep.find(value);
  if (first != firstStep.end() && steps[first->second].kept.contains(value))
    return true;
  if (domain.positions.contains(value) && !domain.isFull(value))
    return true; // a value of the row
  Operation *op = value.getDefiningOp();
  if (!op)
    return cast<RankedTensorType>(value.getType()).getNumElements() == 1;
  switch (roleOf(op)) {
  case OpRole::Leaf:
    return !isa<graph::RngUniformOp>(op);
  case OpRole::Reduction:
    return true;
  case OpRole::Pointwise:
    return !isCostlyBody(op) &&
           llvm::all_of(op->getOperands(), [&](Value v) { return isCheapAgain(v); });
  case OpRole::Movement:
    return isa<graph::BroadcastOp, graph::ReshapeOp>(op) && isCheapAgain(op->getOperand(0));
  default:
    return false;
  }
}

void Planner::visit(Value value, const Index &index, unsigned step) {
  std::vector<const void *> key{value.getAsOpaquePointer()};
  for (AffineExpr e : index)
    key.push_back(e.getAsOpaquePointer());
  if (!visited.insert({step, key}).second)
    return;
  Operation *op = value.getDefiningOp();
  if (isAtHome(value, index)) {
    auto [first, isNew] = firstStep.try_emplace(value, step);
    if (!isNew && first->second < step) {
      ReductionStep &maker = steps[first->second];
      if (maker.kept.contains(value))
        return;
      if (!isCheapAgain(value) && fitsTile(value)) {
        tileBytes += byteSize(*toDType(getElementTypeOrSelf(value.getType())), tilePoints);
        maker.kept.insert(value);
        return;
      }
    }
  }
  if (!op || roleOf(op) == OpRole::Reduction || roleOf(op) == OpRole::Leaf ||
      roleOf(op) == OpRole::Window)
    return;
  for (const OperandAccess &a : accessesOf(op, index, math, dynamic))
    visit(op->getOperand(a.operand), a.index, step);
}

SmallVector<ReductionStep> Planner::run() {
  unsigned last = 0;
  for (Operation *op : domain.reductions)
    last = std::max(last, domain.depthOf(op->getResult(0)));
  steps.resize(last + 1);
  for (Operation *op : domain.reductions)
    steps[domain.depthOf(op->getResult(0)) - 1].reductions.push_back(cast<graph::ReduceOp>(op));
  for (auto [i, v] : llvm::enumerate(kernel.outputs)) {
    ReductionStep &step = steps[domain.depthOf(v)];
    (domain.isFull(v) ? step.fullOutputs : step.rowOutputs).push_back(i);
  }
  for (unsigned s = 0; s < steps.size(); ++s) {
    for (graph::ReduceOp op : steps[s].reductions)
      visit(op.getX(), domain.positions.lookup(op.getX()), s);
    for (unsigned i : steps[s].fullOutputs)
      visit(kernel.outputs[i], domain.positions.lookup(kernel.outputs[i]), s);
  }
  return std::move(steps);
}

SmallVector<ReductionStep> gpucc::planReduction(KernelContext &kernel, const ClusterDomain &domain,
                                                int64_t tilePoints) {
  return Planner(kernel, domain, tilePoints).run();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static bool isBinary(Operation *op, graph::BinaryKind kind) {
  auto binary = dyn_cast<graph::BinaryOp>(op);
  return binary && binary.getKind() == kind;
}

bool gpucc::mayIgnoreNan(graph::ReduceOp max) {
  if (max.getKind() != graph::ReductionKind::Max ||
      !isa<FloatType>(getElementTypeOrSelf(max.getType())))
    return false;
  // max → broadcast → x - max, and nothing else.
  Value shifted;
  for (Operation *spread : max->getUsers()) {
    if (!isa<graph::BroadcastOp>(spread))
      return false;
    for (Operation *user : spread->getUsers()) {
      if (!isBinary(user, graph::BinaryKind::Sub) || user->getOperand(0) != max.getX() ||
          user->getOperand(1) != spread->getResult(0) || (shifted && shifted != user->getResult(0)))
        return false;
      shifted = user->getResult(0);
    }
  }
  if (!shifted)
    return false;
  // Values that are NaN in the whole row as soon as one element is: the sum of exp(shifted) over
  // the same dimensions, and what is made of it.
  llvm::SetVector<Value> exponentials, poisoned;
  for (Operation *user : shifted.getUsers())
    if (auto unary = dyn_cast<graph::UnaryOp>(user);
        unary && unary.getKind() == graph::UnaryKind::Exp)
      exponentials.insert(unary.getResult());
  for (Value e : exponentials)
    for (Operation *user : e.getUsers())
      if (auto sum = dyn_cast<graph::ReduceOp>(user);
          sum && sum.getKind() == graph::ReductionKind::Sum && sum.getDims() == max.getDims())
        poisoned.insert(sum.getResult());
  for (unsigned i = 0; i < poisoned.size(); ++i)
    for (Operation *user : poisoned[i].getUsers()) {
      auto unary = dyn_cast<graph::UnaryOp>(user);
      if (isa<graph::BroadcastOp>(user) || (unary && unary.getKind() == graph::UnaryKind::Log))
        poisoned.insert(user->getResult(0));
    }
  // Every other use of the shifted values or their exponentials combines them with such a value.
  auto isPoisoned = [&](Operation *user) {
    return isa<graph::BinaryOp>(user) &&
           (isBinary(user, graph::BinaryKind::Sub) || isBinary(user, graph::BinaryKind::Div)) &&
           poisoned.contains(user->getOperand(1));
  };
  for (Operation *user : shifted.getUsers())
    if (!(user->getNumResults() == 1 && exponentials.contains(user->getResult(0))) &&
        !isPoisoned(user))
      return false;
  for (Value e : exponentials)
    for (Operation *user : e.getUsers())
      if (!(user->getNumResults() == 1 && poisoned.contains(user->getResult(0))) &&
          !isPoisoned(user))
        return false;
  return !exponentials.empty() && !poisoned.empty();
}
