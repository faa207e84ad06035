//===- ProgramBuilder.cpp - buffers and tensor table of one program -------===//
#include "ProgramBuilder.h"
#include "dialects/Base/ModuleAttrs.h"
#include "dialects/Base/VaryingAttrs.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

int64_t sched::byteSize(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return gpucc::byteSize(*toDType(tensor.getElementType()), tensor.getNumElements());
}

StringRef Port::name() const {
  auto name = attrs ? attrs.getAs<StringAttr>(base::nameAttr) : StringAttr();
  return name ? name.getValue() : StringRef();
}
StringRef Port::kind() const {
  auto kind = attrs ? attrs.getAs<StringAttr>(base::kindAttr) : StringAttr();
  return kind ? kind.getValue() : StringRef();
}
Sharding Port::sharding() const {
  if (attrs)
    if (auto attr = attrs.getAs<dist::ShardingAttr>(dist::shardingAttr))
      return attr.toSharding();
  return Sharding::replicated(static_cast<size_t>(type.getRank()));
}

Port sched::argumentPort(func::FuncOp f, unsigned i) {
  return {cast<RankedTensorType>(f.getArgumentTypes()[i]), f.getArgAttrDict(i)};
}
Port sched::resultPort(func::FuncOp f, unsigned i) {
  return {cast<RankedTensorType>(f.getResultTypes()[i]), f.getResultAttrDict(i)};
}

ProgramBuilder::ProgramBuilder(ModuleOp module, StringRef name, int64_t stage, Mesh mesh,
                               base::ProfileAttr profile, int64_t slots, int64_t inFlight)
    : module(module), builder(module.getContext()), mesh(std::move(mesh)), slots(slots), inFlight(inFlight) {
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Attribute> axes;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &a : this->mesh.axes) {
    axes.push_back(builder.getStringAttr(a.name));
    sizes.push_back(a.size);
  }
  program = ProgramOp::create(builder, module.getLoc(), name, static_cast<uint64_t>(stage),
                              builder.getArrayAttr(axes), builder.getDenseI64ArrayAttr(sizes),
                              profile);
  builder.createBlock(&program.getBody());
}

Storage ProgramBuilder::makeBuffer(StringRef prefix, BufferKind kind, int64_t bytes,
                                   int64_t bufferSlots) {
  std::string name = (prefix + Twine(counter++)).str();
  OpBuilder::InsertionGuard guard(builder);
  // Buffers first, in order of creation, so that the text reads top down.
  Block &body = program.getBody().front();
  auto it = llvm::find_if(body, [](Operation &op) { return !isa<BufferOp>(op); });
  builder.setInsertionPoint(&body, it);
  BufferOp::create(builder, program.getLoc(), name, kind, static_cast<uint64_t>(bytes),
                   static_cast<uint64_t>(bufferSlots));
  return {FlatSymbolRefAttr::get(builder.getContext(), name), 0, bytes};
}

Storage ProgramBuilder::scratch(int64_t bytes) { return makeBuffer("t", BufferKind::Scratch, bytes); }

/// The slices of a port whose slot k holds micro-batch k of the first dimension.
static ArrayAttr slicesOf(Builder &b, const Port &port, const Sharding &sharding, const Mesh &mesh,
                          int64_t slots) {
  if (slots == 1 && sharding.isReplicated())
    return b.getArrayAttr({});
  SmallVector<Attribute> slices;
  for (auto [d, size] : llvm::enumerate(port.type.getShape())) {
    SmallVector<StringAttr> axes;
    SmallVector<int64_t> strides;
    int64_t stride = size;
    for (const std::string &axis : llvm::reverse(sharding.dims[d])) {
      axes.push_back(b.getStringAttr(axis));
      strides.push_back(stride);
      stride *= mesh.axisSize(axis);
    }
    int64_t step = d == 0 && slots > 1 ? stride : 0;
    slices.push_back(base::SliceAttr::get(
        b.getContext(), base::RankValueAttr::get(b.getContext(), 0, axes, strides, step, 0), size));
  }
  return b.getArrayAttr(slices);
}

