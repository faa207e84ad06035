//===- ExtractProblem.cpp - from graph functions to a PlanProblem ---------===//
#include "gpucc/Transforms/Planning/ExtractProblem.h"

#include "MergeOps.h"
#include "SplitDims.h"
#include "dialects/Base/Base.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Support/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::planner;

//===-- What the functions say --------------------------------------------===//

static StringRef textAttr(func::FuncOp f, unsigned argument, StringRef attr) {
  auto text = f.getArgAttrOfType<StringAttr>(argument, attr);
  return text ? text.getValue() : StringRef();
}

static base::StateAttr stateOf(func::FuncOp f, unsigned argument) {
  return f.getArgAttrOfType<base::StateAttr>(argument, base::stateAttr);
}

static bool isSegment(func::FuncOp f, StringRef segment) {
  auto attr = f->getAttrOfType<StringAttr>(base::segmentAttr);
  return attr && attr.getValue() == segment;
}

/// The first function of a kind: @step or @main, @update.
static func::FuncOp firstFunction(ModuleOp module, bool update) {
  for (func::FuncOp f : module.getOps<func::FuncOp>())
    if (!f.isExternal() && isSegment(f, "update") == update)
      return f;
  return {};
}

/// Name of dimension `d` of an input in the model, "" when it is a number.
static StringRef dimName(func::FuncOp f, unsigned argument, unsigned d) {
  auto dims = f.getArgAttrOfType<ArrayAttr>(argument, base::dimsAttr);
  return dims && d < dims.size() ? cast<StringAttr>(dims[d]).getValue() : StringRef();
}

static bool isInput(func::FuncOp f, unsigned argument) {
  StringRef kind = textAttr(f, argument, base::kindAttr);
  return kind == "input" || kind == "label";
}

bool gpucc::hasSymbolicBatch(ModuleOp module) {
  func::FuncOp f = firstFunction(module, false);
  for (unsigned i = 0; f && i < f.getNumArguments(); ++i)
    if (isInput(f, i) && !dimName(f, i, 0).empty())
      return true;
  return false;
}

static double bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<DType> element = tensor ? toDType(tensor.getElementType()) : std::nullopt;
  return element ? static_cast<double>(byteSize(*element, tensor.getNumElements())) : 0;
}

/// "fc1 (Gemm)" and the op's kind: what a person calls the op.
static std::string nameOf(Operation *op) {
  Location at = op->getLoc();
  if (auto fused = dyn_cast<FusedLoc>(at); fused && !fused.getLocations().empty())
    at = fused.getLocations().front();
  std::string kind = op->getName().stripDialect().str();
  auto name = dyn_cast<NameLoc>(at);
  return name ? kind + " " + name.getName().str() : kind;
}

namespace {

class Extraction {
public:
  explicit Extraction(ModuleOp module)
      : module(module), step(firstFunction(module, false)), update(firstFunction(module, true)) {}

  FailureOr<PlanProblem> run() {
    if (!step)
      return module.emitError("there is no function to plan: found neither @step nor @main");
    addArguments();
    for (Operation &op : step.getBody().front().without_terminator())
      addOp(op);
    addUpdates();
    if (p.ops.empty())
      return step.emitError(
          "nothing here depends on an input or a weight: there is nothing to plan");
    p.numSegments = 1;
    fillSegments();
    spreadDims(p, &PlanTensor::batchDim, p.batch);
    spreadDims(p, &PlanTensor::sequenceDim, 1);
    mergeOps(p, kinds);
    markAttention(p);
    if (std::string wrong = p.check(); !wrong.empty())
      return step.emitError("the planning problem is not consistent: ") << wrong;
    return std::move(p);
  }

private:
  int addTensor(std::string name, Type type) {
    PlanTensor t;
    t.name = std::move(name);
    auto tensor = cast<RankedTensorType>(type);
    t.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    t.type = toDType(tensor.getElementType()).value_or(DType::F32);
    p.tensors.push_back(std::move(t));
    return static_cast<int>(p.tensors.size()) - 1;
  }

