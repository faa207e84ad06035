//===- CutUpdate.cpp - the optimizer update to updates of stages ----------===//
//
// What each value is, seen from the stages:
//
//   Shared      every stage can compute it (counters, learning rate)
//   Local {s…}  only stages that hold the state it comes from
//   Summed      each stage has a summand (the squared norm over all parameters)
//
//   norm² = |g0|² + |g1|²      g0 on stage 0, g1 on stage 1
//     stage 0: n0 = |g0|²      stage 1: n1 = |g1|²       Summed
//     sqrt needs it whole:     n = all_reduce sum over "pp"; sqrt n is Shared
//
// A scalar that one stage has and others need (the count of labels) is summed
// likewise, with zeros from the others.
//
//===----------------------------------------------------------------------===//
#include "CutStages.h"

#include "dialects/Graph/Build.h"
#include "gpucc/Transforms/Dist/FunctionSharding.h"

using namespace mlir;
using namespace gpucc;

namespace {
struct Knowledge {
  enum Kind { Shared, Local, Summed } kind = Shared;
  std::set<int64_t> stages; ///< Local: who has it; Summed: who has a summand
};

class UpdateCutter {
public:
  UpdateCutter(func::FuncOp update, dist::MeshOp mesh, int64_t stages, const StateOwners &owners,
               int64_t &channel, CutStatistics &statistics)
      : update(update), mesh(mesh), stages(stages), owners(owners), channel(channel),
        statistics(statistics) {}
  LogicalResult run();

private:
  func::FuncOp update;
  dist::MeshOp mesh;
  int64_t stages;
  const StateOwners &owners;
  int64_t &channel;
  CutStatistics &statistics;
  DenseMap<Value, Knowledge> known;
  std::vector<StageFunction> segments;

  std::set<int64_t> ownersOf(unsigned argument) const;
  void placeArgument(BlockArgument argument);
  /// What an op's operands are, together.
  struct Operands {
    std::set<int64_t> common, united; ///< stages of those that are not shared
    bool anyShared = false, anyLocal = false, summed = false;
  };
  Operands lookAt(Operation &op) const;
  LogicalResult shareForTensors(Operation &op);
  FailureOr<Knowledge> decide(Operation &op);
  LogicalResult place(Operation &op);
  LogicalResult placeResult(OpOperand &operand);
  LogicalResult makeShared(Value value, Operation *user);
  void sumOver(Value value, const std::set<int64_t> &members);
  Value zero(StageFunction &segment, Value like);
  bool has(Value value, int64_t stage) const {
    const Knowledge &k = known.find(value)->second;
    return k.kind == Knowledge::Shared || k.stages.count(stage);
  }
};
} // namespace

//===-- Arguments ---------------------------------------------------------===//

/// Moments and masters live with their parameter; state that the step does not use lives on the
/// last stage; counters everywhere.
std::set<int64_t> UpdateCutter::ownersOf(unsigned argument) const {
  base::StateAttr state = argumentState(update, argument);
  std::set<int64_t> all;
  for (int64_t s = 0; s < stages; ++s)
    all.insert(s);
  if (!state || state.getRole() == base::StateRole::Counter)
    return all;
  for (const std::string &name : {argumentName(update, argument), state.getOf().str()})
    if (auto at = owners.find(name); at != owners.end())
      return at->second;
  return {stages - 1};
}

void UpdateCutter::placeArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  std::set<int64_t> who = ownersOf(index);
  base::StateAttr state = argumentState(update, index);
  bool everywhere = static_cast<int64_t>(who.size()) == stages &&
                    (stages == 1 || !state || state.getRole() == base::StateRole::Counter);
  known[argument] = {everywhere ? Knowledge::Shared : Knowledge::Local, who};
  if (argument.use_empty())
    return;
  bool shares = state && state.getRole() == base::StateRole::Accumulator && who.size() > 1 &&
                !state.getOf().empty();
  if (shares) { // the step left a partial sum over the stages
    Sharding partial = *dist::getSharding(argument);
    if (!llvm::is_contained(partial.partial, dist::stageAxis.str()))
      partial.partial.push_back(dist::stageAxis.str());
    dist::setSharding(argument, partial);
  }
  for (int64_t s : who)
    segments[s].argument(argument);
  if (shares)
    sumOver(argument, who);
  // The loss and the number of labels: one stage has them, all need them.
  auto type = cast<RankedTensorType>(argument.getType());
  if (!everywhere && !shares && type.getRank() == 0) {
    std::set<int64_t> all;
    for (int64_t s = 0; s < stages; ++s)
      all.insert(s);
    sumOver(argument, all);
    known[argument] = {Knowledge::Shared, {}};
  }
}

