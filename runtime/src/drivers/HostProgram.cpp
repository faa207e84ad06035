//===- HostProgram.cpp - Running the commands of one rank on the host
//---------------------------===//
#include "drivers/HostProgram.h"

#include "drivers/ParallelFor.h"
#include "session/Trace.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace gpucc::rt;

Place::Place(const AddressTable &addresses, const plan::View &view) {
  const plan::Buffer &b = *addresses.program->buffers()->Get(view.buffer());
  base = addresses.arenas[b.arena()] + b.offset() + view.offset();
  offset = view.offset();
  stride = b.slot_stride();
  buffer = view.buffer();
  slots = b.slots();
  bindable = b.bindable();
}

HostExecutable::HostExecutable(const ProgramContext &context, int threads)
    : context(context), threads(threads) {}

Status HostExecutable::prepare(HostImages &images, PackedWeights &packed,
                               std::vector<PackedOperand> *record) {
  HostContext host = {&context, &images, &packed, threads, record};
  ThreadCountScope scope(threads); // library primitives are made for so many threads
  const plan::Program &program = *context.program;
  streams.resize(program.streams()->size());
  recordsIssued.resize(program.events());
  recordsDone.resize(program.events());
  uint32_t count = program.segments() ? program.segments()->size() : 0;
  segments.resize(count);
  for (uint32_t s = 0; s < count; ++s) {
    const plan::Segment &segment = *program.segments()->Get(s);
    uint32_t commands = segment.commands() ? segment.commands()->size() : 0;
    for (uint32_t c = 0; c < commands; ++c) {
      Entry entry = {segment.commands()->Get(c), nullptr, s, c};
      Status status;
      switch (entry.source->body_type()) {
      case plan::CommandBody::Launch:
        status = makeLaunch(host, *entry.source->body_as_Launch(), entry.command);
        break;
      case plan::CommandBody::LibraryCall:
        status = makeLibraryCall(host, *entry.source->body_as_LibraryCall(), entry.command);
        break;
      case plan::CommandBody::Copy:
        entry.command = makeCopy(host, *entry.source->body_as_Copy());
        break;
      case plan::CommandBody::Fill:
        entry.command = makeFill(host, *entry.source->body_as_Fill());
        break;
      case plan::CommandBody::Collective:
        hasCollectives = true;
        break;
      default:
        break;
      }
      if (status)
        return fail(std::move(status), entry);
      if (entry.command) {
        entry.direct = entry.command->direct();
        usesPool = usesPool || entry.command->usesPool();
      }
      segments[s].push_back(std::move(entry));
    }
  }
  return {};
}

Status HostExecutable::fail(Status status, const Entry &entry) {
  const auto *name = entry.source->name();
  const plan::Segment &segment = *context.program->segments()->Get(entry.segment);
  return std::move(status).prefixed(
      concat("rank ", context.rank->rank, ", '", name ? name->c_str() : "?", "' (segment ",
             segment.name()->c_str(), ", command ", entry.index, ")"));
}

void HostExecutable::trace(const Run &run, const Entry &entry, uint32_t slot, int64_t begin) {
  const auto *name = entry.source->name();
  run.trace->add({name ? name->str() : "?", plan::EnumNameCommandBody(entry.source->body_type()),
                  entry.source->stream(), slot, begin, Trace::now() - begin});
}

Status HostExecutable::takeTaps(const Run &run, const Entry &entry, uint32_t slot) {
  for (const TapRequest &tap : *run.taps) {
    if (tap.segment != entry.segment || tap.command != entry.index)
      continue;
    const char *source = run.addresses->buffer(tap.buffer, slot) + tap.offset;
    std::vector<char> &copy = (*tap.slots)[std::min<size_t>(slot, tap.slots->size() - 1)];
    std::memcpy(copy.data(), source, tap.bytes);
  }
  return {};
}

Status HostExecutable::runEntry(const Run &run, const Entry &entry, uint32_t slot) {
  int64_t begin = run.trace ? Trace::now() : 0;
  if (entry.command) {
    if (Status status = entry.command->run(run, slot))
      return fail(std::move(status), entry);
    if (run.trace)
      trace(run, entry, slot, begin);
  }
  return run.taps ? takeTaps(run, entry, slot) : Status();
}

Status HostExecutable::startCollective(const Run &run, const Pending &pending, StreamState &stream,
                                       bool &done) {
  const plan::Collective &source = *pending.entry->source->body_as_Collective();
  Communicator *communicator = (*context.communicators)[source.communicator()].get();
  CollectiveCall call = {source.kind(),  source.reduce(), source.dtype(),
                         source.count(), nullptr,         nullptr};
  if (source.input())
    call.input = run.addresses->view(*source.input(), pending.slot);
  if (source.output())
    call.output = run.addresses->view(*source.output(), pending.slot);
  call.peer = source.peer() ? context.rank->evaluate(source.peer(), pending.slot) : -1;
  call.source = source.source() ? context.rank->evaluate(source.source(), pending.slot) : -1;
  call.name = pending.entry->source->name() ? pending.entry->source->name()->c_str() : "";
  if (run.trace)
    stream.begin = Trace::now();
  GPUCC_RT_TRY(communicator->start(call, nullptr, stream.request));
  done = stream.request == nullptr;
  return {};
}