void ProgramBuilder::addTensor(const Port &port, StringRef role, Storage storage, int64_t portSlots,
                               Location loc) {
  Sharding sharding = port.sharding();
  SmallVector<int64_t> global(port.type.getShape());
  for (auto [d, size] : llvm::enumerate(global))
    size *= sharding.parts(mesh, d);
  bool batched = portSlots > 1 && !global.empty();
  if (batched)
    global[0] *= portSlots;
  auto type = RankedTensorType::get(global, port.type.getElementType());
  StringAttr sourceName, derivedFrom;
  DenseI64ArrayAttr sourceShape, sourceBase;
  if (auto state = port.attrs.getAs<base::StateAttr>(base::stateAttr); state && !state.getStart().empty()) {
    sourceName = port.attrs.getAs<StringAttr>(base::sourceNameAttr);
    sourceShape = port.attrs.getAs<DenseI64ArrayAttr>(base::sourceShapeAttr);
    sourceBase = builder.getDenseI64ArrayAttr(state.getStart());
  }
  ArrayAttr partialAxes;
  if (!sharding.partial.empty())
    partialAxes = dist::toAttr(builder.getContext(), sharding.partial);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = program.getBody().front();
  auto it = llvm::find_if(body, [](Operation &op) { return isa<SegmentOp, ScriptOp>(op); });
  builder.setInsertionPoint(&body, it);
  TensorOp::create(builder, loc, builder.getStringAttr(port.name()), builder.getStringAttr(role),
                   TypeAttr::get(type), TypeAttr::get(port.type), storage.view(),
                   builder.getI64IntegerAttr(batched ? portSlots : 1),
                   slicesOf(builder, port, sharding, mesh, batched ? portSlots : 1),
                   port.attrs.getAs<ArrayAttr>(base::dimsAttr), sourceName, sourceShape, sourceBase,
                   derivedFrom, partialAxes,
                   port.attrs.getAs<IntegerAttr>(base::varyingDimAttr),
                   port.attrs.getAs<StringAttr>(base::countAttr));
}

/// Its first dimension is the batch, which micro-batches divide: by name where the model names
/// both, else by being there.
bool ProgramBuilder::isBatched(const Port &port) {
  auto batch = module->getAttrOfType<StringAttr>(base::batchAttr);
  auto dims = port.attrs.getAs<ArrayAttr>(base::dimsAttr);
  if (port.type.getRank() == 0)
    return false;
  return !batch || port.kind() == "label" || (dims && !dims.empty() && dims[0] == batch);
}

/// The port with a dimension of one in front: one entry per micro-batch. An output without a batch
/// (a scalar, say) has a value for each micro-batch, and none of them is the step's.
static Port perMicroBatch(const Port &port) {
  Builder b(port.type.getContext());
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, port.type.getShape());
  NamedAttrList attrs(port.attrs);
  if (attrs.get(dist::shardingAttr)) {
    Sharding sharding = port.sharding();
    sharding.dims.insert(sharding.dims.begin(), std::vector<std::string>());
    attrs.set(dist::shardingAttr, dist::ShardingAttr::get(b.getContext(), sharding));
  }
  if (auto dims = port.attrs.getAs<ArrayAttr>(base::dimsAttr)) {
    SmallVector<Attribute> names = {b.getStringAttr("")};
    llvm::append_range(names, dims);
    attrs.set(base::dimsAttr, b.getArrayAttr(names));
  }
  return {port.type.clone(shape), attrs.getDictionary(b.getContext())};
}

Storage ProgramBuilder::ioPort(const Port &port, Location loc, bool isResult) {
  bool metric = port.kind() == "metric";
  std::string key = (isResult ? "out:" : "in:") + port.name().str();
  auto [it, isNew] = io.try_emplace(key);
  if (!isNew)
    return it->second;
  bool each = isResult && !metric && slots > 1 && !isBatched(port);
  int64_t portSlots = metric || (!each && !isBatched(port)) ? 1 : slots;
  it->second = makeBuffer(isResult ? "out" : "in", BufferKind::Io, byteSize(port.type), portSlots);
  bool named = metric || port.kind() == "count";
  StringRef role = isResult && !named ? "output" : port.kind();
  addTensor(each ? perMicroBatch(port) : port, role, it->second, portSlots, loc);
  return it->second;
}

Storage ProgramBuilder::statePort(const Port &port, Location loc) {
  auto [it, isNew] = states.try_emplace(port.name().str());
  if (!isNew)
    return it->second;
  it->second = makeBuffer("state", BufferKind::State, byteSize(port.type));
  auto state = port.attrs.getAs<base::StateAttr>(base::stateAttr);
  StringRef role = "parameter";
  if (state)
    switch (state.getRole()) {
    case base::StateRole::Param:
      break;
    case base::StateRole::Stat:
      role = "statistic";
      break;
    case base::StateRole::Master:
      role = "master";
      break;
    case base::StateRole::Moment1:
    case base::StateRole::Moment2:
      role = "moment";
      break;
    case base::StateRole::Accumulator:
      role = "gradient_accumulator";
      break;
    case base::StateRole::Counter:
      role = "counter";
      break;
    }
  addTensor(port, role, it->second, 1, loc);
  initializeState(port, it->second, loc);
  return it->second;
}

/// Parameters, statistics and masters begin with the model's initializer; other state with zeros.
void ProgramBuilder::initializeState(const Port &port, Storage storage, Location loc) {
  auto state = port.attrs.getAs<base::StateAttr>(base::stateAttr);
  StringRef source = port.name();
  if (auto named = port.attrs.getAs<StringAttr>(base::weightAttr))
    source = named.getValue();
  else if (state && state.getRole() == base::StateRole::Master)
    source = state.getOf();
  if (!module.lookupSymbol<graph::WeightDataOp>(source))
    return;
  Sharding sharding = port.sharding();
  SmallVector<Attribute> slices;
  for (Attribute a : slicesOf(builder, port, sharding, mesh, 2)) { // 2: one slice per dimension
    auto slice = cast<base::SliceAttr>(a);
    base::RankValueAttr at = slice.getStart();
    int64_t start = state && !state.getStart().empty() ? state.getStart()[slices.size()] : 0;
    slices.push_back(base::SliceAttr::get(
        builder.getContext(),
        base::RankValueAttr::get(builder.getContext(), start, at.getAxes(), at.getStrides(), 0, 0),
        slice.getSize()));
  }
  InitializeOp::create(atEnd(), loc, builder.getStringAttr(port.name()), storage.view(),
                       ElementsAttr(), FlatSymbolRefAttr::get(builder.getContext(), source),
                       builder.getArrayAttr(slices), TypeAttr::get(port.type));
}