//===-- Summing over stages -----------------------------------------------===//

Value UpdateCutter::zero(StageFunction &segment, Value like) {
  graph::GraphBuilder g(segment.builder(), like.getLoc());
  Value value = g.like(like, 0);
  if (auto sharding = dist::getSharding(like))
    dist::setSharding(value, *sharding);
  return value;
}

/// One all-reduce over "pp" among `members`; each of them has the sum afterwards.
void UpdateCutter::sumOver(Value value, const std::set<int64_t> &members) {
  int64_t number = channel++;
  ++statistics.stageReductions;
  Knowledge &k = known[value];
  Sharding after = dist::getSharding(value).value_or(
      Sharding::replicated(cast<RankedTensorType>(value.getType()).getRank()));
  std::erase(after.partial, dist::stageAxis.str());
  SmallVector<int64_t> list(members.begin(), members.end());
  bool all = static_cast<int64_t>(members.size()) == stages;
  for (int64_t s : members) {
    StageFunction &segment = segments[s];
    OpBuilder &builder = segment.builder();
    bool gives = k.stages.count(s) && (k.kind == Knowledge::Summed || isa<BlockArgument>(value) ||
                                       s == *k.stages.begin());
    Value own = gives && segment.has(value) ? segment.at(value) : zero(segment, value);
    auto reduce = dist::AllReduceOp::create(
        builder, value.getLoc(), value.getType(), dist::Combiner::Sum, own, mesh.getSymName(),
        builder.getStrArrayAttr({dist::stageAxis}), builder.getI64IntegerAttr(number),
        all ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(list));
    dist::setSharding(reduce.getResult(), after);
    segment.put(value, reduce.getResult());
  }
  if (all && !isa<BlockArgument>(value))
    k = {Knowledge::Shared, {}};
}

/// Scalars, and tensors that are a scalar spread out.
static bool travels(Value value) {
  auto isScalar = [](Value v) { return cast<RankedTensorType>(v.getType()).getRank() == 0; };
  Operation *op = value.getDefiningOp();
  return isScalar(value) ||
         (op && op->getNumResults() == 1 && llvm::all_of(op->getOperands(), isScalar));
}

LogicalResult UpdateCutter::makeShared(Value value, Operation *user) {
  Knowledge &k = known[value];
  if (k.kind == Knowledge::Shared)
    return success();
  auto type = cast<RankedTensorType>(value.getType());
  std::set<int64_t> all;
  for (int64_t s = 0; s < stages; ++s)
    all.insert(s);
  if (Operation *op = value.getDefiningOp();
      k.kind == Knowledge::Local && type.getRank() > 0 && travels(value)) {
    // A scalar spread over a tensor: the scalar travels, every stage spreads it.
    for (Value operand : op->getOperands())
      if (failed(makeShared(operand, user)))
        return failure();
    for (StageFunction &segment : segments)
      segment.clone(op);
    known[value] = {Knowledge::Shared, {}};
    return success();
  }
  if (k.kind == Knowledge::Local && type.getRank() > 0) {
    InFlightDiagnostic error = user->emitError("needs tensors that different stages hold");
    error.attachNote(value.getLoc())
        << "this one of type " << type << " is on stage " << *k.stages.begin()
        << "; in an update only scalars travel between stages, so keep "
           "the parameters that it joins on one stage";
    return error;
  }
  bool argument = isa<BlockArgument>(value);
  sumOver(value, all);
  if (argument) // a scalar accumulator: zeros elsewhere, so the sum is the value
    known[value] = {Knowledge::Shared, {}};
  return success();
}

//===-- The walk ----------------------------------------------------------===//

UpdateCutter::Operands UpdateCutter::lookAt(Operation &op) const {
  Operands seen;
  bool first = true;
  for (Value operand : op.getOperands()) {
    const Knowledge &k = known.find(operand)->second;
    seen.anyShared |= k.kind == Knowledge::Shared;
    seen.summed |= k.kind == Knowledge::Summed;
    if (k.kind == Knowledge::Shared)
      continue;
    seen.anyLocal = true;
    seen.united.insert(k.stages.begin(), k.stages.end());
    std::set<int64_t> both;
    for (int64_t s : k.stages)
      if (first || seen.common.count(s))
        both.insert(s);
    seen.common = both;
    first = false;
  }
  return seen;
}

