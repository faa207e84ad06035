//===- Commands.cpp - commands of `plan` as tables of plan.fbs ------------===//
#include "Commands.h"

#include "gpucc/Support/Types.h"

using namespace mlir;
using namespace gpucc;

/// The enumerator of plan.fbs with this name; names are equal by construction (Commands.td).
template <typename E, size_t N>
static E byName(StringRef name, const E (&values)[N], const char *(*nameOf)(E)) {
  for (E e : values)
    if (name == nameOf(e))
      return e;
  llvm_unreachable("verified by the op");
}

static std::vector<int64_t> list(DictionaryAttr config, StringRef name) {
  auto attr = config.getAs<DenseI64ArrayAttr>(name);
  return attr ? attr.asArrayRef().vec() : std::vector<int64_t>();
}

fb::View CommandWriter::view(base::ViewAttr attr) const {
  return {buffers.at(attr.getBuffer().getValue()), static_cast<uint64_t>(attr.getOffset()),
          static_cast<uint64_t>(attr.getBytes())};
}

std::unique_ptr<fb::OperandT> CommandWriter::operand(base::OperandAttr attr, bool constant) const {
  auto t = std::make_unique<fb::OperandT>();
  t->view = std::make_unique<fb::View>(view(attr.getView()));
  t->dtype = toPlan(*toDType(attr.getType().getElementType()));
  t->dims = attr.getType().getShape().vec();
  t->strides = attr.getStrides().vec();
  t->constant = constant;
  return t;
}

LogicalResult CommandWriter::launch(plan::LaunchOp op, fb::CommandT &command) {
  auto kernel = kernels.find(op.getKernel().str());
  if (kernel == kernels.end())
    return op.emitOpError() << "runs kernel @" << op.getKernel() << ", which has no code";
  fb::LaunchT t;
  t.kernel = kernel->second;
  for (Attribute a : op.getViews()) {
    auto argument = std::make_unique<fb::ArgumentT>();
    argument->view = std::make_unique<fb::View>(view(cast<base::ViewAttr>(a)));
    t.arguments.push_back(std::move(argument));
  }
  for (Attribute a : op.getScalars().value_or(ArrayAttr::get(op.getContext(), {}))) {
    auto argument = std::make_unique<fb::ArgumentT>();
    if (auto value = dyn_cast<base::RankValueAttr>(a))
      argument->value = toPlan(value, program.getMesh());
    else
      argument->scalar = cast<IntegerAttr>(a).getInt();
    t.arguments.push_back(std::move(argument));
  }
  command.body.Set(std::move(t));
  return success();
}

LogicalResult CommandWriter::libraryCall(plan::LibraryCallOp op, fb::CommandT &command) {
  DictionaryAttr config = op.getConfig();
  fb::LibraryCallT t;
  t.kind = byName(op.getKind(), fb::EnumValuesLibraryKind(), fb::EnumNameLibraryKind);
  std::vector<int64_t> constants = list(config, "constant");
  for (auto [i, a] : llvm::enumerate(op.getArgs()))
    t.operands.push_back(
        operand(cast<base::OperandAttr>(a), llvm::is_contained(constants, static_cast<int64_t>(i))));
  if (auto bias = config.getAs<base::OperandAttr>("bias"))
    t.bias = operand(bias, false);
  t.strides = list(config, "strides");
  t.dilations = list(config, "dilations");
  t.pads_begin = list(config, "pads_begin");
  t.pads_end = list(config, "pads_end");
  t.window = list(config, "window");
  if (auto groups = config.getAs<IntegerAttr>("groups"))
    t.groups = groups.getInt();
  if (auto math = config.getAs<StringAttr>("math"))
    t.math = byName(math.getValue(), fb::EnumValuesMathMode(), fb::EnumNameMathMode);
  if (config.contains("accumulate")) {
    auto post = std::make_unique<fb::PostOpT>();
    post->kind = fb::PostOpKind::accumulate;
    post->alpha = 1;
    t.post_ops.push_back(std::move(post));
  }
  if (auto posts = config.getAs<ArrayAttr>("post_ops"))
    for (Attribute a : posts)
      postOp(cast<DictionaryAttr>(a), t);
  command.body.Set(std::move(t));
  return success();
}

void CommandWriter::postOp(DictionaryAttr config, fb::LibraryCallT &call) {
  auto post = std::make_unique<fb::PostOpT>();
  auto number = [&](StringRef key) {
    auto value = config.getAs<FloatAttr>(key);
    return value ? static_cast<float>(value.getValueAsDouble()) : 0.0f;
  };
  post->kind = byName(config.getAs<StringAttr>("kind").getValue(), fb::EnumValuesPostOpKind(),
                      fb::EnumNamePostOpKind);
  post->alpha = number("alpha");
  post->beta = number("beta");
  if (auto attr = config.getAs<base::OperandAttr>("operand")) {
    post->operand = static_cast<int32_t>(call.extra_operands.size());
    call.extra_operands.push_back(operand(attr, false));
  }
  call.post_ops.push_back(std::move(post));
}

