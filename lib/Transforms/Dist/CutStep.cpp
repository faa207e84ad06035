//===- CutStep.cpp - a training step to forward and backward of stages ----===//
//
// Every op has a home: its stage, and forward or backward. Ops that depend on
// parameters, counters and constants only have none: they are copied to where
// they are used. A value used away from home travels:
//
//   forward s -> forward t, t > s     send, recv
//   forward s -> backward s           saved: result of forward, argument of backward
//   forward s -> backward t, t > s    to forward t first, saved there
//   backward s -> backward t, t < s   send, recv
//
// A weight used by several stages (an embedding that is also the last matrix)
// lives on each of them; each adds its own share of the gradient into its own
// accumulator, which is a partial sum over "pp" that the update reduces.
//
//===----------------------------------------------------------------------===//
#include "CutStages.h"

#include "dialects/Graph/Graph.h"
#include "gpucc/Transforms/Dist/FunctionSharding.h"

using namespace mlir;
using namespace gpucc;

std::string gpucc::argumentName(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, base::nameAttr);
  return name ? name.str() : "";
}

base::StateAttr gpucc::argumentState(func::FuncOp function, unsigned index) {
  return function.getArgAttrOfType<base::StateAttr>(index, base::stateAttr);
}

namespace {
struct Home {
  int64_t stage = 0;
  bool backward = false;
  bool operator==(const Home &) const = default;
};

class StepCutter {
public:
  StepCutter(func::FuncOp step, int64_t stages, StateOwners &owners, int64_t &channel,
             CutStatistics &statistics)
      : step(step), stages(stages), owners(owners), channel(channel), statistics(statistics) {}
  LogicalResult run();

private:
  func::FuncOp step;
  int64_t stages;
  StateOwners &owners;
  int64_t &channel;
  CutStatistics &statistics;
  int64_t nextKey = 0;
  DenseSet<Value> statics;
  DenseMap<Operation *, Home> homes;
  std::vector<StageFunction> forward, backward;
  /// Per result of the step: what each stage returns for a state that several stages hold.
  std::map<unsigned, std::map<int64_t, Value>> shares;
  DenseSet<Operation *> replaced; ///< by the shares

  bool isStatic(Value value) const { return statics.contains(value); }
  bool isCounter(Value value) const;
  Home homeOf(Value value) const { return homes.lookup(value.getDefiningOp()); }
  StageFunction &segment(Home home) {
    return home.backward ? backward[home.stage] : forward[home.stage];
  }
  void findStatics();
  LogicalResult findHomes();
  void shareAccumulations();
  bool isLinear(Operation *op) const;
  void collectSummands(Value value, SmallVectorImpl<Value> &summands,
                       SmallVectorImpl<Operation *> &path);
  FailureOr<Value> bring(Value value, Home to);
  Value save(Value value, int64_t stage);
  Value pass(Value value, Home from, Home to);
  LogicalResult place(Operation &op);
  LogicalResult placeResult(OpOperand &operand);
  LogicalResult returnState(Value value, unsigned index, BlockArgument state, Home home);
};
} // namespace

//===-- Where things are --------------------------------------------------===//

bool StepCutter::isCounter(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  auto state = argument ? argumentState(step, argument.getArgNumber()) : base::StateAttr();
  return state && state.getRole() == base::StateRole::Counter;
}

void StepCutter::findStatics() {
  for (BlockArgument argument : step.getArguments())
    if (auto state = argumentState(step, argument.getArgNumber());
        state && state.getRole() != base::StateRole::Accumulator)
      statics.insert(argument);
  for (Operation &op : step.getBody().front().without_terminator())
    if (isMemoryEffectFree(&op) &&
        llvm::all_of(op.getOperands(), [&](Value v) { return isStatic(v); }))
      for (Value result : op.getResults())
        statics.insert(result);
}

/// The stage the cutter gave the op, else: forward ops follow their last operand, backward ops
/// their first gradient.
LogicalResult StepCutter::findHomes() {
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (op.getNumResults() && isStatic(op.getResult(0)))
      continue;
    Home home;
    home.backward = stages > 1 && op.hasAttr(base::backwardAttr);
    if (auto given = op.getAttrOfType<IntegerAttr>(dist::stageAttr)) {
      home.stage = stages > 1 ? given.getInt() : 0;
    } else {
      std::optional<int64_t> gradient, activation;
      for (Value operand : op.getOperands()) {
        auto at = operand.getDefiningOp() ? homes.find(operand.getDefiningOp()) : homes.end();
        if (at == homes.end())
          continue;
        auto &found = at->second.backward ? gradient : activation;
        bool first = home.backward && at->second.backward;
        found = !found ? at->second.stage
                       : (first ? std::min(*found, at->second.stage)
                                : std::max(*found, at->second.stage));
      }
      home.stage = gradient.value_or(activation.value_or(home.backward ? stages - 1 : 0));
    }
    if (home.stage >= stages)
      return op.emitError("'dist.stage' is ")
             << home.stage << ", but the mesh has " << stages << " stages (axis \"pp\")";
    homes[&op] = home;
  }
  return success();
}