/// A scalar that only some of the stages have that hold the op's tensors goes to all of them.
LogicalResult UpdateCutter::shareForTensors(Operation &op) {
  std::set<int64_t> holders;
  for (Value operand : op.getOperands())
    if (const Knowledge &k = known.find(operand)->second;
        k.kind == Knowledge::Local && !travels(operand))
      holders.insert(k.stages.begin(), k.stages.end());
  for (Value operand : op.getOperands()) {
    const Knowledge &k = known.find(operand)->second;
    bool lacks = k.kind == Knowledge::Local && travels(operand) &&
                 llvm::any_of(holders, [&](int64_t s) { return !k.stages.count(s); });
    if (lacks && failed(makeShared(operand, &op)))
      return failure();
  }
  return success();
}

/// What the result is; operands that must travel for that do.
FailureOr<Knowledge> UpdateCutter::decide(Operation &op) {
  if (failed(shareForTensors(op)))
    return failure();
  Operands seen = lookAt(op);
  if (!seen.anyLocal)
    return Knowledge();
  if (!seen.summed && !seen.common.empty())
    return Knowledge{Knowledge::Local, seen.common};
  ShardingRule rule = shardingRuleOf(&op);
  // A reshard of a sum is the sum of reshards.
  if (isa<dist::ReshardOp>(op) ||
      (!seen.anyShared && rule.linearTogether == std::vector<bool>(op.getNumOperands(), true)))
    return Knowledge{Knowledge::Summed, seen.united};
  for (Value operand : op.getOperands())
    if (travels(operand) && failed(makeShared(operand, &op)))
      return failure();
  seen = lookAt(op);
  if (seen.anyLocal && !seen.summed && !seen.common.empty())
    return Knowledge{Knowledge::Local, seen.common};
  for (Value operand : op.getOperands())
    if (failed(makeShared(operand, &op)))
      return failure();
  return Knowledge();
}

LogicalResult UpdateCutter::place(Operation &op) {
  FailureOr<Knowledge> decided = decide(op);
  if (failed(decided))
    return failure();
  const Knowledge &result = *decided;
  for (StageFunction &segment : segments) {
    int64_t s = segment.stage();
    if (result.kind != Knowledge::Shared && !result.stages.count(s))
      continue;
    IRMapping local;
    for (Value operand : op.getOperands()) {
      const Knowledge &k = known.find(operand)->second;
      // In a sum a value that several stages hold counts once.
      bool counts =
          result.kind != Knowledge::Summed || k.kind == Knowledge::Summed || s == *k.stages.begin();
      bool present = has(operand, s) && counts && segment.has(operand);
      local.map(operand, present ? segment.at(operand) : zero(segment, operand));
    }
    Operation *copy = segment.builder().clone(op, local);
    copy->setAttr(dist::stageAttr, segment.builder().getI64IntegerAttr(s));
    if (result.kind == Knowledge::Summed)
      copy->removeAttr(dist::originAttr);
    for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults()))
      segment.put(from, to);
  }
  for (Value value : op.getResults())
    known[value] = result;
  return success();
}

LogicalResult UpdateCutter::placeResult(OpOperand &operand) {
  unsigned index = operand.getOperandNumber();
  Value value = operand.get();
  auto alias = update.getResultAttrOfType<IntegerAttr>(index, base::aliasAttr);
  if (!alias) { // every stage reports every metric
    if (failed(makeShared(value, operand.getOwner())))
      return failure();
    for (StageFunction &segment : segments)
      segment.result(segment.at(value), index);
    return success();
  }
  BlockArgument state = update.getArgument(alias.getInt());
  if (auto sharding = dist::getSharding(state))
    update.setResultAttr(index, dist::shardingAttr,
                         dist::ShardingAttr::get(update.getContext(), *sharding));
  if (known[value].kind == Knowledge::Summed && failed(makeShared(value, operand.getOwner())))
    return failure();
  for (int64_t s : ownersOf(state.getArgNumber())) {
    if (!has(value, s))
      return operand.getOwner()->emitError("result ")
             << index << " overwrites '" << argumentName(update, state.getArgNumber())
             << "' on stage " << s << ", where it is not computed";
    segments[s].stateResult(segments[s].at(value), index, state);
  }
  return success();
}

LogicalResult UpdateCutter::run() {
  for (int64_t s = 0; s < stages; ++s)
    segments.emplace_back(update, s, "update");
  for (BlockArgument argument : update.getArguments())
    placeArgument(argument);
  Block &body = update.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(place(op)))
      return failure();
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    if (failed(placeResult(operand)))
      return failure();
  for (StageFunction &segment : segments)
    segment.finish();
  update.erase();
  return success();
}

LogicalResult gpucc::cutUpdate(func::FuncOp update, dist::MeshOp mesh, int64_t stages,
                               const StateOwners &owners, int64_t &channel,
                               CutStatistics &statistics) {
  return UpdateCutter(update, mesh, stages, owners, channel, statistics).run();
}
