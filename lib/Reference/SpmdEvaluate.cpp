//===- SpmdEvaluate.cpp - runs the programs of all ranks at once ----------===//
#include "gpucc/Reference/SpmdEvaluate.h"

#include "dialects/Base/Base.h"

using namespace mlir;
using namespace gpucc;

//===-- What the module holds ---------------------------------------------===//

static int64_t stageOf(func::FuncOp function) {
  auto stage = function->getAttrOfType<IntegerAttr>(dist::stageAttr);
  return stage ? stage.getInt() : 0;
}

static bool isUpdate(func::FuncOp function) {
  auto segment = function->getAttrOfType<StringAttr>(base::segmentAttr);
  return segment && segment.getValue() == "update";
}

static std::string nameOf(func::FuncOp function, unsigned index, bool result) {
  auto name = result ? function.getResultAttrOfType<StringAttr>(index, base::nameAttr)
                     : function.getArgAttrOfType<StringAttr>(index, base::nameAttr);
  return name ? name.str() : (result ? "result" : "argument") + std::to_string(index);
}

static Sharding shardingOr(Attribute attr, int64_t rank) {
  auto sharding = dyn_cast_or_null<dist::ShardingAttr>(attr);
  return sharding ? sharding.toSharding() : Sharding::replicated(rank);
}

static bool isState(func::FuncOp function, unsigned argument) {
  auto kind = function.getArgAttrOfType<StringAttr>(argument, base::kindAttr);
  return kind && kind.getValue() == "state";
}

SpmdEvaluator::SpmdEvaluator(ModuleOp module, const WeightSource *weights)
    : module(module), weights(weights) {
  if (dist::MeshOp op = dist::getMesh(module))
    mesh = op.getMesh().toMesh();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    collectPlaces(function);
  for (int64_t r = 0; r < mesh.numRanks(); ++r) {
    Rank rank;
    rank.number = r;
    rank.stage = mesh.coordinate(r, dist::stageAxis.str());
    ranks.push_back(std::move(rank));
  }
}

void SpmdEvaluator::collectPlaces(func::FuncOp function) {
  auto place = [&](Type type, Attribute attr) {
    auto tensor = cast<RankedTensorType>(type);
    Sharding sharding = shardingOr(attr, tensor.getRank());
    return Place{sharding,
                 globalShape(mesh, sharding, toShape(tensor)),
                 *toDType(tensor.getElementType()),
                 {}};
  };
  auto keep = [&](std::map<std::string, Place> &places, const std::string &name, Place found) {
    auto at = places.try_emplace(name, std::move(found)).first;
    at->second.stages.insert(stageOf(function));
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isState(function, i))
      keep(states, nameOf(function, i, false),
           place(function.getArgumentTypes()[i], function.getArgAttr(i, dist::shardingAttr)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!function.getResultAttr(i, base::aliasAttr) && !function.getResultAttr(i, dist::savedAttr))
      keep(outputs, nameOf(function, i, true),
           place(function.getResultTypes()[i], function.getResultAttr(i, dist::shardingAttr)));
}

/// The module's scripts, or: every function but the update for each micro-batch, then the update.
void SpmdEvaluator::readScripts(size_t microBatches) {
  scripts.assign(static_cast<size_t>(mesh.axisSize(dist::stageAxis.str())), {});
  if (auto stages = module->getAttrOfType<ArrayAttr>(dist::scriptsAttr)) {
    for (auto [s, steps] : llvm::enumerate(stages))
      for (Attribute step : cast<ArrayAttr>(steps)) {
        auto action = cast<dist::ActionAttr>(step);
        scripts[s].push_back({module.lookupSymbol<func::FuncOp>(action.getFunction()),
                              action.getMicroBatch(), action.getSlot()});
      }
    return;
  }
  for (size_t s = 0; s < scripts.size(); ++s) {
    SmallVector<func::FuncOp> step, update;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (stageOf(function) == static_cast<int64_t>(s))
        (isUpdate(function) ? update : step).push_back(function);
    for (size_t m = 0; m < microBatches; ++m)
      for (func::FuncOp function : step)
        scripts[s].push_back({function, static_cast<int64_t>(m), static_cast<int64_t>(m)});
    for (func::FuncOp function : update)
      scripts[s].push_back({function, 0, 0});
  }
}

//===-- Functions ---------------------------------------------------------===//

/// Brings the arguments of the next action into place.
LogicalResult SpmdEvaluator::begin(Rank &rank) {
  const Action &action = scripts[rank.stage][rank.action];
  func::FuncOp function = action.function;
  rank.values.clear();
  if (isUpdate(function))
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto state = function.getArgAttrOfType<base::StateAttr>(i, base::stateAttr);
          state && state.getRole() == base::StateRole::Accumulator)
        rank.gradients[nameOf(function, i, false)] = rank.state[nameOf(function, i, false)];
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::string name = nameOf(function, i, false);
    auto type = cast<RankedTensorType>(argument.getType());
    DType dtype = *toDType(type.getElementType());
    HostTensor value;
    if (auto key = function.getArgAttrOfType<IntegerAttr>(i, dist::savedAttr)) {
      value = rank.saved[{key.getInt(), action.slot}];
    } else if (isState(function, i)) {
      value = rank.state[name];
      if (!value.isValid() || value.shape() != toShape(type))
        value = rank.state[name] = HostTensor(dtype, toShape(type));
    } else {
      const NamedTensors &batch = (*inputs)[action.microBatch];
      auto at = batch.find(name);
      if (at == batch.end())
        return function.emitError("no input named '") << name << "' was given";
      Sharding sharding = shardingOr(function.getArgAttr(i, dist::shardingAttr), type.getRank());
      value = cutBlock(mesh, sharding, at->second, rank.number);
    }
    if (value.shape() != toShape(type) || value.dtype() != dtype || !value.isValid())
      return function.emitError("argument '")
             << name << "' has type " << type << " on a rank; what was given does not fit";
    rank.values[argument] = value;
  }
  rank.at = &function.getBody().front().front();
  return success();
}

