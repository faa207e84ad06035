//===- CudaProgram.cpp - Capture, replay, taps and traces -----------------===//
#include "drivers/CudaProgram.h"

#include "core/DType.h"
#include "session/Trace.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

using namespace gpucc::rt;

CudaExecutable::~CudaExecutable() {
  if (device.enter())
    return;
  for (auto &[script, list] : items)
    for (Item &item : list)
      if (item.exec)
        cuda.fn.cuGraphExecDestroy(item.exec);
  for (cuda::Event event : events)
    cuda.fn.cuEventDestroy(event);
  for (cuda::Event event : boundary)
    cuda.fn.cuEventDestroy(event);
  for (const Span &span : spans) {
    cuda.fn.cuEventDestroy(span.begin);
    cuda.fn.cuEventDestroy(span.end);
  }
  if (traceBegin)
    cuda.fn.cuEventDestroy(traceBegin);
  for (cuda::Stream stream : streams)
    cuda.fn.cuStreamDestroy(stream);
  if (outboxStream)
    cuda.fn.cuStreamDestroy(outboxStream);
  if (outboxEvent)
    cuda.fn.cuEventDestroy(outboxEvent);
  if (outbox)
    cuda.fn.cuMemFree(outbox);
}

Status CudaExecutable::fail(Status status, const plan::Segment &segment, uint32_t index) const {
  const auto *name = segment.commands()->Get(index)->name();
  return std::move(status).prefixed(concat("rank ", context.rank->rank, ", '",
                                           name ? name->c_str() : "?", "' (segment ",
                                           segment.name()->c_str(), ", command ", index, ")"));
}

Status CudaExecutable::newEvent(cuda::Event &event, unsigned flags) {
  return check(cuda.fn.cuEventCreate(&event, flags), "cuEventCreate");
}

Status CudaExecutable::prepareKernels() {
  const plan::Plan &index = context.plan->index();
  kernels.resize(index.kernels() ? index.kernels()->size() : 0);
  if (!context.program->segments())
    return {};
  for (const plan::Segment *segment : *context.program->segments())
    for (uint32_t c = 0; segment->commands() && c < segment->commands()->size(); ++c) {
      const plan::Command &command = *segment->commands()->Get(c);
      if (command.body_type() == plan::CommandBody::Collective)
        hasCollectives = true;
      Status status;
      if (command.body_type() == plan::CommandBody::Launch) {
        const uint32_t id = command.body_as_Launch()->kernel();
        if (!kernels[id].function)
          status = device.find(*context.plan, *index.kernels()->Get(id), kernels[id].variant,
                               kernels[id].function);
      } else if (command.body_type() == plan::CommandBody::LibraryCall)
        status = GPUCC_RT_FAIL(Code::unsupported,
                               "the cuda driver has no library calls; recompile the model with "
                               "--target cuda:...");
      if (status)
        return fail(std::move(status), *segment, c);
    }
  if (hasCollectives && context.world && !context.world->onDevice())
    return GPUCC_RT_FAIL(Code::unsupported, "the world '", context.world->name(),
                         "' works on host memory; ranks on CUDA devices need the world 'nccl'");
  return {};
}

/// Consecutive steps of capturable segments are one graph.
std::vector<CudaExecutable::Item> &CudaExecutable::itemsOf(const plan::Script &script) {
  std::vector<Item> &list = items[&script];
  if (!list.empty())
    return list;
  for (uint32_t s = 0; s < script.steps()->size(); ++s) {
    const plan::Segment &segment =
        *context.program->segments()->Get(script.steps()->Get(s)->segment());
    const bool graph = segment.capturable() && !noGraphs;
    if (!list.empty() && list.back().graph == graph)
      list.back().last = s + 1;
    else
      list.push_back({s, s + 1, graph, nullptr, 0});
  }
  return list;
}

Status CudaExecutable::prepare() {
  GPUCC_RT_TRY(device.enter());
  GPUCC_RT_TRY(prepareKernels());
  const plan::Program &program = *context.program;
  for (uint32_t s = 0; s < program.streams()->size(); ++s) {
    streams.emplace_back();
    GPUCC_RT_TRY(
        check(cuda.fn.cuStreamCreate(&streams.back(), cuda::streamNonBlocking), "cuStreamCreate"));
    boundary.emplace_back();
    GPUCC_RT_TRY(newEvent(boundary.back(), cuda::eventDisableTiming));
  }
  for (uint32_t e = 0; e < program.events(); ++e) {
    events.emplace_back();
    GPUCC_RT_TRY(newEvent(events.back(), cuda::eventDisableTiming));
  }
  recordedIn.resize(program.events());
  GPUCC_RT_TRY(prepareOutbox());
  // Graphs of every script now: execute() must not have to make anything.
  if (program.scripts())
    for (const plan::Script *script : *program.scripts()) {
      Run run;
      run.script = script;
      run.addresses = context.addresses;
      for (Item &item : itemsOf(*script))
        if (item.graph)
          GPUCC_RT_TRY(capture(run, item));
    }
  return {};
}