  /// Inputs with their batch and sequence dimensions, parameters; other state is counted, not
  /// planned.
  void addArguments() {
    StringRef batch, sequence;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      auto type = dyn_cast<RankedTensorType>(step.getArgumentTypes()[i]);
      base::StateAttr state = stateOf(step, i);
      bool planned = !state || state.getRole() == base::StateRole::Param ||
                     state.getRole() == base::StateRole::Stat;
      if (!type || !planned)
        continue;
      int t = addTensor(textAttr(step, i, base::nameAttr).str(), type);
      tensorOf[step.getArgument(i)] = t;
      PlanTensor &tensor = p.tensors[t];
      tensor.isState = state != nullptr;
      if (state)
        stateTensor[tensor.name] = t;
      if (state || !isInput(step, i) || type.getRank() == 0)
        continue;
      bool isFirst = !foundBatch;
      if (isFirst) {
        foundBatch = true;
        p.batch = std::max<int64_t>(1, type.getDimSize(0));
        batch = dimName(step, i, 0);
        sequence = type.getRank() > 1 ? dimName(step, i, 1) : StringRef();
      }
      bool named = dimName(step, i, 0) == batch || dimName(step, i, 0).empty();
      if (isFirst || (named && type.getDimSize(0) == p.batch))
        tensor.batchDim = 0;
      if (type.getRank() > 1 && !sequence.empty() && dimName(step, i, 1) == sequence)
        tensor.sequenceDim = 1;
    }
  }

  /// Operands that stand for nothing in the problem: constants and counters; accumulators.
  bool isAccumulator(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    base::StateAttr state = argument ? stateOf(step, argument.getArgNumber()) : base::StateAttr();
    return state && state.getRole() == base::StateRole::Accumulator;
  }

  void addOp(Operation &op) {
    auto ruleOp = dyn_cast<ShardingRuleOpInterface>(&op);
    if (auto weight = dyn_cast<graph::WeightOp>(&op)) {
      int t = addTensor(weight.getKey().str(), weight.getType());
      p.tensors[t].isState = true;
      tensorOf[weight] = t;
      return;
    }
    bool reads = llvm::any_of(op.getOperands(), [&](Value v) { return tensorOf.contains(v); });
    if (!ruleOp || !reads)
      return; // a constant, or computed from constants
    PlanOp planned;
    planned.name = nameOf(&op);
    planned.phase = op.hasAttr(base::backwardAttr) ? Phase::Backward : Phase::Forward;
    auto segment = op.getAttrOfType<IntegerAttr>(base::stageAttr);
    planned.segment = segment ? static_cast<int>(segment.getInt()) : -1;
    if (auto cost = dyn_cast<CostOpInterface>(&op))
      planned.facts = cost.getFacts();
    ShardingRule rule = ruleOp.getShardingRule();
    dropUnplanned(op, rule, planned);
    for (Value result : op.getResults()) {
      int t = addTensor(planned.name, result.getType());
      tensorOf[result] = t;
      planned.results.push_back(t);
    }
    bool view = isa<graph::ReshapeOp, graph::BroadcastOp>(op);
    kinds.push_back(view ? MergeKind::View : MergeKind::Plain);
    p.ops.push_back(std::move(planned));
  }