/// Runs the front of a stream's queue, or finds that it must wait.
Status HostExecutable::tryFront(const Run &run, StreamState &stream, bool &done) {
  const Pending &pending = stream.queue.front();
  const Entry &entry = *pending.entry;
  done = true;
  switch (entry.source->body_type()) {
  case plan::CommandBody::EventRecord: {
    uint64_t &record = recordsDone[entry.source->body_as_EventRecord()->event()];
    record = std::max(record, pending.ticket);
    return {};
  }
  case plan::CommandBody::EventWait:
    done = recordsDone[entry.source->body_as_EventWait()->event()] >= pending.ticket;
    return {};
  case plan::CommandBody::Collective: {
    done = false;
    Status status =
        stream.request ? stream.request->test(done) : startCollective(run, pending, stream, done);
    if (!status && !done && stream.request)
      status = stream.request->test(done); // one that needs nobody else is done at once
    if (status)
      return fail(std::move(status), entry);
    if (!done)
      return {};
    stream.request.reset();
    if (run.trace)
      trace(run, entry, pending.slot, stream.begin);
    return runEntry(run, entry, pending.slot);
  }
  default:
    return runEntry(run, entry, pending.slot);
  }
}

Status HostExecutable::advance(const Run &run, StreamState &stream, bool &progress) {
  while (!stream.queue.empty()) {
    bool done = false;
    GPUCC_RT_TRY(tryFront(run, stream, done));
    if (!done)
      return {};
    stream.queue.pop_front();
    progress = true;
  }
  return {};
}

Status HostExecutable::advanceAll(const Run &run, bool &progress) {
  for (StreamState &stream : streams)
    if (!stream.queue.empty())
      GPUCC_RT_TRY(advance(run, stream, progress));
  return {};
}

/// Events follow the order of the list, as on a device: a wait is for the records issued before it.
Status HostExecutable::issue(const Run &run, const Entry &entry, uint32_t slot) {
  Pending pending = {&entry, slot, 0};
  if (const auto *record = entry.source->body_as_EventRecord())
    pending.ticket = ++recordsIssued[record->event()];
  if (const auto *wait = entry.source->body_as_EventWait())
    pending.ticket = recordsIssued[wait->event()];
  StreamState &stream = streams[entry.source->stream()];
  stream.queue.push_back(pending);
  bool progress = false;
  return advanceAll(run, progress);
}

Status HostExecutable::drain(const Run &run) {
  while (true) {
    bool progress = false;
    GPUCC_RT_TRY(advanceAll(run, progress));
    bool empty = std::all_of(streams.begin(), streams.end(),
                             [](const StreamState &s) { return s.queue.empty(); });
    if (empty)
      return {};
    if (progress)
      continue;
    bool timedOut = false;
    if (context.world)
      GPUCC_RT_TRY(context.world->waitForProgress(static_cast<int>(context.rank->rank), timedOut));
    if (context.world && !timedOut)
      continue;
    std::string waiting;
    for (const StreamState &stream : streams)
      if (stream.request)
        waiting += (waiting.empty() ? "" : "; ") + stream.request->describe();
    return GPUCC_RT_FAIL(Code::communication, "rank ", context.rank->rank, " cannot go on: ",
                         waiting.empty() ? "streams wait for each other's events" : waiting);
  }
}

Status HostExecutable::submit(const Run &run) {
  std::optional<ThreadCountScope> scope;
  if (usesPool)
    scope.emplace(threads);
  if (!run.script->steps())
    return {};
  Status status;
  bool watched = hasCollectives || run.trace || run.taps;
  for (const plan::Step *step : *run.script->steps()) {
    for (const Entry &entry : segments[step->segment()]) {
      if (entry.direct && !watched) {
        entry.direct->kernel(entry.direct->arguments, 0, entry.direct->programs);
        continue;
      }
      // Without collectives list order satisfies every event.
      status =
          hasCollectives ? issue(run, entry, step->slot()) : runEntry(run, entry, step->slot());
      if (status)
        break;
    }
    if (status)
      break;
  }
  if (!status && hasCollectives)
    status = drain(run);
  if (status) {
    for (StreamState &stream : streams)
      stream = StreamState();
    if (context.world)
      context.world->abort(static_cast<int>(context.rank->rank), status.message());
  }
  return status;
}