/// Puts the results of a finished action where later ones find them.
void SpmdEvaluator::finish(Rank &rank, func::ReturnOp op) {
  const Action &action = scripts[rank.stage][rank.action];
  func::FuncOp function = action.function;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    const HostTensor &value = rank.values.find(operand.get())->second;
    if (auto key = function.getResultAttrOfType<IntegerAttr>(i, dist::savedAttr))
      rank.saved[{key.getInt(), action.slot}] = value;
    else if (auto alias = function.getResultAttrOfType<IntegerAttr>(i, base::aliasAttr))
      rank.state[nameOf(function, alias.getInt(), false)] = value.clone();
    else
      rank.outputs[{nameOf(function, i, true), isUpdate(function) ? -1 : action.microBatch}] =
          value;
  }
  rank.at = nullptr;
  rank.values.clear();
  ++rank.action;
}

//===-- Ops ---------------------------------------------------------------===//

void SpmdEvaluator::define(Rank &rank, Operation *op, ArrayRef<HostTensor> results) {
  const Action &action = scripts[rank.stage][rank.action];
  for (auto [i, value] : llvm::enumerate(results)) {
    rank.values[op->getResult(i)] = value;
    if (observe)
      observe(
          {op, action.function, rank.number, action.microBatch, static_cast<unsigned>(i), value});
  }
  rank.at = op->getNextNode();
}

/// The rank with the same coordinates in another stage.
static int64_t peerOf(const Mesh &mesh, int64_t rank, int64_t stage) {
  return mesh.group(rank, {dist::stageAxis.str()})[stage];
}

SpmdEvaluator::Progress SpmdEvaluator::step(Rank &rank, Operation *op) {
  auto value = [&](Value v) -> const HostTensor & { return rank.values.find(v)->second; };
  if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    finish(rank, ret);
    return Progress::Moved;
  }
  if (isa<dist::CollectiveOpInterface>(op))
    return Progress::Waits;
  if (auto send = dyn_cast<dist::SendOp>(op)) {
    mail[{rank.number, peerOf(mesh, rank.number, send.getStage()), send.getChannel()}].push_back(
        value(send.getX()));
    rank.at = op->getNextNode();
    return Progress::Moved;
  }
  if (auto recv = dyn_cast<dist::RecvOp>(op)) {
    auto &box = mail[{peerOf(mesh, rank.number, recv.getStage()), rank.number, recv.getChannel()}];
    if (box.empty())
      return Progress::Waits;
    HostTensor first = box.front();
    box.erase(box.begin());
    define(rank, op, {first});
    return Progress::Moved;
  }
  if (auto index = dyn_cast<dist::AxisIndexOp>(op)) {
    int64_t at = 0;
    for (const std::string &axis : dist::toStrings(index.getAxes()))
      at = at * mesh.axisSize(axis) + mesh.coordinate(rank.number, axis);
    define(rank, op, {HostTensor::scalarInt(DType::I64, at * index.getScale())});
    return Progress::Moved;
  }
  SmallVector<HostTensor> operands;
  for (Value operand : op->getOperands())
    operands.push_back(value(operand));
  MapWeights none;
  FailureOr<SmallVector<HostTensor>> results = evaluateOp(op, operands, weights ? *weights : none);
  if (failed(results))
    return Progress::Failed;
  define(rank, op, *results);
  return Progress::Moved;
}

