//===- PropagateModule.cpp - shardings for a whole module from pins -------===//
//
// Order: the step (or inference function) first, the update after it, since the
// update finds parameters and accumulators as the step left them. In the step:
// data parallel axis from the batch dimension of the inputs; then the tensor
// parallel axis, for which batch dimensions are closed; then, where ZeRO reduces
// gradients inside the step, the data parallel axis once more with the
// accumulators' blocks given.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Dist/Propagate.h"

#include "FunctionSpread.h"
#include "gpucc/Transforms/Dist/DecomposeForSharding.h"
#include "gpucc/Transforms/Dist/Reshard.h"

#include <map>

using namespace mlir;
using namespace gpucc;

static const std::string dp = "dp", tp = "tp";

namespace {
class Propagation {
public:
  Propagation(ModuleOp module, const ShardingPins &options, PropagateStatistics &statistics)
      : module(module), options(options), statistics(statistics) {}
  LogicalResult run();

private:
  ModuleOp module;
  const ShardingPins &options;
  PropagateStatistics &statistics;
  dist::MeshOp meshOp;
  Mesh mesh;
  std::map<std::string, Sharding> states; ///< by name and role: how the state lies

  void makeMesh();
  bool reducesInStep() const {
    return options.reduce == ReduceGradients::Step ||
           (options.reduce == ReduceGradients::Auto && options.microBatches == 1);
  }
  LogicalResult spreadStep(func::FuncOp function);
  LogicalResult spreadUpdate(func::FuncOp function);
  LogicalResult finish(func::FuncOp function, const FunctionSpread &spread);
  FailureOr<int64_t> batchSize(func::FuncOp function) const;
  bool isBatched(func::FuncOp function, unsigned argument, int64_t batch) const;
  Sharding zeroBlocks(const Sharding &parameter, ArrayRef<int64_t> shape) const;
  const Sharding *known(func::FuncOp function, unsigned argument) const;
  Sharding parameterOf(base::StateAttr state, int64_t rank) const;
  std::optional<Sharding> optimizerState(func::FuncOp function, unsigned argument) const;
};
} // namespace

//===-- Names and roles ---------------------------------------------------===//

static base::StateAttr stateOf(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<base::StateAttr>(argument, base::stateAttr);
}

static std::string keyOf(StringRef name, base::StateRole role) {
  return (name + "/" + base::stringifyStateRole(role)).str();
}

static std::string keyOf(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, base::nameAttr);
  return keyOf(name ? name.getValue() : "", stateOf(function, argument).getRole());
}

static RankedTensorType typeOf(func::FuncOp function, unsigned argument) {
  return dyn_cast<RankedTensorType>(function.getArgumentTypes()[argument]);
}

static bool isSegment(func::FuncOp function, StringRef segment) {
  auto attr = function->getAttrOfType<StringAttr>(base::segmentAttr);
  return attr && attr.getValue() == segment;
}

/// How an argument lies already: pinned in the module, or known from an earlier function.
const Sharding *Propagation::known(func::FuncOp function, unsigned argument) const {
  if (!stateOf(function, argument))
    return nullptr;
  auto at = states.find(keyOf(function, argument));
  return at == states.end() ? nullptr : &at->second;
}

void Propagation::makeMesh() {
  meshOp = dist::getMesh(module);
  if (!meshOp) {
    Mesh made;
    for (auto [name, size] :
         {std::pair<std::string, int64_t>{dist::stageAxis.str(), options.stages},
          {dp, options.dataParallel},
          {tp, options.tensorParallel}})
      if (size > 1)
        made.axes.push_back({name, size});
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    meshOp = dist::MeshOp::create(builder, module.getLoc(), "mesh",
                                  dist::MeshAttr::get(builder.getContext(), made));
  }
  mesh = meshOp.getMesh().toMesh();
}

//===-- Batch -------------------------------------------------------------===//

static bool isInput(func::FuncOp function, unsigned argument) {
  auto kind = function.getArgAttrOfType<StringAttr>(argument, base::kindAttr);
  return kind && (kind.getValue() == "input" || kind.getValue() == "label");
}

/// Size of the first dimension of the labels, else of the first input; it must divide among the
/// data parallel ranks.
FailureOr<int64_t> Propagation::batchSize(func::FuncOp function) const {
  for (StringRef kind : {"label", "input"})
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      RankedTensorType type = typeOf(function, i);
      auto is = function.getArgAttrOfType<StringAttr>(i, base::kindAttr);
      if (!is || is.getValue() != kind || !type || type.getRank() == 0)
        continue;
      int64_t batch = type.getDimSize(0), parts = mesh.axisSize(dp);
      if (batch % parts == 0)
        return batch;
      InFlightDiagnostic error = function.emitError("the batch of a micro-batch is ")
                                 << batch << " (first dimension of " << kind << " "
                                 << function.getArgAttr(i, base::nameAttr) << "), which " << parts
                                 << " data parallel ranks do not divide";
      error.attachNote() << "choose dp and micro-batches so that dp times micro-batches divides "
                            "the model's batch";
      return error;
    }
  return 0;
}