FailureOr<Storage> ProgramBuilder::argument(func::FuncOp f, unsigned i) {
  Port port = argumentPort(f, i);
  if (port.attrs && port.attrs.contains(dist::savedAttr))
    return savedPort(port);
  if (port.name().empty() || port.kind().empty())
    return f.emitOpError() << "argument " << i
                           << " has no base.name or no base.kind; every argument needs both "
                              "(docs/conventions.md)";
  return port.kind() == "state" ? statePort(port, f.getLoc()) : ioPort(port, f.getLoc(), false);
}

FailureOr<Storage> ProgramBuilder::result(func::FuncOp f, unsigned i) {
  Port port = resultPort(f, i);
  if (port.attrs && port.attrs.contains(dist::savedAttr))
    return savedPort(port);
  if (port.name().empty() || port.kind().empty())
    return f.emitOpError() << "result " << i
                           << " has no base.name or no base.kind; every result needs both "
                              "(docs/conventions.md)";
  if (port.kind() != "state") {
    if (io.count("in:" + port.name().str()) || states.count(port.name().str()))
      return f.emitError() << "output '" << port.name()
                           << "' is also an input or a state of the model; plans tell tensors apart "
                              "by name: give the output a name of its own (an Identity node)";
    return ioPort(port, f.getLoc(), true);
  }
  if (port.attrs.getAs<IntegerAttr>(base::aliasAttr))
    return statePort(port, f.getLoc());
  return f.emitOpError() << "state result " << i << " ('" << port.name()
                         << "') has no base.alias; name the argument it overwrites";
}

Storage ProgramBuilder::savedPort(const Port &port) {
  std::string key;
  llvm::raw_string_ostream(key) << port.attrs.get(dist::savedAttr);
  auto [it, isNew] = saved.try_emplace(key);
  if (isNew)
    it->second = makeBuffer("saved", BufferKind::Saved, byteSize(port.type), inFlight);
  return it->second;
}

Storage ProgramBuilder::weight(graph::WeightOp op) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << op.getKeyAttr() << op.getType();
  for (int64_t s : op.getStart())
    os << ',' << s;
  auto [it, isNew] = weights.try_emplace(key);
  if (!isNew)
    return it->second;
  it->second = makeBuffer("w", BufferKind::Weight, byteSize(op.getResult().getType()));
  SmallVector<Attribute> slices;
  auto type = cast<RankedTensorType>(op.getResult().getType());
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    slices.push_back(base::SliceAttr::get(
        op.getContext(),
        base::RankValueAttr::constant(op.getContext(), op.getStart().empty() ? 0 : op.getStart()[d]),
        size));
  InitializeOp::create(atEnd(), op.getLoc(), builder.getStringAttr(op.getKey()), it->second.view(),
                       ElementsAttr(), op.getKeyAttr(), builder.getArrayAttr(slices),
                       TypeAttr::get(type));
  return it->second;
}

Storage ProgramBuilder::constant(graph::ConstantOp op) {
  auto [it, isNew] = constants.try_emplace(op.getValueAttr());
  if (!isNew)
    return it->second;
  Type type = op.getResult().getType();
  Storage storage = makeBuffer("c", BufferKind::Weight, byteSize(type));
  InitializeOp::create(atEnd(), op.getLoc(), builder.getStringAttr("constant"), storage.view(),
                       op.getValueAttr(), FlatSymbolRefAttr(), builder.getArrayAttr({}),
                       TypeAttr::get(type));
  return constants[op.getValueAttr()] = storage;
}

Storage ProgramBuilder::axisIndex(dist::AxisIndexOp op) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << op.getAxes() << '*' << op.getScale();
  auto [it, isNew] = rankConstants.try_emplace(key);
  if (!isNew)
    return it->second;
  it->second = makeBuffer("r", BufferKind::Weight, 8);
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> strides;
  int64_t stride = op.getScale();
  for (Attribute axis : llvm::reverse(op.getAxes())) {
    axes.push_back(cast<StringAttr>(axis));
    strides.push_back(stride);
    stride *= mesh.axisSize(cast<StringAttr>(axis).str());
  }
  RankConstantOp::create(atEnd(), op.getLoc(), it->second.view(),
                         base::RankValueAttr::get(op.getContext(), 0, axes, strides, 0, 0));
  return it->second;
}