  /// Keeps the operands that are tensors of the problem. A sum with a constant is no linear map; a
  /// sum with an accumulator stays one, for the accumulator may hold partial sums as well.
  void dropUnplanned(Operation &op, const ShardingRule &rule, PlanOp &planned) {
    planned.rule.factors = rule.factors;
    planned.rule.results = rule.results;
    bool affine = false;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      auto at = tensorOf.find(operand);
      bool together = i < rule.linearTogether.size() && rule.linearTogether[i];
      if (at == tensorOf.end()) {
        affine |= together && !isAccumulator(operand);
        if (!isAccumulator(operand))
          planned.facts.bytesRead =
              std::max(0.0, planned.facts.bytesRead - bytesOf(operand.getType()));
        continue;
      }
      planned.operands.push_back(at->second);
      planned.rule.operands.push_back(rule.operands[i]);
      planned.rule.linearIn.push_back(i < rule.linearIn.size() && rule.linearIn[i]);
      planned.rule.linearTogether.push_back(together);
    }
    if (affine || !llvm::is_contained(planned.rule.linearTogether, true))
      planned.rule.linearTogether.clear();
    if (!llvm::is_contained(planned.rule.linearIn, true))
      planned.rule.linearIn.clear();
  }

  /// One op per parameter that @update changes: reads parameter, gradient and moments, writes them.
  void addUpdates() {
    if (!update)
      return;
    std::map<std::string, double> optimizer, gradient;
    double elements = 0, work = 0;
    for (unsigned i = 0; i < update.getNumArguments(); ++i) {
      base::StateAttr state = stateOf(update, i);
      if (!state)
        continue;
      double bytes = bytesOf(update.getArgumentTypes()[i]);
      std::string of = state.getOf().str();
      if (state.getRole() == base::StateRole::Accumulator)
        gradient[of] += bytes;
      else if (!of.empty())
        optimizer[of] += bytes;
      else if (state.getRole() == base::StateRole::Param)
        elements += static_cast<double>(
            cast<RankedTensorType>(update.getArgumentTypes()[i]).getNumElements());
    }
    update.walk([&](CostOpInterface op) {
      OpFacts facts = op.getFacts();
      work += facts.aluFlops + facts.specialFlops;
    });
    for (const auto &[name, tensor] : stateTensor)
      if (gradient.count(name)) {
        p.tensors[tensor].gradientBytes = gradient[name];
        p.tensors[tensor].optimizerBytes = optimizer[name];
      }
    auto results = step.getBody().front().getTerminator()->getOperands();
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto alias = step.getResultAttrOfType<IntegerAttr>(i, base::aliasAttr);
      base::StateAttr state =
          alias ? stateOf(step, static_cast<unsigned>(alias.getInt())) : base::StateAttr();
      auto sum = tensorOf.find(results[i]);
      if (!state || state.getRole() != base::StateRole::Accumulator || sum == tensorOf.end())
        continue;
      if (auto at = stateTensor.find(state.getOf().str()); at != stateTensor.end())
        addUpdate(at->second, sum->second, elements > 0 ? work / elements : 0);
    }
  }

  void addUpdate(int parameter, int gradient, double workPerElement) {
    PlanTensor made = p.tensors[parameter];
    PlanOp op;
    op.name = made.name + ".update";
    op.phase = Phase::Update;
    op.segment = -1;
    op.operands = {parameter, gradient};
    ShardingRule::Tensor dims;
    double elements = 1;
    for (size_t d = 0; d < made.shape.size(); ++d) {
      op.rule.factors.push_back({made.shape[d], FactorKind::Parallel});
      dims.push_back({static_cast<int>(d)});
      elements *= static_cast<double>(made.shape[d]);
    }
    op.rule.operands = {dims, dims};
    op.rule.results = {dims};
    double bytes = made.bytes() + made.gradientBytes + made.optimizerBytes;
    op.facts.bytesRead = op.facts.bytesWritten = bytes; // accumulators are zeroed
    op.facts.aluFlops = workPerElement * elements;
    op.newStateOf = {parameter};
    made.name += ".new";
    made.isState = false;
    made.gradientBytes = made.optimizerBytes = 0;
    p.tensors.push_back(made);
    op.results = {static_cast<int>(p.tensors.size()) - 1};
    p.ops.push_back(std::move(op));
    kinds.push_back(MergeKind::Keep);
  }

  /// Ops without a mark: what they compute from, else what reads them; updates stand with the first
  /// reader of the parameter.
  void fillSegments() {
    std::vector<int> made(p.tensors.size(), -1), read(p.tensors.size(), -1);
    for (PlanOp &op : p.ops) {
      if (op.segment < 0 && op.phase != Phase::Update)
        for (int t : op.operands)
          op.segment = std::max(op.segment, made[t]);
      for (int t : op.results)
        made[t] = op.segment;
      for (int t : op.operands)
        if (op.phase == Phase::Forward && op.segment >= 0 && read[t] < 0)
          read[t] = op.segment;
    }
    for (size_t i = p.ops.size(); i-- > 0;) {
      PlanOp &op = p.ops[i];
      for (int t : op.phase == Phase::Update ? op.newStateOf : op.results)
        if (op.segment < 0)
          op.segment = read[t];
      op.segment = std::max(op.segment, 0);
      p.numSegments = std::max(p.numSegments, op.segment + 1);
      for (int t : op.operands)
        if (op.phase == Phase::Forward)
          read[t] = read[t] < 0 ? op.segment : std::min(read[t], op.segment);
    }
  }

  ModuleOp module;
  func::FuncOp step, update;
  PlanProblem p;
  std::vector<MergeKind> kinds;
  DenseMap<Value, int> tensorOf;
  std::map<std::string, int> stateTensor; ///< parameter name -> tensor
  bool foundBatch = false;
};

} // namespace

FailureOr<PlanProblem> gpucc::extractPlanProblem(ModuleOp module) {
  return Extraction(module).run();
}