/// First dimensions of the batch's size, unless the model names them otherwise.
bool Propagation::isBatched(func::FuncOp function, unsigned argument, int64_t batch) const {
  RankedTensorType type = typeOf(function, argument);
  if (!isInput(function, argument) || !type || type.getRank() == 0 || type.getDimSize(0) != batch)
    return false;
  auto nameOf = [&](unsigned i) {
    auto dims = function.getArgAttrOfType<ArrayAttr>(i, base::dimsAttr);
    return dims && !dims.empty() ? cast<StringAttr>(dims[0]).getValue() : StringRef();
  };
  for (unsigned i = 0; i < argument; ++i)
    if (isInput(function, i) && typeOf(function, i).getRank() > 0)
      return nameOf(i) == nameOf(argument) || nameOf(i).empty() || nameOf(argument).empty();
  return true;
}

//===-- ZeRO --------------------------------------------------------------===//

/// The parameter's sharding with its first free even dimension split over dp as well.
Sharding Propagation::zeroBlocks(const Sharding &parameter, ArrayRef<int64_t> shape) const {
  Sharding blocks = parameter;
  blocks.partial.clear();
  int64_t parts = mesh.axisSize(dp);
  if (parts == 1)
    return blocks;
  for (size_t d = 0; d < shape.size(); ++d)
    if (blocks.dims[d].empty() && shape[d] % parts == 0 && shape[d] > 0) {
      blocks.dims[d].push_back(dp);
      return blocks;
    }
  return blocks;
}

Sharding Propagation::parameterOf(base::StateAttr state, int64_t rank) const {
  auto at = states.find(keyOf(state.getOf(), base::StateRole::Param));
  return at != states.end() && static_cast<int64_t>(at->second.dims.size()) == rank
             ? at->second
             : Sharding::replicated(rank);
}

/// How moments and masters lie (and accumulators once they are reduced): as the parameter, under
/// ZeRO in blocks. None for other arguments.
std::optional<Sharding> Propagation::optimizerState(func::FuncOp function,
                                                    unsigned argument) const {
  base::StateAttr state = stateOf(function, argument);
  if (!state || state.getRole() == base::StateRole::Param ||
      state.getRole() == base::StateRole::Stat || state.getRole() == base::StateRole::Counter)
    return std::nullopt;
  auto shape = typeOf(function, argument).getShape();
  Sharding as = parameterOf(state, shape.size());
  return options.zero >= 1 && !state.getOf().empty() ? zeroBlocks(as, shape) : as;
}

//===-- Step and inference ------------------------------------------------===//

LogicalResult Propagation::spreadStep(func::FuncOp function) {
  FailureOr<int64_t> batch = batchSize(function);
  if (failed(batch) || failed(decomposeForSharding(function, *batch)))
    return failure();
  FunctionSpread spread(function, mesh);
  auto pin = [&](BlockArgument argument) { return dist::getSharding(argument); };
  auto freedom = [&](const std::string &axis, BlockArgument argument) -> ArgumentFreedom {
    if (auto pinned = pin(argument))
      return {FunctionSpread::stateOn(*pinned, axis)};
    unsigned i = argument.getArgNumber();
    base::StateAttr state = stateOf(function, i);
    if (!state)
      return {axis == dp && isBatched(function, i, *batch) ? axis::Split : axis::Whole};
    bool accumulator = state.getRole() == base::StateRole::Accumulator;
    if (const Sharding *before = known(function, i))
      return {FunctionSpread::stateOn(*before, axis), false, false, !accumulator};
    bool counter = state.getRole() == base::StateRole::Counter;
    return {axis::Open, axis == tp && !counter,
            accumulator && (!reducesInStep() || state.getOf().empty())};
  };
  auto onDp = [&](BlockArgument a) { return freedom(dp, a); };
  auto onTp = [&](BlockArgument a) { return freedom(tp, a); };
  AxisOptions data{dp, false, false, true, true, options.beam};
  AxisOptions tensor{tp, true, options.sequenceParallel, false, false, options.beam};
  if (failed(spread.decide(data, onDp)))
    return failure();
  spread.closeDimsOf(dp);
  if (mesh.axisSize(dp) == 1)
    spread.forget(dp);
  if (mesh.axisSize(tp) > 1 && failed(spread.decide(tensor, onTp)))
    return failure();
  if (options.zero >= 1 && reducesInStep() && mesh.axisSize(dp) > 1) {
    spread.forget(dp);
    for (BlockArgument argument : function.getArguments())
      if (base::StateAttr state = stateOf(function, argument.getArgNumber());
          state && state.getRole() != base::StateRole::Accumulator)
        states[keyOf(function, argument.getArgNumber())] = spread.sharding(argument);
    auto inBlocks = [&](BlockArgument argument) -> ArgumentFreedom {
      base::StateAttr state = stateOf(function, argument.getArgNumber());
      if (!state || state.getRole() != base::StateRole::Accumulator || state.getOf().empty())
        return freedom(dp, argument);
      // In blocks along a dimension that its own tensor parallel form leaves free.
      auto shape = typeOf(function, argument.getArgNumber()).getShape();
      return {FunctionSpread::stateOn(zeroBlocks(spread.sharding(argument), shape), dp)};
    };
    if (failed(spread.decide(data, inBlocks)))
      return failure();
  }
  return finish(function, spread);
}