//===-- Shared weights ----------------------------------------------------===//

static bool isAdd(Operation *op) {
  auto binary = dyn_cast_or_null<graph::BinaryOp>(op);
  return binary && binary.getKind() == graph::BinaryKind::Add;
}

/// Linear in its first operand while the others are the same on every stage: a sum may be split
/// before it.
bool StepCutter::isLinear(Operation *op) const {
  if (!op || op->getNumOperands() == 0 || op->getNumResults() != 1)
    return false;
  if (!llvm::all_of(op->getOperands().drop_front(), [&](Value v) { return isStatic(v); }))
    return false;
  if (auto reduce = dyn_cast<dist::AllReduceOp>(op))
    return reduce.getCombiner() == dist::Combiner::Sum && !reduce.getChannel();
  if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op))
    return scatter.getCombiner() == dist::Combiner::Sum;
  if (isa<dist::ReshardOp, dist::AllGatherOp, dist::AllToAllOp, dist::PermuteOp>(op))
    return true;
  std::vector<bool> linear = shardingRuleOf(op).linearIn;
  return !linear.empty() && linear[0];
}

/// The values that are added up to `value`, through adds and linear ops whose results nothing else
/// uses.
void StepCutter::collectSummands(Value value, SmallVectorImpl<Value> &summands,
                                 SmallVectorImpl<Operation *> &path) {
  Operation *op = value.getDefiningOp();
  if (!value.hasOneUse() || !(isAdd(op) || isLinear(op))) {
    summands.push_back(value);
    return;
  }
  path.push_back(op);
  if (isAdd(op))
    collectSummands(op->getOperand(1), summands, path);
  collectSummands(op->getOperand(0), summands, path);
}

/// Rebuilds what `value` is made of with the summands of one stage only; null when there are none.
static Value rebuild(OpBuilder &builder, Value value, ArrayRef<Value> own,
                     ArrayRef<Operation *> path) {
  if (llvm::is_contained(own, value))
    return value;
  Operation *op = value.getDefiningOp();
  if (!llvm::is_contained(path, op))
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands().take_front(isAdd(op) ? 2 : 1))
    if (Value part = rebuild(builder, operand, own, path))
      mapping.map(operand, part);
  if (isAdd(op))
    for (unsigned i : {0, 1})
      if (!mapping.contains(op->getOperand(i)))
        return mapping.lookupOrNull(op->getOperand(1 - i));
  return mapping.contains(op->getOperand(0)) ? builder.clone(*op, mapping)->getResult(0) : Value();
}

/// Accumulators whose gradient has shares from several stages are accumulated on each.
void StepCutter::shareAccumulations() {
  Operation *terminator = step.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    auto alias = step.getResultAttrOfType<IntegerAttr>(index, base::aliasAttr);
    Operation *sum = operand.get().getDefiningOp();
    if (!alias || !isAdd(sum) || isStatic(operand.get()))
      continue;
    BlockArgument state = step.getArgument(alias.getInt());
    unsigned other = sum->getOperand(0) == state ? 1 : 0;
    if (sum->getOperand(1 - other) != state)
      continue;
    SmallVector<Value> summands;
    SmallVector<Operation *> path;
    collectSummands(sum->getOperand(other), summands, path);
    std::map<int64_t, SmallVector<Value>> perStage;
    for (Value summand : summands)
      perStage[summand.getDefiningOp() ? homeOf(summand).stage : 0].push_back(summand);
    if (perStage.size() < 2)
      continue;
    OpBuilder builder(sum);
    for (auto &[stage, own] : perStage) {
      Operation *before = sum->getPrevNode();
      Value share = rebuild(builder, sum->getOperand(other), own, path);
      IRMapping mapping;
      mapping.map(sum->getOperand(other), share);
      shares[index][stage] = builder.clone(*sum, mapping)->getResult(0);
      for (Operation *made = before->getNextNode(); made != sum; made = made->getNextNode()) {
        homes[made] = Home{stage, stages > 1};
        made->removeAttr(dist::originAttr); // one share is not what the whole program has there
        made->setAttr(dist::stageAttr, builder.getI64IntegerAttr(stage));
      }
    }
    replaced.insert(sum);
    replaced.insert(path.begin(), path.end());
    Sharding partial = dist::getSharding(state).value_or(
        Sharding::replicated(cast<RankedTensorType>(state.getType()).getRank()));
    partial.partial.push_back(dist::stageAxis.str());
    dist::setSharding(state, partial);
    step.setResultAttr(index, dist::shardingAttr,
                       dist::ShardingAttr::get(builder.getContext(), partial));
  }
}

//===-- Bringing values ---------------------------------------------------===//