/// One place for each send of each step, which no other send uses; scripts that have the same send in
/// the same step share it, because they run one after the other.
Status CudaExecutable::prepareOutbox() {
  constexpr uint64_t alignment = 256;
  const plan::Program &program = *context.program;
  uint64_t bytes = 0;
  for (const plan::Script *script : *program.scripts())
    for (uint32_t s = 0; s < script->steps()->size(); ++s) {
      const plan::Segment &segment = *program.segments()->Get(script->steps()->Get(s)->segment());
      for (uint32_t c = 0; segment.commands() && c < segment.commands()->size(); ++c) {
        const plan::Command *command = segment.commands()->Get(c);
        const plan::Collective *call = command->body_as_Collective();
        if (!call || call->kind() != plan::CollectiveKind::send)
          continue;
        if (!outboxPlaces.try_emplace({s, command}, bytes).second)
          continue;
        bytes += (dtypeBytes(call->dtype(), call->count()) + alignment - 1) / alignment * alignment;
      }
    }
  if (!bytes)
    return {};
  GPUCC_RT_TRY(check(cuda.fn.cuMemAlloc(&outbox, bytes), "cuMemAlloc")
                   .prefixed(concat("outbox of sends, ", bytes, " bytes")));
  GPUCC_RT_TRY(
      check(cuda.fn.cuStreamCreate(&outboxStream, cuda::streamNonBlocking), "cuStreamCreate"));
  return newEvent(outboxEvent, cuda::eventDisableTiming);
}

Status CudaExecutable::joinOutbox() {
  if (!outboxUsed)
    return {};
  outboxUsed = false;
  GPUCC_RT_TRY(check(cuda.fn.cuEventRecord(outboxEvent, outboxStream), "cuEventRecord"));
  return check(cuda.fn.cuStreamWaitEvent(streams[0], outboxEvent, 0), "cuStreamWaitEvent");
}

Status CudaExecutable::capture(const Run &run, Item &item) {
  ++issueNumber;
  GPUCC_RT_TRY(check(cuda.fn.cuStreamBeginCapture(streams[0], cuda::captureThreadLocal),
                     "cuStreamBeginCapture"));
  Status status;
  for (stepIndex = item.first; stepIndex < item.last && !status; ++stepIndex)
    status = runStep(run, *run.script->steps()->Get(stepIndex), /*tapsAndTrace=*/false);
  if (!status)
    status = joinOutbox();
  cuda::Graph graph = nullptr;
  // Ended also after an error, so that the streams are usable again.
  Status end = check(cuda.fn.cuStreamEndCapture(streams[0], &graph), "cuStreamEndCapture");
  if (!status)
    status = std::move(end);
  if (status)
    return status;
  if (item.exec) {
    cuda::GraphUpdateResult result{};
    if (cuda.fn.cuGraphExecUpdate(item.exec, graph, &result)) {
      cuda.fn.cuGraphExecDestroy(item.exec);
      item.exec = nullptr;
    }
  }
  if (!item.exec)
    status = check(cuda.fn.cuGraphInstantiateWithFlags(&item.exec, graph, 0),
                   "cuGraphInstantiateWithFlags");
  cuda.fn.cuGraphDestroy(graph);
  item.version = run.bindingVersion;
  return status;
}

Status CudaExecutable::fork() {
  GPUCC_RT_TRY(check(cuda.fn.cuEventRecord(boundary[0], streams[0]), "cuEventRecord"));
  for (size_t s = 1; s < streams.size(); ++s)
    GPUCC_RT_TRY(check(cuda.fn.cuStreamWaitEvent(streams[s], boundary[0], 0), "cuStreamWaitEvent"));
  return {};
}
Status CudaExecutable::join() {
  for (size_t s = 1; s < streams.size(); ++s) {
    GPUCC_RT_TRY(check(cuda.fn.cuEventRecord(boundary[s], streams[s]), "cuEventRecord"));
    GPUCC_RT_TRY(check(cuda.fn.cuStreamWaitEvent(streams[0], boundary[s], 0), "cuStreamWaitEvent"));
  }
  return {};
}

Status CudaExecutable::runDirect(const Run &run, const Item &item) {
  ++issueNumber;
  GPUCC_RT_TRY(fork());
  for (stepIndex = item.first; stepIndex < item.last; ++stepIndex)
    GPUCC_RT_TRY(runStep(run, *run.script->steps()->Get(stepIndex), /*tapsAndTrace=*/true));
  return join();
}