/// Runs a rank until it waits or its script ends.
SpmdEvaluator::Progress SpmdEvaluator::advance(Rank &rank) {
  Progress overall = Progress::Waits;
  while (true) {
    if (!rank.at) {
      if (rank.action == scripts[rank.stage].size())
        return overall == Progress::Moved ? overall : Progress::Done;
      if (failed(begin(rank)))
        return Progress::Failed;
    }
    Progress now = step(rank, rank.at);
    if (now == Progress::Failed)
      return now;
    if (now == Progress::Waits)
      return overall;
    overall = Progress::Moved;
  }
}

//===-- Meetings ----------------------------------------------------------===//

std::vector<int64_t> SpmdEvaluator::membersOf(const Rank &rank, Operation *op) const {
  std::vector<int64_t> group =
      mesh.group(rank.number, cast<dist::CollectiveOpInterface>(op).getAxisNames());
  auto reduce = dyn_cast<dist::AllReduceOp>(op);
  if (!reduce || !reduce.getStages())
    return group;
  std::erase_if(group, [&](int64_t member) {
    return !llvm::is_contained(*reduce.getStages(), ranks[member].stage);
  });
  return group;
}

/// The same collective: of one program the same op, of two the same channel and type.
static bool sameMeeting(Operation *a, Operation *b) {
  if (a == b)
    return true;
  auto x = dyn_cast<dist::AllReduceOp>(a), y = dyn_cast<dist::AllReduceOp>(b);
  return x && y && x.getChannel() && x.getChannel() == y.getChannel() &&
         x.getType() == y.getType() && x.getCombiner() == y.getCombiner() &&
         x.getAxes() == y.getAxes();
}

/// Executes every collective whose members all stand at it. False when there is none.
bool SpmdEvaluator::meet() {
  bool any = false;
  for (Rank &rank : ranks) {
    if (!rank.at || !isa<dist::CollectiveOpInterface>(rank.at))
      continue;
    std::vector<int64_t> group = membersOf(rank, rank.at);
    if (group.front() != rank.number)
      continue;
    bool all = true;
    for (int64_t member : group)
      all &= ranks[member].at && isa<dist::CollectiveOpInterface>(ranks[member].at) &&
             sameMeeting(rank.at, ranks[member].at);
    if (!all)
      continue;
    SmallVector<HostTensor> inputs, outputs;
    auto type = cast<RankedTensorType>(rank.at->getResult(0).getType());
    for (int64_t member : group) {
      Operation *at = ranks[member].at;
      inputs.push_back(ranks[member].values.find(at->getOperand(0))->second);
      outputs.emplace_back(*toDType(type.getElementType()), toShape(type));
    }
    cast<dist::CollectiveOpInterface>(rank.at).evaluateGroup(inputs, outputs);
    for (auto [member, output] : llvm::zip_equal(group, outputs))
      define(ranks[member], ranks[member].at, {output});
    any = true;
  }
  return any;
}

LogicalResult SpmdEvaluator::reportDeadlock() {
  InFlightDiagnostic error = module.emitError("the ranks wait for each other");
  for (Rank &rank : ranks)
    if (rank.at)
      error.attachNote(rank.at->getLoc())
          << "rank " << rank.number << " (stage " << rank.stage << ") waits at "
          << rank.at->getName() << " in " << scripts[rank.stage][rank.action].function.getName()
          << ", micro-batch " << scripts[rank.stage][rank.action].microBatch;
  return error;
}

