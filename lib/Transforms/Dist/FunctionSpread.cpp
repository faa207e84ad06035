//===- FunctionSpread.cpp - one function, axis after axis -----------------===//
#include "FunctionSpread.h"

#include "dialects/Graph/Build.h"
#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc;

int FunctionSpread::add(Value value) {
  auto [at, fresh] = index.try_emplace(value, static_cast<int>(values.size()));
  if (fresh) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    int64_t rank = type ? type.getRank() : 0;
    values.push_back(value);
    shardings.push_back(Sharding::replicated(rank));
    closed.emplace_back(rank, false);
  }
  return at->second;
}

FunctionSpread::FunctionSpread(func::FuncOp function, const Mesh &mesh)
    : function(function), mesh(mesh) {
  for (BlockArgument argument : function.getArguments()) {
    add(argument);
    auto state =
        function.getArgAttrOfType<base::StateAttr>(argument.getArgNumber(), base::stateAttr);
    fromWeight.push_back(state && (state.getRole() == base::StateRole::Param ||
                                   state.getRole() == base::StateRole::Master));
  }
  for (Operation &op : function.getBody().front()) {
    if (isa<func::ReturnOp>(op))
      continue;
    ops.push_back(&op);
    rules.push_back(shardingRuleOf(&op));
    strategies.push_back(OpStrategy::replicated(rules.back()));
    bool weight = isa<graph::WeightOp>(op);
    for (Value operand : op.getOperands())
      weight |= static_cast<bool>(fromWeight[index.lookup(operand)]);
    for (Value result : op.getResults()) {
      add(result);
      fromWeight.push_back(weight);
    }
  }
}

int8_t FunctionSpread::stateOn(const Sharding &sharding, const std::string &name) {
  for (size_t d = 0; d < sharding.dims.size(); ++d)
    if (llvm::is_contained(sharding.dims[d], name))
      return static_cast<int8_t>(axis::Split + d);
  if (!llvm::is_contained(sharding.partial, name))
    return axis::Whole;
  return sharding.partialKind == ReduceKind::Sum ? axis::Partial : axis::Other;
}

//===-- Stating the problem -----------------------------------------------===//

/// The sharding that the module pins for a result; null when it pins none.
static dist::ShardingAttr pinOf(Operation *op, unsigned result) {
  if (auto constraint = dyn_cast<dist::ConstraintOp>(op))
    return constraint.getSharding();
  auto list = op->getAttrOfType<ArrayAttr>(dist::shardingAttr);
  return list ? cast<dist::ShardingAttr>(list[result]) : dist::ShardingAttr();
}

AxisProblem::Op FunctionSpread::stateOp(size_t i, const AxisOptions &options,
                                        const AxisProblem &problem) const {
  AxisProblem::Op out;
  Operation *op = ops[i];
  out.rule = &rules[i];
  int64_t parts = mesh.axisSize(options.axis);
  bool weightLeaf = isa<graph::WeightOp>(op) && options.keepWeightsWhole;
  for (size_t f = 0; f < rules[i].factors.size(); ++f)
    out.usable.push_back(!weightLeaf && isSplittable(rules[i], static_cast<int>(f)) &&
                         strategies[i].factorAxes[f].empty() &&
                         rules[i].factors[f].size % parts == 0);
  auto cost = dyn_cast<CostOpInterface>(op);
  out.backward = op->hasAttr(base::backwardAttr);
  out.work = cost ? cost.getFacts().matrixFlops : 0;
  for (const auto &axes : strategies[i].factorAxes)
    for (const std::string &axis : axes)
      out.work /= static_cast<double>(mesh.axisSize(axis));
  bool matrixWork = out.work > 0 && !out.backward;
  // A scalar spread over a tensor is made in whatever form its user wants, like a constant.
  bool spreads =
      op->getNumResults() == 1 && cast<RankedTensorType>(op->getResult(0).getType()).getRank() > 0;
  out.isStatic = !isa<dist::ConstraintOp>(op) && isMemoryEffectFree(op);
  for (Value operand : op->getOperands()) {
    int v = index.lookup(operand);
    out.operands.push_back(v);
    out.isStatic &= problem.values[v].isStatic || (spreads && problem.values[v].isScalar);
    out.weights.push_back(out.work > 0 && problem.values[v].isStatic && fromWeight[v]);
    out.mustSplit.push_back(matrixWork && problem.values[v].isStatic && fromWeight[v]);
  }
  for (auto [r, result] : llvm::enumerate(op->getResults())) {
    out.results.push_back(index.lookup(result));
    if (dist::ShardingAttr pin = pinOf(op, r)) {
      out.fixed.resize(op->getNumResults(), axis::Open);
      out.fixed[r] = stateOn(pin.toSharding(), options.axis);
    }
  }
  out.isZero = op->getNumResults() == 1 && graph::isZero(op->getResult(0));
  out.onlyFixed = isa<dist::ConstraintOp>(op);
  out.isStatic &= out.fixed.empty();
  return out;
}