/// Index of the communicator over these axes of the stage, or between two stages; made when new.
uint32_t CommandWriter::communicator(plan::CollectiveOp op) {
  fb::CommunicatorT wanted;
  wanted.stage = static_cast<uint32_t>(program.getStage());
  if (auto peer = op.getPeerStage()) {
    bool send = op.getKind() == "send";
    auto other = static_cast<uint32_t>(*peer);
    wanted.kind = fb::CommunicatorKind::stage_pair;
    wanted.to_stage = static_cast<int32_t>(send ? other : wanted.stage);
    wanted.stage = send ? wanted.stage : other;
    wanted.name = "stage" + std::to_string(wanted.stage) + "->stage" + std::to_string(wanted.to_stage);
  } else {
    wanted.name = "stage" + std::to_string(wanted.stage) + ":";
    for (Attribute axis : op.getAxes()) {
      auto index = llvm::find(program.getMesh(), axis) - program.getMesh().begin();
      wanted.axes.push_back(static_cast<uint32_t>(index));
      wanted.name += (wanted.axes.size() > 1 ? "," : "") + cast<StringAttr>(axis).str();
    }
    llvm::sort(wanted.axes);
  }
  for (auto [i, c] : llvm::enumerate(plan.communicators))
    if (c->kind == wanted.kind && c->stage == wanted.stage && c->to_stage == wanted.to_stage &&
        c->axes == wanted.axes)
      return static_cast<uint32_t>(i);
  plan.communicators.push_back(std::make_unique<fb::CommunicatorT>(std::move(wanted)));
  return static_cast<uint32_t>(plan.communicators.size() - 1);
}

LogicalResult CommandWriter::collective(plan::CollectiveOp op, fb::CommandT &command) {
  fb::CollectiveT t;
  t.kind = byName(op.getKind(), fb::EnumValuesCollectiveKind(), fb::EnumNameCollectiveKind);
  if (!llvm::is_contained({"sum", "max", "min", "mean"}, op.getReduce()))
    return op.emitOpError() << "reduces by '" << op.getReduce()
                            << "'; communicators know sum, max, min and mean";
  t.reduce = byName(op.getReduce(), fb::EnumValuesReduceKind(), fb::EnumNameReduceKind);
  t.communicator = communicator(op);
  t.dtype = toPlan(*toDType(op.getType()));
  t.count = op.getCount();
  if (auto input = op.getInput())
    t.input = std::make_unique<fb::View>(view(*input));
  if (auto output = op.getOutput())
    t.output = std::make_unique<fb::View>(view(*output));
  if (auto peer = op.getPeer())
    t.peer = toPlan(*peer, program.getMesh());
  if (auto source = op.getSource())
    t.source = toPlan(*source, program.getMesh());
  if (op.getPeerStage()) { // the rank with the same coordinates, as a member of the pair
    int64_t index = 1;
    t.peer = std::make_unique<fb::RankValueT>();
    for (size_t axis = program.getMeshShape().size(); axis-- > 0;) {
      t.peer->terms.emplace_back(static_cast<uint32_t>(axis), index);
      index *= program.getMeshShape()[axis];
    }
    t.peer->base = op.getKind() == "send" ? index : 0;
  }
  command.body.Set(std::move(t));
  return success();
}

FailureOr<std::unique_ptr<fb::CommandT>> CommandWriter::write(Operation *op) {
  auto command = std::make_unique<fb::CommandT>();
  if (auto name = op->getAttrOfType<StringAttr>("name"))
    command->name = name.str();
  if (auto stream = op->getAttrOfType<IntegerAttr>("stream"))
    command->stream = static_cast<uint32_t>(stream.getInt());
  auto event = [&](int64_t index) {
    events = std::max(events, static_cast<uint32_t>(index + 1));
    return static_cast<uint32_t>(index);
  };
  LogicalResult result =
      TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](plan::LaunchOp o) { return launch(o, *command); })
          .Case([&](plan::LibraryCallOp o) { return libraryCall(o, *command); })
          .Case([&](plan::CollectiveOp o) { return collective(o, *command); })
          .Case([&](plan::CopyOp o) {
            fb::CopyT t;
            t.source = std::make_unique<fb::View>(view(o.getSource()));
            t.destination = std::make_unique<fb::View>(view(o.getDestination()));
            t.bytes = o.getBytes();
            t.rows = o.getRows();
            t.source_pitch = o.getSourcePitch();
            t.destination_pitch = o.getDestinationPitch();
            command->body.Set(std::move(t));
            return success();
          })
          .Case([&](plan::FillOp o) {
            fb::FillT t;
            t.destination = std::make_unique<fb::View>(view(o.getDestination()));
            t.pattern = o.getPattern();
            t.pattern_size = static_cast<uint32_t>(o.getPatternSize());
            command->body.Set(std::move(t));
            return success();
          })
          .Case([&](plan::EventRecordOp o) {
            fb::EventRecordT t;
            t.event = event(o.getEvent());
            command->body.Set(std::move(t));
            return success();
          })
          .Case([&](plan::EventWaitOp o) {
            fb::EventWaitT t;
            t.event = event(o.getEvent());
            command->body.Set(std::move(t));
            return success();
          })
          .Default([](Operation *o) { return o->emitOpError() << "is no command of the plan"; });
  if (failed(result))
    return failure();
  return command;
}
