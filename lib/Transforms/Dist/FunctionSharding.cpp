//===- FunctionSharding.cpp - shardings of a whole function ---------------===//
#include "gpucc/Transforms/Dist/FunctionSharding.h"

#include "dialects/Base/Base.h"
#include "dialects/Graph/Build.h"
#include "gpucc/Transforms/Dist/Reshard.h"

using namespace mlir;
using namespace gpucc;

ShardingRule gpucc::shardingRuleOf(Operation *op) {
  if (auto rules = dyn_cast<ShardingRuleOpInterface>(op))
    return rules.getShardingRule();
  ShardingRule rule;
  auto whole = [&](Value value, std::vector<ShardingRule::Tensor> &tensors) {
    auto &dims = tensors.emplace_back();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    for (int64_t size : type ? type.getShape() : ArrayRef<int64_t>()) {
      dims.push_back({static_cast<int>(rule.factors.size())});
      bool same = isa<dist::ConstraintOp>(op);
      rule.factors.push_back({size, same ? FactorKind::Parallel : FactorKind::Replicated});
    }
  };
  for (Value operand : op->getOperands())
    whole(operand, rule.operands);
  if (isa<dist::ConstraintOp>(op)) { // the same tensor: the same loops
    rule.results = rule.operands;
    rule.linearIn = {true};
    return rule;
  }
  for (Value result : op->getResults())
    whole(result, rule.results);
  return rule;
}

//===-- Writing -----------------------------------------------------------===//

namespace {
class Writer {
public:
  Writer(func::FuncOp function, dist::MeshOp mesh, const FunctionSharding &sharding)
      : function(function), mesh(mesh.getMesh().toMesh()),
        meshName(FlatSymbolRefAttr::get(mesh.getSymNameAttr())), sharding(sharding) {}

  int64_t run();

private:
  func::FuncOp function;
  Mesh mesh;
  FlatSymbolRefAttr meshName;
  const FunctionSharding &sharding;
  /// Per value: what it was resharded to already.
  DenseMap<Value, SmallVector<std::pair<Sharding, Value>>> copies;
  DenseMap<Value, Sharding> forms; ///< of reshards written so far
  int64_t count = 0;

  Sharding of(Value value) const {
    for (const auto *known : {&sharding.values, &forms})
      if (auto at = known->find(value); at != known->end())
        return at->second;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return Sharding::replicated(type ? type.getRank() : 0);
  }
  Value inForm(Value value, const Sharding &to, Operation *user);
  void writeOp(Operation &op);
  void writeReturn(func::ReturnOp op);
};
} // namespace

static bool isBackward(Operation *op) { return op && op->hasAttr(base::backwardAttr); }

/// A splat constant is made anew in the form that is wanted; null for other values. (So the rules
/// of ops that look for a constant zero still see it.)
static Value remake(Value value, const Sharding &to, Operation *user) {
  OpBuilder builder(user);
  graph::GraphBuilder g(builder, value.getLoc());
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (graph::isZero(value))
    return g.like(value, 0);
  if (!elements || !elements.isSplat() || !to.partial.empty())
    return {};
  return graph::ConstantOp::create(builder, value.getLoc(), elements);
}

/// `value` under the sharding `to` before `user`: an earlier copy, or a reshard of the form that
/// sends least.
Value Writer::inForm(Value value, const Sharding &to, Operation *user) {
  auto type = cast<RankedTensorType>(value.getType());
  Sharding native = of(value);
  if (native == to)
    return value;
  auto bits = static_cast<double>(type.getElementTypeBitWidth());
  auto bytes = [&](const Sharding &from) {
    return reshardBytes(mesh, toShape(type), bits / 8, from, to);
  };
  Value source = value;
  Sharding from = native;
  double direct = bytes(native), best = direct;
  for (auto &[form, copy] : copies[value]) {
    bool again = sharding.gatherAgain && isBackward(user) && !isBackward(copy.getDefiningOp()) &&
                 native.partial.empty();
    if (form == to && !(again && direct > 0))
      return copy;
    if (!again && bytes(form) < best) {
      best = bytes(form);
      source = copy;
      from = form;
    }
  }
  OpBuilder builder(user);
  Value made = remake(value, to, user);
  if (!made) {
    ++count;
    made = dist::ReshardOp::create(builder, value.getLoc(), source, meshName,
                                   dist::ShardingAttr::get(builder.getContext(), from),
                                   dist::ShardingAttr::get(builder.getContext(), to));
  }
  Operation *reshard = made.getDefiningOp();
  if (isBackward(user))
    reshard->setAttr(base::backwardAttr, builder.getUnitAttr());
  Operation *home = value.getDefiningOp();
  for (Operation *op : {home && !from.partial.empty() ? home : user, user, home})
    if (op && op->hasAttr(dist::stageAttr)) {
      reshard->setAttr(dist::stageAttr, op->getAttr(dist::stageAttr));
      break;
    }
  dist::setSharding(made, to);
  copies[value].push_back({to, made});
  forms[made] = to;
  return made;
}

