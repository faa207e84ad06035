//===- CudaProgram.h - A program made ready on a CUDA device --------------===//
//
// prepare() resolves kernels, makes streams and events, and captures each run of capturable steps
// of each script into one CUDA graph; submit() launches the graphs. A script all of whose segments
// are capturable is exactly one cuGraphLaunch:
//
//   script: (forward, 0) (forward, 1) (update, 0)      all capturable   -> 1 graph
//   script: (forward, 0) (host_only, 0) (update, 0)                     -> graph, commands, graph
//
// Stream 0 carries the order between items: a graph is launched on it, and commands that run
// without a graph fork the other streams from it and join them again. When a bound address changes
// the graphs are captured anew and updated in place. With taps, a trace or noGraphs the commands
// are issued one by one.
//
// A plan's send completes at once, like that of the threads world; NCCL's completes with its
// receive. So a send copies its data to an outbox (one place per step and command, allocated at
// prepare) and goes on, while a stream of its own does the sending; stream 0 waits for it at the
// end of the script. Without this the 1F1B schedule deadlocks: stage 0 sends micro-batch 1 and then
// waits for the gradient of 0, which stage 1 sends before it receives micro-batch 1.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_CUDAPROGRAM_H
#define GPUCC_RT_DRIVERS_CUDAPROGRAM_H

#include "drivers/CudaLibrary.h"
#include "drivers/Driver.h"

#include <map>

namespace gpucc::rt {

/// What all programs of a driver share: the device and its loaded modules.
class CudaDevice {
public:
  static Status open(const DriverOptions &options, std::unique_ptr<CudaDevice> &device);
  ~CudaDevice();

  const CudaLibrary &cuda() const { return *library; }
  /// Makes the context current on the calling thread.
  Status enter() const;
  /// The function of a kernel's variant that suits this device; loads its module when first used.
  Status find(const PlanImage &plan, const plan::Kernel &kernel,
              const plan::KernelVariant *&variant, cuda::Function &function);
  /// Can code for `arch` ("sm_90a", "compute_80", "simt") run here?
  bool runs(const std::string &arch, plan::BlobKind kind) const;
  /// "sm_90 (NVIDIA H200)", "simt (gpucc simt device 0)"
  std::string describe() const;

  int ordinal = 0, capability = 0; ///< 90 = 9.0

private:
  std::shared_ptr<CudaLibrary> library;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  std::string name;
  std::map<std::pair<const PlanImage *, uint32_t>, cuda::Module> modules;
};

class CudaExecutable : public Executable {
public:
  CudaExecutable(const ProgramContext &context, CudaDevice &device, bool noGraphs)
      : context(context), device(device), cuda(device.cuda()), noGraphs(noGraphs) {}
  ~CudaExecutable() override;
  Status prepare();
  Status submit(const Run &run) override;
  Status finish() override;

private:
  struct Kernel {
    const plan::KernelVariant *variant = nullptr;
    cuda::Function function = nullptr;
  };
  /// Steps [first, last) of a script: one graph, or commands.
  struct Item {
    uint32_t first, last;
    bool graph;
    cuda::GraphExec exec = nullptr;
    uint64_t version = 0; ///< of the bindings that it was captured with
  };
  struct Span {
    const plan::Command *command;
    uint32_t slot;
    cuda::Event begin, end;
  };

  // CudaProgram.cpp
  Status check(int result, const char *call) const { return cuda.check(result, call); }
  Status prepareKernels();
  std::vector<Item> &itemsOf(const plan::Script &script);
  Status capture(const Run &run, Item &item);
  Status runDirect(const Run &run, const Item &item);
  Status fork();
  Status join();
  Status prepareOutbox();
  Status joinOutbox();
  Status runStep(const Run &run, const plan::Step &step, bool tapsAndTrace);
  Status takeTaps(const Run &run, uint32_t segment, uint32_t index, uint32_t slot,
                  cuda::Stream stream);
  Status collectTrace();
  Status newEvent(cuda::Event &event, unsigned flags);
  Status fail(Status status, const plan::Segment &segment, uint32_t index) const;

  // CudaCommands.cpp
  Status issue(const Run &run, const plan::Command &command, uint32_t slot);
  Status launch(const Run &run, const plan::Launch &launch, uint32_t slot, cuda::Stream stream);
  Status copy(const Run &run, const plan::Copy &copy, uint32_t slot, cuda::Stream stream);
  Status fill(const Run &run, const plan::Fill &fill, uint32_t slot, cuda::Stream stream);
  Status collective(const Run &run, const plan::Command &command, uint32_t slot,
                    cuda::Stream stream);
  Status send(CollectiveCall call, const plan::Command &command, cuda::Stream stream);

  ProgramContext context;
  CudaDevice &device;
  const CudaLibrary &cuda;
  bool noGraphs;
  std::vector<Kernel> kernels; ///< by kernel id; empty where unused
  std::vector<cuda::Stream> streams;
  std::vector<cuda::Event> events;   ///< of the plan
  std::vector<uint64_t> recordedIn;  ///< per event: the issue number it was last recorded in
  std::vector<cuda::Event> boundary; ///< per stream, for fork and join
  uint64_t issueNumber = 0;          ///< of the capture or run of commands under way
  std::map<const plan::Script *, std::vector<Item>> items;
  std::vector<Span> spans;
  cuda::Event traceBegin = nullptr;
  int64_t traceBase = 0;
  Trace *trace = nullptr;
  bool hasCollectives = false;
  // Sends under way.
  uint32_t stepIndex = 0; ///< of the script, while commands are issued
  std::map<std::pair<uint32_t, const plan::Command *>, uint64_t> outboxPlaces;
  cuda::DevicePointer outbox = 0;
  cuda::Stream outboxStream = nullptr;
  cuda::Event outboxEvent = nullptr;
  bool outboxUsed = false; ///< since it was last joined
};

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_CUDAPROGRAM_H
