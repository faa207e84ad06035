//===- NullDriver.cpp - Checks every command, computes nothing
//----------------------------------===//
//
// The skeleton for the next driver, and a dry run: it accounts for the memory of a plan without
// having it, checks that each command could be issued (code for some target, communicators of this
// rank, waits that follow a record), and walks the scripts. Addresses are reserved, never touched,
// so a plan for 80 GB devices "runs" on a laptop. Data written is dropped, data read is zero.
//
//===--------------------------------------------------------------------------------------------===//
#include "drivers/Driver.h"
#include "session/Trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace gpucc::rt;

namespace {
class NullExecutable : public Executable {
public:
  explicit NullExecutable(const ProgramContext &context) : context(context) {}

  /// Every command once, in list order.
  Status prepare() {
    if (!context.program->segments())
      return {};
    for (const plan::Segment *segment : *context.program->segments()) {
      if (!segment->commands())
        continue;
      for (uint32_t c = 0; c < segment->commands()->size(); ++c) {
        const plan::Command &command = *segment->commands()->Get(c);
        GPUCC_RT_TRY(check(command).prefixed(
            concat("'", command.name() ? command.name()->c_str() : "?", "' (segment ",
                   segment->name()->c_str(), ", command ", c, ")")));
      }
    }
    return {};
  }

  Status submit(const Run &run) override {
    if (!run.script->steps())
      return {};
    std::vector<bool> recorded(context.program->events(), false);
    for (const plan::Step *step : *run.script->steps()) {
      const plan::Segment &segment = *context.program->segments()->Get(step->segment());
      if (!segment.commands())
        continue;
      for (const plan::Command *command : *segment.commands()) {
        if (const auto *record = command->body_as_EventRecord())
          recorded[record->event()] = true;
        const auto *wait = command->body_as_EventWait();
        if (wait && !recorded[wait->event()] && !warned) {
          warned = true;
          context.warnings->push_back(concat("'", command->name() ? command->name()->c_str() : "?",
                                             "' waits for event ", wait->event(),
                                             " before its first record: the wait has no effect"));
        }
        if (run.trace)
          run.trace->add({command->name() ? command->name()->str() : "?",
                          plan::EnumNameCommandBody(command->body_type()), command->stream(),
                          step->slot(), Trace::now(), 0});
      }
    }
    return {};
  }
  Status finish() override { return {}; }

private:
  Status check(const plan::Command &command) {
    const plan::Plan &plan = context.plan->index();
    if (const auto *launch = command.body_as_Launch()) {
      const plan::Kernel &kernel = *plan.kernels()->Get(launch->kernel());
      if (!kernel.variants() || kernel.variants()->size() == 0)
        return GPUCC_RT_FAIL(Code::invalidPlan, "kernel '", kernel.name()->c_str(),
                             "' has no code for any target");
    }
    if (const auto *collective = command.body_as_Collective()) {
      CommunicatorSpec spec;
      if (!communicatorOf(plan, collective->communicator(), *context.rank, spec))
        return GPUCC_RT_FAIL(Code::invalidPlan, "rank ", context.rank->rank,
                             " is no member of communicator ", collective->communicator());
      int64_t size = static_cast<int64_t>(spec.members.size());
      bool permute = collective->kind() == plan::CollectiveKind::permute;
      for (const plan::RankValue *value : {collective->peer(), collective->source()}) {
        int64_t peer = value ? context.rank->evaluate(value, 0) : 0;
        if (peer >= size || peer < (permute ? -1 : 0))
          return GPUCC_RT_FAIL(Code::invalidPlan, "peer ", peer, ", communicator '", spec.name,
                               "' has ", size, " members");
      }
    }
    return {};
  }

  ProgramContext context;
  bool warned = false;
};

class NullDriver : public Driver {
public:
  ~NullDriver() override {
    for (auto [address, bytes] : mappings)
      munmap(address, bytes);
  }
  const char *name() const override { return "null"; }
  Status check(const PlanImage &) override { return {}; }

  Status allocate(const plan::Arena &arena, char **address) override {
    size_t bytes = std::max<uint64_t>(arena.size(), 1);
    void *memory =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return GPUCC_RT_FAIL(Code::outOfMemory, "no addresses for arena '", arena.name()->c_str(),
                           "' of ", arena.size(), " bytes: ", std::strerror(errno));
    mappings.push_back({memory, bytes});
    *address = static_cast<char *>(memory);
    return {};
  }

  Status upload(char *destination, const void *, uint64_t bytes) override {
    return checkRange(destination, bytes);
  }
  Status download(void *destination, const char *source, uint64_t bytes) override {
    std::memset(destination, 0, bytes);
    return checkRange(source, bytes);
  }
  bool canBind(const void *) const override { return true; }
  bool computes() const override { return false; }

  Status prepare(const ProgramContext &context, std::unique_ptr<Executable> &executable) override {
    auto result = std::make_unique<NullExecutable>(context);
    GPUCC_RT_TRY(result->prepare());
    executable = std::move(result);
    return {};
  }

private:
  Status checkRange(const char *address, uint64_t bytes) {
    for (auto [start, size] : mappings) {
      const char *begin = static_cast<const char *>(start);
      if (address >= begin && bytes <= size && address <= begin + (size - bytes))
        return {};
    }
    return GPUCC_RT_FAIL(Code::internal, "a copy of ", bytes, " bytes leaves its arena");
  }
  std::vector<std::pair<void *, size_t>> mappings;
};
} // namespace

Status gpucc::rt::createNullDriver(const DriverOptions &, std::unique_ptr<Driver> &driver) {
  driver = std::make_unique<NullDriver>();
  return {};
}