//===-- Update ------------------------------------------------------------===//

/// Accumulators are brought into the form of the optimizer state first: reduced, under ZeRO
/// scattered; everything after it follows.
LogicalResult Propagation::spreadUpdate(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  auto meshName = FlatSymbolRefAttr::get(meshOp.getSymNameAttr());
  for (BlockArgument argument : function.getArguments()) {
    base::StateAttr state = stateOf(function, argument.getArgNumber());
    const Sharding *lies = known(function, argument.getArgNumber());
    if (!state || state.getRole() != base::StateRole::Accumulator || !lies || argument.use_empty())
      continue;
    Sharding wanted = *optimizerState(function, argument.getArgNumber());
    if (wanted == *lies)
      continue;
    auto constraint =
        dist::ConstraintOp::create(builder, argument.getLoc(), argument, meshName,
                                   dist::ShardingAttr::get(builder.getContext(), wanted));
    argument.replaceAllUsesExcept(constraint.getResult(), constraint);
  }
  FunctionSpread spread(function, mesh);
  for (const std::string &axis : {tp, dp}) {
    if (mesh.axisSize(axis) == 1)
      continue;
    auto freedom = [&](BlockArgument argument) -> ArgumentFreedom {
      unsigned i = argument.getArgNumber();
      if (auto pinned = dist::getSharding(argument))
        return {FunctionSpread::stateOn(*pinned, axis)};
      if (const Sharding *before = known(function, i))
        return {FunctionSpread::stateOn(*before, axis)};
      if (auto state = optimizerState(function, i))
        return {FunctionSpread::stateOn(*state, axis)};
      base::StateAttr state = stateOf(function, i);
      bool counter = state && state.getRole() == base::StateRole::Counter;
      return {counter ? axis::Open : axis::Whole};
    };
    if (failed(spread.decide({axis, false, false, false, true, options.beam}, freedom)))
      return failure();
  }
  return finish(function, spread);
}

//===-- Both --------------------------------------------------------------===//

LogicalResult Propagation::finish(func::FuncOp function, const FunctionSpread &spread) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    base::StateAttr state = stateOf(function, i);
    if (!state)
      continue;
    Sharding lies = spread.sharding(argument);
    bool fresh = states.insert_or_assign(keyOf(function, i), lies).second;
    if (state.getRole() != base::StateRole::Param || !fresh || mesh.axisSize(tp) == 1)
      continue;
    bool split = FunctionSpread::stateOn(lies, tp) != axis::Whole;
    ++(split ? statistics.splitParameters : statistics.wholeParameters);
    auto shape = typeOf(function, i).getShape();
    bool divides = llvm::any_of(shape, [&](int64_t n) { return n % mesh.axisSize(tp) == 0; });
    if (!split && shape.size() > 1 && !divides)
      function.emitRemark("parameter ")
          << function.getArgAttr(i, base::nameAttr) << " of type " << typeOf(function, i)
          << " stays whole on the " << mesh.axisSize(tp)
          << " tensor parallel ranks: no dimension divides evenly";
  }
  statistics.bytes += spread.sentBytes();
  FunctionSharding result = spread.result();
  result.gatherAgain = options.sequenceParallel;
  statistics.reshards += writeShardings(function, meshOp, result);
  return success();
}

LogicalResult Propagation::run() {
  makeMesh();
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (!function.isExternal() && !isSegment(function, "update") && failed(spreadStep(function)))
      return failure();
  for (func::FuncOp function : functions)
    if (!function.isExternal() && isSegment(function, "update") && failed(spreadUpdate(function)))
      return failure();
  return success();
}

LogicalResult gpucc::propagateShardings(ModuleOp module, const ShardingPins &options,
                                        PropagateStatistics &statistics) {
  return Propagation(module, options, statistics).run();
}
