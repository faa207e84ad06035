//===- VerifyCommands.cpp - Each kind of command
//------------------------------------------------===//
#include "plan/RankContext.h"
#include "plan/Verify.h"

using namespace gpucc::rt;
using namespace gpucc::rt::verify;

static Status checkLaunch(const plan::Plan &plan, const plan::Program &program,
                          const plan::Launch &launch) {
  GPUCC_RT_REQUIRE(launch.kernel() < length(plan.kernels()), "kernel ", launch.kernel());
  const plan::Kernel &kernel = *plan.kernels()->Get(launch.kernel());
  GPUCC_RT_REQUIRE(length(launch.arguments()) == length(kernel.arguments()),
                   length(launch.arguments()), " arguments, kernel '", kernel.name()->str(),
                   "' has ", length(kernel.arguments()));
  return forEach(launch.arguments(), "arguments",
                 [&](const plan::Argument &argument, uint32_t i) -> Status {
                   const plan::KernelArgument &parameter = *kernel.arguments()->Get(i);
                   GPUCC_RT_REQUIRE(parameter.scalar() == !argument.view(), "a ",
                                    parameter.scalar() ? "view where the kernel takes a scalar"
                                                       : "scalar where the kernel takes a view");
                   if (!argument.view())
                     return rankValue(argument.value(), *plan.stages()->Get(program.stage()));
                   GPUCC_RT_TRY(view(program, argument.view()));
                   GPUCC_RT_REQUIRE(argument.view()->size() >= parameter.bytes(), "a view of ",
                                    argument.view()->size(), " bytes, the kernel accesses ",
                                    parameter.bytes());
                   const plan::Buffer &buffer = *program.buffers()->Get(argument.view()->buffer());
                   const plan::Arena &arena =
                       *plan.stages()->Get(program.stage())->arenas()->Get(buffer.arena());
                   uint64_t alignment = parameter.alignment();
                   bool aligned = (buffer.offset() + argument.view()->offset()) % alignment == 0 &&
                                  alignment <= arena.alignment() &&
                                  (buffer.slots() == 1 || buffer.slot_stride() % alignment == 0);
                   GPUCC_RT_REQUIRE(aligned, "the view is not aligned to the ", alignment,
                                    " bytes that the kernel relies on");
                   return {};
                 });
}

static Status checkCopy(const plan::Program &program, const plan::Copy &copy) {
  auto side = [&](const plan::View *v, uint64_t pitch) -> Status {
    GPUCC_RT_TRY(view(program, v));
    if (copy.rows() == 0)
      return {};
    uint64_t reach = 0;
    bool overflow = __builtin_mul_overflow(copy.rows() - 1, pitch, &reach);
    GPUCC_RT_REQUIRE(!overflow && copy.bytes() <= v->size() && reach <= v->size() - copy.bytes(),
                     copy.rows(), " rows of ", copy.bytes(), " bytes, pitch ", pitch,
                     ", leave the view of ", v->size());
    GPUCC_RT_REQUIRE(copy.rows() == 1 || pitch >= copy.bytes(), "rows overlap");
    return {};
  };
  GPUCC_RT_TRY(side(copy.source(), copy.source_pitch()).prefixed("source"));
  return side(copy.destination(), copy.destination_pitch()).prefixed("destination");
}

static Status checkFill(const plan::Program &program, const plan::Fill &fill) {
  uint32_t n = fill.pattern_size();
  GPUCC_RT_REQUIRE(n == 1 || n == 2 || n == 4 || n == 8, "a pattern of ", n, " bytes");
  GPUCC_RT_TRY(view(program, fill.destination()));
  GPUCC_RT_REQUIRE(fill.destination()->size() % n == 0, fill.destination()->size(),
                   " bytes are no multiple of the pattern's ", n);
  return {};
}

static uint64_t communicatorSize(const plan::Plan &plan, const plan::Communicator &entry) {
  const plan::Stage &stage = *plan.stages()->Get(entry.stage());
  if (entry.kind() == plan::CommunicatorKind::stage_pair)
    return uint64_t(stageRanks(stage)) + stageRanks(*plan.stages()->Get(entry.to_stage()));
  uint64_t size = 1;
  for (uint32_t i = 0; i < length(entry.axes()); ++i)
    size *= stage.axes()->Get(entry.axes()->Get(i))->size();
  return size;
}