void Writer::writeOp(Operation &op) {
  auto at = sharding.strategies.find(&op);
  ShardingRule rule = shardingRuleOf(&op);
  OpStrategy strategy = at == sharding.strategies.end() ? OpStrategy::replicated(rule) : at->second;
  if (auto constraint = dyn_cast<dist::ConstraintOp>(op)) {
    Value pinned = inForm(constraint.getX(), constraint.getSharding().toSharding(), &op);
    constraint.getResult().replaceAllUsesWith(pinned);
    return;
  }
  for (OpOperand &operand : op.getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      operand.set(
          inForm(operand.get(), operandSharding(rule, strategy, operand.getOperandNumber()), &op));
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()))
      dist::setSharding(result, of(result));
}

void Writer::writeReturn(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    Sharding to = of(operand.get());
    to.partial.clear();
    if (auto alias = function.getResultAttrOfType<IntegerAttr>(index, base::aliasAttr))
      to = of(function.getArgument(alias.getInt()));
    operand.set(inForm(operand.get(), to, op));
    function.setResultAttr(index, dist::shardingAttr, dist::ShardingAttr::get(op.getContext(), to));
  }
}

int64_t Writer::run() {
  for (BlockArgument argument : function.getArguments())
    dist::setSharding(argument, of(argument));
  SmallVector<Operation *> constraints;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (auto ret = dyn_cast<func::ReturnOp>(op))
      writeReturn(ret);
    else
      writeOp(op);
    if (isa<dist::ConstraintOp>(op))
      constraints.push_back(&op);
  }
  for (Operation *op : llvm::reverse(constraints))
    op->erase();
  return count;
}

int64_t gpucc::writeShardings(func::FuncOp function, dist::MeshOp mesh,
                              const FunctionSharding &sharding) {
  return Writer(function, mesh, sharding).run();
}

//===-- Checking ----------------------------------------------------------===//

static bool isZeroConstant(Operation *op) {
  Attribute value;
  return op->getNumOperands() == 0 && op->getNumResults() == 1 &&
         op->hasTrait<OpTrait::ConstantLike>() && (value = op->getAttr("value")) &&
         isa<DenseElementsAttr>(value) && cast<DenseElementsAttr>(value).isSplat() &&
         (isa<FloatType>(cast<DenseElementsAttr>(value).getElementType())
              ? cast<DenseElementsAttr>(value).getSplatValue<APFloat>().isZero()
              : cast<DenseElementsAttr>(value).getSplatValue<APInt>().isZero());
}

static LogicalResult verifyOp(Operation &op, const Mesh &mesh) {
  if (op.getNumResults() == 0 ||
      isa<dist::RecvOp, dist::AxisIndexOp, dist::CollectiveOpInterface>(op))
    return success();
  std::vector<Sharding> operands, results;
  auto collect = [&](auto values, std::vector<Sharding> &out) {
    for (Value value : values) {
      auto sharding = dist::getSharding(value);
      if (!sharding)
        return false;
      std::erase(sharding->partial, dist::stageAxis.str()); // a stage sees only its own share
      out.push_back(*sharding);
    }
    return true;
  };
  if (!collect(op.getOperands(), operands) || !collect(op.getResults(), results)) {
    InFlightDiagnostic error = op.emitError("no sharding on this op or what it reads");
    error.attachNote() << "gpucc-propagate puts 'dist.sharding' on every op and argument; run it "
                          "before gpucc-partition";
    return error;
  }
  if (auto reshard = dyn_cast<dist::ReshardOp>(op)) {
    if (operands[0] == reshard.getFrom().toSharding() && results[0] == reshard.getTo().toSharding())
      return success();
    return op.emitError("the reshard goes from ")
           << reshard.getFrom() << " to " << reshard.getTo() << ", but its operand lies as "
           << operands[0].dump() << " and its result as " << results[0].dump();
  }
  if (isZeroConstant(&op)) // zero is its own partial sum
    results[0].partial.clear();
  std::string why;
  ShardingRule rule = shardingRuleOf(&op);
  if (inferStrategy(rule, mesh, operands, results, why))
    return success();
  InFlightDiagnostic error = op.emitError("these shardings do not fit the op: ") << why;
  for (auto [i, s] : llvm::enumerate(operands))
    error.attachNote() << "operand " << i << " lies as " << s.dump();
  error.attachNote() << "its loops are " << rule.dump()
                     << "; put a dist.reshard between, or pin shardings that follow the loops";
  return error;
}

LogicalResult gpucc::verifyShardings(func::FuncOp function, const Mesh &mesh) {
  bool failedOnce = false;
  for (Operation &op : function.getBody().front())
    failedOnce |= failed(verifyOp(op, mesh));
  return failure(failedOnce);
}
