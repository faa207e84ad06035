//===- HostDriver.cpp - Plans on the CPU
//--------------------------------------------------------===//
//
// Arenas are anonymous mappings (zeroed by the kernel, huge pages where it likes), addresses are
// plain pointers, so nothing is staged. Device, pinned and host spaces are the same memory here.
//
// Large weights are not copied: their place in the arena becomes a private view of the plan's file.
//
//===--------------------------------------------------------------------------------------------===//
#include "drivers/Driver.h"
#include "drivers/HostProgram.h"
#include "drivers/ParallelFor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace gpucc::rt;

namespace {
class HostDriver : public Driver {
public:
  explicit HostDriver(const DriverOptions &options)
      : threads(options.threads > 0
                    ? options.threads
                    : std::max(1, availableCores() / std::max(1, options.ranksOnMachine))),
        record(options.packed) {}

  ~HostDriver() override {
    for (auto [address, bytes] : mappings)
      munmap(address, bytes);
  }

  const char *name() const override { return "host"; }

  Status check(const PlanImage &plan) override {
    const plan::Needs &needs = *plan.index().needs();
    if (needs.target() != plan::Target::host)
      return GPUCC_RT_FAIL(Code::invalidArgument, plan.name(), ": the plan is for target ",
                           plan::EnumNameTarget(needs.target()),
                           ", the host driver runs host plans; use the cuda driver or recompile "
                           "with --target host");
    uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
    if (needs.device_bytes() > memory)
      return GPUCC_RT_FAIL(Code::outOfMemory, plan.name(), ": the plan needs ",
                           needs.device_bytes() >> 20, " MiB per rank, this machine has ",
                           memory >> 20, " MiB; compile with --memory-budget or more ranks");
    // Some level of the code must fit this CPU; none listed: the plan has library calls only.
    Status problem;
    bool fits = !needs.architectures() || needs.architectures()->size() == 0;
    if (!fits)
      for (const auto *level : *needs.architectures()) {
        Status status = checkCpuLevel(level->str());
        if (!status)
          fits = true;
        else
          problem = std::move(status);
      }
    return fits ? Status() : std::move(problem).prefixed(plan.name());
  }

  Status allocate(const plan::Arena &arena, char **address) override {
    size_t bytes = std::max<uint64_t>(arena.size(), 1);
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return GPUCC_RT_FAIL(Code::outOfMemory, "no memory for arena '", arena.name()->c_str(),
                           "' of ", arena.size(), " bytes: ", std::strerror(errno));
    mappings.push_back({memory, bytes});
    *address = static_cast<char *>(memory);
    return {};
  }

  Status upload(char *destination, const void *source, uint64_t bytes) override {
    std::memcpy(destination, source, bytes);
    return {};
  }
  /// Whole pages; the rest of the last one is copied. Weights that the library has packed are never
  /// read again, so they take no memory.
  bool map(char *destination, int file, uint64_t offset, uint64_t bytes) override {
    static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    constexpr uint64_t least = 64 << 10; // below, one more mapping costs more than a copy
    if (bytes < least || reinterpret_cast<uintptr_t>(destination) % page || offset % page)
      return false;
    uint64_t whole = bytes / page * page, rest = bytes - whole;
    if (pread(file, destination + whole, rest, static_cast<off_t>(offset + whole)) !=
        static_cast<ssize_t>(rest))
      return false;
    if (mmap(destination, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file,
             static_cast<off_t>(offset)) != MAP_FAILED)
      return true;
    // What was mapped there may be gone; the copy that follows needs it.
    (void)mmap(destination, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0);
    return false;
  }
  Status download(void *destination, const char *source, uint64_t bytes) override {
    std::memcpy(destination, source, bytes);
    return {};
  }
  char *hostAddress(char *address) override { return address; }
  bool canBind(const void *) const override { return true; }

  Status prepare(const ProgramContext &context, std::unique_ptr<Executable> &executable) override {
    auto result = std::make_unique<HostExecutable>(context, threads);
    GPUCC_RT_TRY(result->prepare(images, packed, record));
    executable = std::move(result);
    return {};
  }

private:
  int threads;
  std::vector<PackedOperand> *record;
  HostImages images;
  PackedWeights packed;
  std::vector<std::pair<void *, size_t>> mappings;
};
} // namespace

Status gpucc::rt::createHostDriver(const DriverOptions &options, std::unique_ptr<Driver> &driver) {
  driver = std::make_unique<HostDriver>(options);
  return {};
}