LogicalResult SpmdEvaluator::runStep(const std::vector<NamedTensors> &microBatches) {
  inputs = &microBatches;
  readScripts(microBatches.size());
  mail.clear();
  for (Rank &rank : ranks) {
    rank.action = 0;
    rank.at = nullptr;
    rank.outputs.clear();
  }
  while (true) {
    bool moved = false, done = true;
    for (Rank &rank : ranks) {
      Progress progress = advance(rank);
      if (progress == Progress::Failed)
        return failure();
      moved |= progress == Progress::Moved;
      done &= !rank.at && rank.action == scripts[rank.stage].size();
    }
    if (done)
      return success();
    bool met = meet();
    if (!moved && !met)
      return reportDeadlock();
  }
}

//===-- State and results -------------------------------------------------===//

void SpmdEvaluator::setState(const std::string &name, const HostTensor &whole) {
  auto at = states.find(name);
  if (at == states.end())
    return;
  for (Rank &rank : ranks)
    if (at->second.stages.count(rank.stage))
      rank.state[name] = cutBlock(mesh, at->second.sharding, whole, rank.number).clone();
}

FailureOr<HostTensor>
SpmdEvaluator::makeWhole(const std::string &name, const Place &place,
                         function_ref<const HostTensor *(int64_t)> block) const {
  std::string error;
  ModuleOp op = module;
  auto whole = gatherBlocks(mesh, place.sharding, place.shape, place.type, block, error);
  if (!whole)
    return op.emitError("'") << name << "': " << error;
  return *whole;
}

FailureOr<HostTensor> SpmdEvaluator::getState(const std::string &name) const {
  auto place = states.find(name);
  ModuleOp op = module;
  if (place == states.end())
    return op.emitError("no state is named '") << name << "'";
  return makeWhole(name, place->second,
                   [&](int64_t rank) { return blockOf("state", name, -1, rank); });
}

FailureOr<HostTensor> SpmdEvaluator::getGradient(const std::string &name) const {
  auto place = states.find(name);
  ModuleOp op = module;
  if (place == states.end())
    return op.emitError("no accumulator is named '") << name << "'";
  return makeWhole(name, place->second,
                   [&](int64_t rank) { return blockOf("gradient", name, -1, rank); });
}

FailureOr<HostTensor> SpmdEvaluator::getOutput(const std::string &name, int64_t microBatch) const {
  auto place = outputs.find(name);
  ModuleOp op = module;
  if (place == outputs.end())
    return op.emitError("no output is named '") << name << "'";
  return makeWhole(name, place->second,
                   [&](int64_t rank) { return blockOf("output", name, microBatch, rank); });
}

const HostTensor *SpmdEvaluator::blockOf(StringRef kind, const std::string &name,
                                         int64_t microBatch, int64_t rank) const {
  if (kind == "output") {
    auto at = ranks[rank].outputs.find({name, microBatch});
    return at == ranks[rank].outputs.end() ? nullptr : &at->second;
  }
  const NamedTensors &tensors = kind == "state" ? ranks[rank].state : ranks[rank].gradients;
  auto at = tensors.find(name);
  return at == tensors.end() ? nullptr : &at->second;
}

Sharding SpmdEvaluator::shardingOf(StringRef kind, const std::string &name) const {
  const auto &places = kind == "output" ? outputs : states;
  auto at = places.find(name);
  return at == places.end() ? Sharding() : at->second.sharding;
}

/// The update overwrites state last; gradients and outputs come from the functions before it.
Operation *SpmdEvaluator::producerOf(StringRef kind, const std::string &name) const {
  Operation *producer = nullptr;
  for (func::FuncOp function : ModuleOp(module).getOps<func::FuncOp>()) {
    if (kind == "gradient" && isUpdate(function))
      continue;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (nameOf(function, i, true) == name)
        producer = function.getBody().front().getTerminator()->getOperand(i).getDefiningOp();
  }
  return producer;
}

bool SpmdEvaluator::hasGradient(const std::string &name) const {
  return llvm::any_of(ranks, [&](const Rank &rank) { return rank.gradients.count(name); });
}

bool SpmdEvaluator::hasOutput(const std::string &name, int64_t microBatch) const {
  return llvm::any_of(ranks,
                      [&](const Rank &rank) { return rank.outputs.count({name, microBatch}); });
}

std::vector<std::string> SpmdEvaluator::stateNames() const {
  std::vector<std::string> names;
  for (const auto &[name, place] : states)
    names.push_back(name);
  return names;
}

std::vector<std::string> SpmdEvaluator::outputNames() const {
  std::vector<std::string> names;
  for (const auto &[name, place] : outputs)
    names.push_back(name);
  return names;
}