Value StepCutter::save(Value value, int64_t stage) {
  int64_t key = nextKey++;
  ++statistics.saved;
  forward[stage].savedResult(value, key);
  return backward[stage].savedArgument(value, key);
}

Value StepCutter::pass(Value value, Home from, Home to) {
  int64_t number = channel++;
  ++statistics.sends;
  segment(from).sendTo(value, to.stage, number);
  return segment(to).receive(value, from.stage, number);
}

/// The value in the function of `to`; it gets there on the first call.
FailureOr<Value> StepCutter::bring(Value value, Home to) {
  StageFunction &here = segment(to);
  if (here.has(value))
    return here.at(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!to.backward || !isCounter(argument))
      return here.argument(argument);
    if (FailureOr<Value> before = bring(value, {to.stage, false}); failed(before))
      return failure();
    return save(value, to.stage); // the counter moves on before backward runs
  }
  Operation *op = value.getDefiningOp();
  if (isStatic(value)) {
    for (Value operand : op->getOperands())
      if (failed(bring(operand, to)))
        return failure();
    here.clone(op);
    return here.at(value);
  }
  Home from = homes.lookup(op);
  if (!from.backward && to.backward && from.stage <= to.stage) {
    if (failed(bring(value, {to.stage, false})))
      return failure();
    return save(value, to.stage);
  }
  if (!from.backward && to.backward) { // saved at home, then down to the stage that asks
    if (failed(bring(value, {from.stage, true})))
      return failure();
    return pass(value, {from.stage, true}, to);
  }
  bool flows =
      from.backward == to.backward && (to.backward ? from.stage > to.stage : from.stage < to.stage);
  if (flows)
    return pass(value, from, to);
  InFlightDiagnostic error =
      op->emitError("made in stage ")
      << from.stage << (from.backward ? " (backward)" : " (forward)") << ", needed in stage "
      << to.stage << (to.backward ? " (backward)" : " (forward)") << ", which runs before it";
  error.attachNote() << "activations flow to later stages and gradients to earlier ones; cut so "
                        "that every op's operands come from its own or an earlier stage";
  return error;
}

//===-- The walk ----------------------------------------------------------===//

LogicalResult StepCutter::place(Operation &op) {
  if (replaced.contains(&op) || (op.getNumResults() && isStatic(op.getResult(0))))
    return success();
  Home home = homes.lookup(&op);
  for (Value operand : op.getOperands())
    if (failed(bring(operand, home)))
      return failure();
  segment(home).clone(&op);
  return success();
}

LogicalResult StepCutter::returnState(Value value, unsigned index, BlockArgument state, Home home) {
  FailureOr<Value> here = bring(value, home);
  if (failed(here))
    return failure();
  segment(home).stateResult(*here, index, state);
  return success();
}

LogicalResult StepCutter::placeResult(OpOperand &operand) {
  unsigned index = operand.getOperandNumber();
  Value value = operand.get();
  auto alias = step.getResultAttrOfType<IntegerAttr>(index, base::aliasAttr);
  Home home = isStatic(value) ? Home{stages - 1, false} : homeOf(value);
  if (Operation *op = value.getDefiningOp(); op && isStatic(value) && stages > 1)
    if (auto given = op->getAttrOfType<IntegerAttr>(dist::stageAttr))
      home.stage = given.getInt();
  if (!alias) {
    FailureOr<Value> here = bring(value, home);
    if (failed(here))
      return failure();
    segment(home).result(*here, index);
    return success();
  }
  BlockArgument state = step.getArgument(alias.getInt());
  if (isCounter(state)) {
    for (int64_t s = 0; s < stages; ++s)
      if (failed(returnState(value, index, state, {s, false})))
        return failure();
    return success();
  }
  if (auto shared = shares.find(index); shared != shares.end()) {
    for (auto &[stage, share] : shared->second)
      if (failed(returnState(share, index, state, {stage, true})))
        return failure();
    return success();
  }
  return returnState(value, index, state, home);
}

LogicalResult StepCutter::run() {
  findStatics();
  if (failed(findHomes()))
    return failure();
  shareAccumulations();
  for (int64_t s = 0; s < stages; ++s) {
    forward.emplace_back(step, s, stages > 1 ? "forward" : "step");
    if (stages > 1)
      backward.emplace_back(step, s, "backward");
  }
  Block &body = step.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(place(op)))
      return failure();
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    if (failed(placeResult(operand)))
      return failure();
  for (auto *segments : {&forward, &backward})
    for (StageFunction &segment : *segments) {
      func::FuncOp made = segment.finish();
      for (unsigned i = 0; i < made.getNumArguments(); ++i)
        if (argumentState(made, i))
          owners[argumentName(made, i)].insert(segment.stage());
    }
  step.erase();
  return success();
}

LogicalResult gpucc::cutStep(func::FuncOp step, int64_t stages, StateOwners &owners,
                             int64_t &channel, CutStatistics &statistics) {
  return StepCutter(step, stages, owners, channel, statistics).run();
}
