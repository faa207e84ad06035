//===- Session.cpp - Prepare, profiles, execution
//-----------------------------------------------===//
#include "session/Session.h"

#include "plan/Weights.h"

#include <algorithm>

using namespace gpucc::rt;

Status Session::prepare(std::shared_ptr<PlanImage> plan, const SessionOptions &options,
                        std::unique_ptr<Session> &session) {
  std::unique_ptr<Session> made(new Session());
  made->plan = std::move(plan);
  auto prepareAll = [&]() -> Status {
    GPUCC_RT_TRY(made->open(options));
    GPUCC_RT_TRY(made->allocate());
    GPUCC_RT_TRY(made->loadInitialValues(options.verifyWeights));
    GPUCC_RT_TRY(made->connect());
    return made->prepareProfiles();
  };
  Status status = prepareAll();
  if (!status)
    session = std::move(made);
  else if (options.world && static_cast<int64_t>(options.rank) < options.world->size())
    // The other ranks wait for this one in connect(); the world serves no more sessions.
    options.world->abort(static_cast<int>(options.rank), status.message());
  return status;
}

Session::~Session() { (void)worker.wait(); }

Status Session::open(const SessionOptions &options) {
  const plan::Plan &index = plan->index();
  if (options.rank >= index.ranks())
    return GPUCC_RT_FAIL(Code::invalidArgument, plan->name(), ": rank ", options.rank,
                         ", the plan has ", index.ranks(), " ranks");
  std::string driverName = !options.driver.empty()                         ? options.driver
                           : index.needs()->target() == plan::Target::cuda ? "cuda"
                                                                           : "host";
  if (index.ranks() > 1 && !options.world && driverName != "null")
    return GPUCC_RT_FAIL(Code::invalidArgument, plan->name(), ": the plan has ", index.ranks(),
                         " ranks and needs a world that connects them (gpucc-run --ranks ",
                         index.ranks(), ")");
  if (options.world && options.world->size() != static_cast<int>(index.ranks()))
    return GPUCC_RT_FAIL(Code::invalidArgument, plan->name(), ": the plan has ", index.ranks(),
                         " ranks, the world ", options.world->size());
  if (options.profile >= index.profiles()->size())
    return GPUCC_RT_FAIL(Code::invalidArgument, plan->name(), ": profile ", options.profile,
                         ", the plan has ", index.profiles()->size());
  rank = RankContext::of(index, options.rank);
  world = options.world;
  profile = options.profile;
  DriverOptions driverOptions;
  driverOptions.threads = static_cast<int>(std::min<uint32_t>(options.threads, 4096));
  driverOptions.ranksOnMachine = static_cast<int>(index.ranks());
  driverOptions.device = static_cast<int>(options.device);
  driverOptions.noGraphs = options.noGraphs;
  driverOptions.packed = options.packed;
  GPUCC_RT_TRY(createDriver(driverName, driverOptions, driver));
  return driver->check(*plan);
}

Status Session::allocate() {
  const plan::Stage &stage = *plan->index().stages()->Get(rank.stage);
  if (stage.arenas())
    for (const plan::Arena *arena : *stage.arenas()) {
      char *address = nullptr;
      GPUCC_RT_TRY(driver->allocate(*arena, &address));
      arenas.push_back(address);
    }
  return {};
}

Status Session::connect() {
  const plan::Plan &index = plan->index();
  uint32_t count = index.communicators() ? index.communicators()->size() : 0;
  communicators.resize(count);
  if (!world)
    return {};
  for (uint32_t id = 0; id < count; ++id) {
    CommunicatorSpec spec;
    if (communicatorOf(index, id, rank, spec))
      GPUCC_RT_TRY(world->connect(static_cast<int>(rank.rank), spec, communicators[id]));
  }
  return {};
}

Status Session::loadInitialValues(bool verify) {
  const auto *blobs = plan->index().blobs();
  for (uint32_t id = 0; verify && blobs && id < blobs->size(); ++id)
    if (blobs->Get(id)->kind() == plan::BlobKind::packed_weight)
      GPUCC_RT_TRY(plan->checkBlob(id));
  return loadWeights(*plan, rank, verify,
                     [&](uint32_t arena, uint64_t offset, const char *data, uint64_t bytes) {
                       int file;
                       uint64_t at;
                       char *place = arenas[arena] + offset;
                       if (plan->locate(data, file, at) && driver->map(place, file, at, bytes))
                         return Status();
                       return driver->upload(place, data, bytes);
                     });
}