static Status checkCollective(const plan::Plan &plan, const plan::Program &program,
                              const plan::Collective &call) {
  using Kind = plan::CollectiveKind;
  GPUCC_RT_REQUIRE(inRange(call.kind(), Kind::MAX) &&
                       inRange(call.reduce(), plan::ReduceKind::MAX) &&
                       inRange(call.dtype(), plan::DType::MAX),
                   "unknown kind, reduction or element type");
  GPUCC_RT_REQUIRE(call.communicator() < length(plan.communicators()), "communicator ",
                   call.communicator());
  const plan::Communicator &entry = *plan.communicators()->Get(call.communicator());
  bool member = entry.stage() == program.stage() ||
                (entry.kind() == plan::CommunicatorKind::stage_pair &&
                 static_cast<uint32_t>(entry.to_stage()) == program.stage());
  GPUCC_RT_REQUIRE(member, "communicator '", entry.name()->str(), "' has no ranks of stage ",
                   program.stage());
  GPUCC_RT_REQUIRE(call.count() <= maxBytes, "count ", call.count());
  bool reduces = call.kind() == Kind::all_reduce || call.kind() == Kind::reduce_scatter;
  GPUCC_RT_REQUIRE(!reduces || canCast(call.dtype(), DType::f64) || call.dtype() == DType::f64,
                   "cannot reduce ", dtypeName(call.dtype()));
  uint64_t n = communicatorSize(plan, entry);
  bool takesAll = call.kind() == Kind::reduce_scatter || call.kind() == Kind::all_to_all;
  bool givesAll = call.kind() == Kind::all_gather || call.kind() == Kind::all_to_all;
  bool hasInput = call.kind() != Kind::recv, hasOutput = call.kind() != Kind::send;
  auto side = [&](const plan::View *v, bool needed, bool all) -> Status {
    GPUCC_RT_REQUIRE(v || !needed, "missing");
    if (!v || !needed)
      return {};
    GPUCC_RT_TRY(view(program, v));
    uint64_t bytes = dtypeBytes(call.dtype(), call.count()), total = 0;
    bool overflow = __builtin_mul_overflow(bytes, all ? n : 1, &total);
    GPUCC_RT_REQUIRE(!overflow && total <= v->size(), total, " bytes needed, the view has ",
                     v->size());
    return {};
  };
  GPUCC_RT_TRY(side(call.input(), hasInput, takesAll).prefixed("input"));
  GPUCC_RT_TRY(side(call.output(), hasOutput, givesAll).prefixed("output"));
  const plan::Stage &stage = *plan.stages()->Get(program.stage());
  GPUCC_RT_REQUIRE(call.kind() < Kind::broadcast || call.kind() == Kind::permute || call.peer(),
                   "no peer");
  GPUCC_RT_TRY(rankValue(call.peer(), stage).prefixed("peer"));
  return rankValue(call.source(), stage).prefixed("source");
}

Status verify::command(const plan::Plan &plan, const plan::Program &program,
                       const plan::Command &command) {
  GPUCC_RT_REQUIRE(command.stream() < program.streams()->size(), "stream ", command.stream(),
                   ", the program has ", program.streams()->size());
  auto event = [&](uint32_t id) -> Status {
    GPUCC_RT_REQUIRE(id < program.events(), "event ", id, ", the program has ", program.events());
    return {};
  };
  switch (command.body_type()) {
  case plan::CommandBody::Launch:
    return checkLaunch(plan, program, *command.body_as_Launch());
  case plan::CommandBody::LibraryCall:
    return libraryCall(plan, program, *command.body_as_LibraryCall());
  case plan::CommandBody::Copy:
    return checkCopy(program, *command.body_as_Copy());
  case plan::CommandBody::Fill:
    return checkFill(program, *command.body_as_Fill());
  case plan::CommandBody::Collective:
    return checkCollective(plan, program, *command.body_as_Collective());
  case plan::CommandBody::EventRecord:
    return event(command.body_as_EventRecord()->event());
  case plan::CommandBody::EventWait:
    return event(command.body_as_EventWait()->event());
  case plan::CommandBody::NONE:
    break;
  }
  return GPUCC_RT_FAIL(Code::invalidPlan, "unknown kind of command (",
                       static_cast<int>(command.body_type()), ")");
}