Status CudaExecutable::runStep(const Run &run, const plan::Step &step, bool tapsAndTrace) {
  const plan::Segment &segment = *context.program->segments()->Get(step.segment());
  const uint32_t count = segment.commands() ? segment.commands()->size() : 0;
  for (uint32_t c = 0; c < count; ++c) {
    const plan::Command &command = *segment.commands()->Get(c);
    const bool works = command.body_type() != plan::CommandBody::EventRecord &&
                       command.body_type() != plan::CommandBody::EventWait;
    cuda::Stream stream = streams[command.stream()];
    Span span{&command, step.slot(), nullptr, nullptr};
    if (tapsAndTrace && run.trace && works) {
      GPUCC_RT_TRY(newEvent(span.begin, 0));
      GPUCC_RT_TRY(newEvent(span.end, 0));
      GPUCC_RT_TRY(check(cuda.fn.cuEventRecord(span.begin, stream), "cuEventRecord"));
    }
    if (Status status = issue(run, command, step.slot()))
      return fail(std::move(status), segment, c);
    if (span.begin) {
      GPUCC_RT_TRY(check(cuda.fn.cuEventRecord(span.end, stream), "cuEventRecord"));
      spans.push_back(span);
    }
    if (tapsAndTrace && run.taps)
      GPUCC_RT_TRY(takeTaps(run, step.segment(), c, step.slot(), stream));
  }
  return {};
}

Status CudaExecutable::takeTaps(const Run &run, uint32_t segment, uint32_t index, uint32_t slot,
                                cuda::Stream stream) {
  for (const TapRequest &tap : *run.taps) {
    if (tap.segment != segment || tap.command != index)
      continue;
    const char *source = run.addresses->buffer(tap.buffer, slot) + tap.offset;
    std::vector<char> &copy = (*tap.slots)[std::min<size_t>(slot, tap.slots->size() - 1)];
    GPUCC_RT_TRY(check(cuda.fn.cuMemcpyAsync(reinterpret_cast<cuda::DevicePointer>(copy.data()),
                                             reinterpret_cast<cuda::DevicePointer>(source),
                                             tap.bytes, stream),
                       "cuMemcpyAsync"));
  }
  return {};
}

Status CudaExecutable::submit(const Run &run) {
  GPUCC_RT_TRY(device.enter());
  const bool oneByOne = run.trace || run.taps;
  if (run.trace) {
    trace = run.trace;
    if (!traceBegin)
      GPUCC_RT_TRY(newEvent(traceBegin, 0));
    traceBase = Trace::now();
    GPUCC_RT_TRY(check(cuda.fn.cuEventRecord(traceBegin, streams[0]), "cuEventRecord"));
  }
  for (Item &item : itemsOf(*run.script)) {
    if (!item.graph || oneByOne) {
      GPUCC_RT_TRY(runDirect(run, item));
      continue;
    }
    if (item.version != run.bindingVersion || !item.exec)
      GPUCC_RT_TRY(capture(run, item));
    GPUCC_RT_TRY(check(cuda.fn.cuGraphLaunch(item.exec, streams[0]), "cuGraphLaunch"));
  }
  return joinOutbox(); // of sends outside graphs
}

Status CudaExecutable::collectTrace() {
  for (const Span &span : spans) {
    float begin = 0, end = 0;
    GPUCC_RT_TRY(
        check(cuda.fn.cuEventElapsedTime(&begin, traceBegin, span.begin), "cuEventElapsedTime"));
    GPUCC_RT_TRY(
        check(cuda.fn.cuEventElapsedTime(&end, traceBegin, span.end), "cuEventElapsedTime"));
    const auto *name = span.command->name();
    auto nanoseconds = [](float ms) { return static_cast<int64_t>(double(ms) * 1e6); };
    trace->add({name ? name->str() : "?", plan::EnumNameCommandBody(span.command->body_type()),
                span.command->stream(), span.slot, traceBase + nanoseconds(begin),
                nanoseconds(end) - nanoseconds(begin)});
    cuda.fn.cuEventDestroy(span.begin);
    cuda.fn.cuEventDestroy(span.end);
  }
  spans.clear();
  return {};
}

Status CudaExecutable::finish() {
  GPUCC_RT_TRY(device.enter());
  Status status;
  if (!hasCollectives || !context.world)
    status = check(cuda.fn.cuStreamSynchronize(streams[0]), "cuStreamSynchronize");
  else
    // A collective may hang because another rank failed: look from time to time.
    for (int result = cuda::notReady; result == cuda::notReady && !status;) {
      result = cuda.fn.cuStreamQuery(streams[0]);
      if (result == cuda::notReady) {
        bool timedOut = false;
        status = context.world->waitForProgress(static_cast<int>(context.rank->rank), timedOut);
        if (!status && timedOut)
          status = GPUCC_RT_FAIL(Code::communication, "rank ", context.rank->rank,
                                 ": a collective does not finish; another rank may be gone");
      } else if ((status = check(result, "cuStreamQuery"))) {
        // When another rank failed first, its error says more than the collective that it broke.
        bool timedOut = false;
        if (Status cause =
                context.world->waitForProgress(static_cast<int>(context.rank->rank), timedOut))
          status = std::move(cause);
      }
    }
  if (!status)
    return collectTrace();
  spans.clear();
  if (context.world)
    context.world->abort(static_cast<int>(context.rank->rank), status.message());
  return status;
}