Status Session::prepareProfiles() {
  const plan::Plan &index = plan->index();
  prepared.resize(index.profiles()->size());
  for (uint32_t p = 0; p < prepared.size(); ++p) {
    Prepared &entry = prepared[p];
    entry.program = index.profiles()->Get(p)->programs()->Get(rank.stage);
    entry.addresses.arenas = arenas;
    entry.addresses.program = entry.program;
    entry.addresses.bound.resize(entry.program->buffers() ? entry.program->buffers()->size() : 0);
  }
  for (Prepared &entry : prepared) {
    ProgramContext context;
    context.plan = plan.get();
    context.program = entry.program;
    context.rank = &rank;
    context.addresses = &entry.addresses;
    context.communicators = &communicators;
    context.world = world.get();
    context.warnings = &warnings;
    GPUCC_RT_TRY(driver->prepare(context, entry.executable).prefixed(plan->name()));
  }
  std::vector<std::string> streams;
  for (const plan::Stream *stream : *current().program->streams())
    streams.push_back(stream->name()->str());
  trace.nameStreams(std::move(streams));
  return useProfile(profile);
}

Status Session::useProfile(uint32_t index) {
  if (index >= prepared.size())
    return GPUCC_RT_FAIL(Code::invalidArgument, "profile ", index, ", the plan has ",
                         prepared.size());
  GPUCC_RT_TRY(wait());
  // A binding's size fits the profile that it was made under.
  for (const char *bound : current().addresses.bound)
    if (bound && index != profile)
      return GPUCC_RT_FAIL(Code::invalidArgument, "a tensor is bound to the caller's memory under "
                                                  "the profile in use; unbind it (null) before "
                                                  "another profile is chosen, then bind anew");
  profile = index;
  stepped = false;
  rebuildTaps();
  const plan::Program &program = *current().program;
  if (!program.rank_constants())
    return {};
  for (const plan::RankConstant *constant : *program.rank_constants()) {
    uint32_t slots = program.buffers()->Get(constant->buffer())->slots();
    for (uint32_t slot = 0; slot < slots; ++slot) {
      int64_t value = rank.evaluate(constant->value(), slot);
      char *address = current().addresses.buffer(constant->buffer(), slot) + constant->offset();
      GPUCC_RT_TRY(driver->upload(address, &value, sizeof(value)));
    }
  }
  return {};
}

Status Session::checkUsable() const {
  return broken ? broken.copy().prefixed("the session failed before") : Status();
}

/// Errors of execution leave arenas and collectives in an unknown state.
Status Session::keepError(Status status) {
  if (status && !broken)
    broken = status.copy();
  return status;
}

const plan::Script *Session::findScript() const {
  for (const plan::Script *script : *current().program->scripts())
    if (script->name()->string_view() == scriptName)
      return script;
  return nullptr;
}

Status Session::useScript(const std::string &name) {
  GPUCC_RT_TRY(wait());
  std::string previous = std::move(scriptName);
  scriptName = name;
  if (findScript())
    return {};
  std::string known;
  for (const plan::Script *script : *current().program->scripts())
    known += (known.empty() ? "" : ", ") + script->name()->str();
  scriptName = std::move(previous);
  return GPUCC_RT_FAIL(Code::invalidArgument, "there is no script '", name, "'; the plan has ",
                       known);
}

Status Session::runScript() {
  Run run;
  run.script = findScript();
  run.addresses = &current().addresses;
  run.taps = tapRequests.empty() ? nullptr : &tapRequests;
  run.trace = tracing ? &trace : nullptr;
  run.bindingVersion = bindingVersion;
  GPUCC_RT_TRY(current().executable->submit(run));
  GPUCC_RT_TRY(current().executable->finish());
  stepped = true;
  return {};
}

Status Session::execute() {
  GPUCC_RT_TRY(checkUsable());
  worker.post([this] { return runScript(); });
  return {};
}

Status Session::wait() { return keepError(worker.wait()); }

Status Session::run() {
  GPUCC_RT_TRY(checkUsable());
  GPUCC_RT_TRY(wait());
  return keepError(runScript());
}

const std::string &Session::warningText() {
  warningLines.clear();
  std::vector<std::string> distinct = warnings;
  std::sort(distinct.begin(), distinct.end());
  for (size_t i = 0; i < distinct.size();) {
    size_t next = i;
    while (next < distinct.size() && distinct[next] == distinct[i])
      ++next;
    warningLines += (warningLines.empty() ? "" : "\n") + distinct[i];
    if (next - i > 1)
      warningLines += " (" + std::to_string(next - i) + " times)";
    i = next;
  }
  return warningLines;
}
