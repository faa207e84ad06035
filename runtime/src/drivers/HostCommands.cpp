//===- HostCommands.cpp - Launches, copies and fills on the host
//--------------------------------===//
#include "drivers/HostProgram.h"
#include "drivers/ParallelFor.h"

#include <cstring>

using namespace gpucc::rt;

namespace {
class LaunchCommand : public HostCommand {
public:
  LaunchCommand(HostKernel kernel, int64_t programs, int64_t grain, int threads,
                const RankContext *rank)
      : kernel(kernel), programs(programs), grain(grain), threads(threads), rank(rank) {}

  void addView(Place place) {
    if (!place.isFixed())
      changing.push_back({values.size(), place, nullptr});
    values.push_back(place.isFixed() ? place.fixed() : nullptr);
  }
  void addScalar(int64_t bits, const plan::RankValue *value) {
    // A value that no slot changes is computed once.
    if (value && value->slot_step() == 0) {
      bits = rank->evaluate(value, 0);
      value = nullptr;
    }
    if (value)
      changing.push_back({values.size(), Place(), value});
    values.push_back(reinterpret_cast<void *>(bits));
  }
  /// After the last argument.
  void finish() {
    call = {kernel, values.data(), programs};
    isDirect = changing.empty() && programs > 0 && !usesPool();
  }
  const DirectCall *direct() const override { return isDirect ? &call : nullptr; }
  bool usesPool() const override { return partsOf(programs, grain, threads) > 1; }

  Status run(const Run &run, uint32_t slot) override {
    for (const Argument &a : changing)
      values[a.index] = a.value ? reinterpret_cast<void *>(rank->evaluate(a.value, slot))
                                : a.place.at(run, slot);
    void **data = values.data();
    HostKernel function = kernel;
    parallelFor(programs, grain, threads,
                [=](int64_t begin, int64_t end) { function(data, begin, end); });
    return {};
  }

private:
  struct Argument {
    size_t index;
    Place place;
    const plan::RankValue *value; ///< null: a view
  };
  HostKernel kernel;
  int64_t programs, grain;
  int threads;
  const RankContext *rank;
  std::vector<Argument> changing; ///< what slots and bindings move
  std::vector<void *> values; ///< what the kernel receives; one run at a time uses it
  DirectCall call = {};
  bool isDirect = false;
};

class CopyCommand : public HostCommand {
public:
  CopyCommand(const AddressTable &addresses, const plan::Copy &copy)
      : source(addresses, *copy.source()), destination(addresses, *copy.destination()), copy(copy) {
  }
  Status run(const Run &run, uint32_t slot) override {
    const char *from = source.at(run, slot);
    char *to = destination.at(run, slot);
    if (copy.bytes() == 0) // any number of rows
      return {};
    for (uint64_t row = 0; row < copy.rows(); ++row)
      std::memmove(to + row * copy.destination_pitch(), from + row * copy.source_pitch(),
                   copy.bytes());
    return {};
  }

private:
  Place source, destination;
  const plan::Copy &copy;
};

class FillCommand : public HostCommand {
public:
  FillCommand(const AddressTable &addresses, const plan::Fill &fill)
      : destination(addresses, *fill.destination()), bytes(fill.destination()->size()),
        patternSize(fill.pattern_size()), pattern(fill.pattern()) {}
  Status run(const Run &run, uint32_t slot) override {
    char *to = destination.at(run, slot);
    if (pattern == 0) {
      std::memset(to, 0, bytes);
      return {};
    }
    for (uint64_t i = 0; i < bytes; i += patternSize)
      std::memcpy(to + i, &pattern, patternSize); // little endian: the low bytes
    return {};
  }

private:
  Place destination;
  uint64_t bytes;
  uint32_t patternSize;
  uint64_t pattern;
};
} // namespace

/// The variant whose code is a host image; when there are several, the last that this CPU can run
/// (levels ascend).
static const plan::KernelVariant *findHostVariant(const PlanImage &plan,
                                                  const plan::Kernel &kernel) {
  const plan::KernelVariant *best = nullptr;
  if (kernel.variants())
    for (const plan::KernelVariant *variant : *kernel.variants()) {
      const plan::Blob &blob = *plan.index().blobs()->Get(variant->blob());
      if (blob.kind() == plan::BlobKind::host_image &&
          !(blob.arch() && checkCpuLevel(blob.arch()->str())))
        best = variant;
    }
  return best;
}

Status gpucc::rt::makeLaunch(const HostContext &context, const plan::Launch &launch,
                             std::unique_ptr<HostCommand> &command) {
  const ProgramContext &program = *context.program;
  const plan::Kernel &kernel = *program.plan->index().kernels()->Get(launch.kernel());
  const plan::KernelVariant *variant = findHostVariant(*program.plan, kernel);
  if (!variant)
    return GPUCC_RT_FAIL(Code::unsupported, "kernel '", kernel.name()->c_str(),
                         "' has no code for this CPU (", cpuLevel(),
                         "); recompile the model with --target host");
  HostKernel function = nullptr;
  GPUCC_RT_TRY(
      context.images->lookup(*program.plan, variant->blob(), variant->symbol()->c_str(), function));
  auto result = std::make_unique<LaunchCommand>(function, variant->programs(), variant->grain(),
                                                context.threads, program.rank);
  if (launch.arguments())
    for (const plan::Argument *argument : *launch.arguments()) {
      if (argument->view())
        result->addView(Place(*program.addresses, *argument->view()));
      else
        result->addScalar(argument->scalar(), argument->value());
    }
  result->finish();
  command = std::move(result);
  return {};
}

std::unique_ptr<HostCommand> gpucc::rt::makeCopy(const HostContext &context,
                                                 const plan::Copy &copy) {
  return std::make_unique<CopyCommand>(*context.program->addresses, copy);
}

std::unique_ptr<HostCommand> gpucc::rt::makeFill(const HostContext &context,
                                                 const plan::Fill &fill) {
  return std::make_unique<FillCommand>(*context.program->addresses, fill);
}