AxisProblem FunctionSpread::state(const AxisOptions &options,
                                  function_ref<ArgumentFreedom(BlockArgument)> freedom) const {
  AxisProblem p;
  p.parts = mesh.axisSize(options.axis);
  p.splitWeights = options.splitWeights;
  p.splitActivations = options.splitActivations;
  p.keepSplit = options.keepSplit;
  p.width = options.beam;
  auto segment = function->getAttrOfType<StringAttr>(base::segmentAttr);
  p.training = segment && segment.getValue() == "step";
  for (size_t v = 0; v < values.size(); ++v) {
    AxisProblem::Value value;
    if (auto type = dyn_cast<RankedTensorType>(values[v].getType())) {
      auto local = shardings[v].localShape(mesh, toShape(type));
      value.bytes = static_cast<double>(type.getElementTypeBitWidth()) / 8;
      for (size_t d = 0; d < local.size(); ++d) {
        value.bytes *= static_cast<double>(local[d]);
        value.splittable.push_back((!closed[v][d] || options.axis == closer) &&
                                   shardings[v].dims[d].empty() && local[d] % p.parts == 0);
      }
      value.isScalar = type.getRank() == 0;
      value.differentiable = isa<FloatType>(type.getElementType());
    }
    if (auto argument = dyn_cast<BlockArgument>(values[v])) {
      ArgumentFreedom free = freedom(argument);
      value.state = free.state;
      value.maySplit = free.maySplit;
      value.mayBePartial = free.mayBePartial;
      value.isStatic = free.isStatic || free.state == axis::Open;
    }
    p.values.push_back(std::move(value));
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    p.ops.push_back(stateOp(i, options, p));
    for (int result : p.ops.back().results)
      p.values[result].isStatic = p.ops.back().isStatic;
  }
  func::FuncOp f = function;
  auto ret = cast<func::ReturnOp>(f.getBody().front().getTerminator());
  for (OpOperand &operand : ret->getOpOperands()) {
    auto alias = f.getResultAttrOfType<IntegerAttr>(operand.getOperandNumber(), base::aliasAttr);
    p.outputs.push_back(
        {index.lookup(operand.get()), alias ? index.lookup(f.getArgument(alias.getInt())) : -1});
  }
  return p;
}

//===-- Deciding ----------------------------------------------------------===//

static void putState(Sharding &sharding, const std::string &name, int8_t state, ReduceKind kind) {
  if (state >= axis::Split)
    sharding.dims[state - axis::Split].push_back(name);
  if (state != axis::Partial && state != axis::Other)
    return;
  sharding.partial.push_back(name);
  std::sort(sharding.partial.begin(), sharding.partial.end());
  sharding.partialKind = state == axis::Partial ? ReduceKind::Sum : kind;
}

LogicalResult FunctionSpread::decide(const AxisOptions &options,
                                     function_ref<ArgumentFreedom(BlockArgument)> freedom) {
  AxisProblem problem = state(options, freedom);
  AxisSolution solution = searchAxis(problem);
  if (!solution.error.empty()) {
    Operation *op = solution.errorOp < static_cast<int>(ops.size())
                        ? ops[solution.errorOp]
                        : function.getBody().front().getTerminator();
    InFlightDiagnostic error = op->emitError("mesh axis '")
                               << options.axis << "': " << solution.error;
    if (solution.errorOp < static_cast<int>(ops.size()))
      error.attachNote()
          << "the op's loops are " << rules[solution.errorOp].dump()
          << "; pin a sharding that splits one of the parallel or reduced ones evenly";
    return error;
  }
  bytes += solution.bytes;
  for (size_t i = 0; i < ops.size(); ++i) {
    int choice = solution.choice[i];
    if (choice >= 0)
      strategies[i].factorAxes[choice].push_back(options.axis);
    else if (choice <= -2)
      strategies[i].flows.push_back({options.axis, partialFlows(rules[i])[-2 - choice]});
  }
  DenseMap<Operation *, size_t> number;
  for (auto [i, op] : llvm::enumerate(ops))
    number[op] = i;
  for (size_t v = 0; v < values.size(); ++v) {
    ReduceKind kind = ReduceKind::Sum;
    if (Operation *op = values[v].getDefiningOp()) {
      size_t i = number[op];
      if (int choice = solution.choice[i]; choice >= 0)
        kind = rules[i].factors[choice].reduce;
    }
    putState(shardings[v], options.axis, solution.state[v], kind);
  }
  return success();
}

void FunctionSpread::forget(const std::string &name) {
  for (OpStrategy &strategy : strategies) {
    for (auto &axes : strategy.factorAxes)
      std::erase(axes, name);
    std::erase_if(strategy.flows, [&](const PartialFlow &flow) { return flow.axis == name; });
  }
  for (Sharding &sharding : shardings) {
    for (auto &axes : sharding.dims)
      std::erase(axes, name);
    std::erase(sharding.partial, name);
  }
}

void FunctionSpread::closeDimsOf(const std::string &name) {
  closer = name;
  for (size_t v = 0; v < values.size(); ++v)
    for (size_t d = 0; d < closed[v].size(); ++d)
      if (llvm::is_contained(shardings[v].dims[d], name))
        closed[v][d] = true;
}

Sharding FunctionSpread::sharding(Value value) const { return shardings[index.lookup(value)]; }

FunctionSharding FunctionSpread::result() const {
  FunctionSharding out;
  for (size_t v = 0; v < values.size(); ++v)
    out.values[values[v]] = shardings[v];
  for (size_t i = 0; i < ops.size(); ++i)
    out.strategies[ops[i]] = strategies[i];
  return out;
}
