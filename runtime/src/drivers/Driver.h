//===- Driver.h - What runs commands: host, null, cuda
//------------------------------------------===//
//
// The session (src/session) knows plans, profiles, tensors and ranks; a driver knows a device.
// Between them:
//
//   createDriver("host", options)          the device is opened
//   driver.check(plan)                     has the plan code for this device?
//   driver.allocate(arena) ...             one allocation per arena of the rank's stage
//   driver.upload(...)                     weights, initial state, rank constants
//   driver.prepare(program) -> Executable  load code, create primitives, streams and events,
//                                          capture graphs
//   executable.submit(run); finish()       run a script; nothing is allocated or compiled here
//   driver.upload / download               inputs and outputs of the next step
//
// Ids, offsets and sizes in the plan were verified before (src/plan/Verify*.cpp): a driver does not
// check them again. One driver object serves one session; its functions are called by one thread at
// a time, not always the same one.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_DRIVER_H
#define GPUCC_RT_DRIVERS_DRIVER_H

#include "comm/Communicator.h"
#include "core/Status.h"
#include "plan/PlanImage.h"
#include "plan/RankContext.h"

#include <memory>
#include <string>
#include <vector>

namespace gpucc::rt {

class Trace;

/// Where the buffers of one program are: arena bases of the session and pointers that a caller
/// bound in place of buffers.
struct AddressTable {
  std::vector<char *> arenas; ///< per arena of the stage
  const plan::Program *program = nullptr;
  std::vector<char *> bound; ///< per buffer; null = inside its arena

  char *buffer(uint32_t id, uint32_t slot) const {
    const plan::Buffer *b = program->buffers()->Get(id);
    char *base = bound[id] ? bound[id] : arenas[b->arena()] + b->offset();
    return base + (slot % b->slots()) * b->slot_stride();
  }
  char *view(const plan::View &v, uint32_t slot) const {
    return buffer(v.buffer(), slot) + v.offset();
  }
};

/// Copies of intermediate values that the caller asked for; rare, so a driver may run such steps
/// without graphs.
struct TapRequest {
  uint32_t segment, command; ///< copy right after this command, on its stream
  uint32_t buffer;
  uint64_t offset, bytes;
  std::vector<std::vector<char>>
      *slots; ///< destination: slots[k] has `bytes` bytes, for slots k of the script
};

/// One execution of a script.
struct Run {
  const plan::Script *script = nullptr;
  const AddressTable *addresses = nullptr;
  const std::vector<TapRequest> *taps = nullptr; ///< null: none
  Trace *trace = nullptr;                        ///< null: no times wanted
  uint64_t bindingVersion = 0; ///< changes when an address changed: captured graphs must be updated
};

/// A program made ready on a device.
class Executable {
public:
  virtual ~Executable() = default;
  /// Starts the script; may return before it has run. Runs of one executable follow each other in
  /// order.
  virtual Status submit(const Run &run) = 0;
  /// Waits for everything submitted; errors of asynchronous work surface here.
  virtual Status finish() = 0;
};

/// What a program needs to be prepared. All pointers outlive the Executable.
struct ProgramContext {
  const PlanImage *plan = nullptr;
  const plan::Program *program = nullptr;
  const RankContext *rank = nullptr;
  const AddressTable *addresses = nullptr;
  /// By index of the plan's communicator table; null where this rank is no member.
  const std::vector<std::unique_ptr<Communicator>> *communicators = nullptr;
  World *world = nullptr; ///< null for plans of one rank
  std::vector<std::string> *warnings = nullptr;
};

/// A constant operand of a library call as the library keeps it; the bytes live as long as the
/// driver.
struct PackedOperand {
  const plan::Operand *operand;
  const void *bytes;
  uint64_t size;
  std::string library, arch;   ///< as in plan::Blob
  std::vector<uint8_t> format; ///< the library's descriptor
};

struct DriverOptions {
  int threads = 0; ///< host threads of this rank; 0 = cores / ranks
  int ranksOnMachine = 1;
  int device = 0;        ///< device ordinal
  bool noGraphs = false; ///< run capturable segments command by command
  std::vector<PackedOperand> *packed = nullptr; ///< host: filled by prepare, unless null
};

class Driver {
public:
  virtual ~Driver() = default;
  virtual const char *name() const = 0;

  /// Does this device run the plan? Names what differs and what would help.
  virtual Status check(const PlanImage &plan) = 0;

  /// One arena, zeroed. Freed with the driver.
  virtual Status allocate(const plan::Arena &arena, char **address) = 0;

  /// Blocking copies between host memory and arenas, after everything submitted.
  virtual Status upload(char *destination, const void *source, uint64_t bytes) = 0;
  virtual Status download(void *destination, const char *source, uint64_t bytes) = 0;

  /// Instead of uploading: lets memory of an arena be the file's pages (a private view of them).
  /// False when this device or these addresses cannot.
  virtual bool map(char *destination, int file, uint64_t offset, uint64_t bytes) { return false; }

  /// Address of an arena byte if the host can reach it directly (no staging), else null.
  virtual char *hostAddress(char *address) { return nullptr; }
  /// May a caller's pointer take the place of a bindable buffer?
  virtual bool canBind(const void *pointer) const = 0;
  /// False for the null driver: values that it "computes" mean nothing.
  virtual bool computes() const { return true; }

  virtual Status prepare(const ProgramContext &context,
                         std::unique_ptr<Executable> &executable) = 0;
};

Status createHostDriver(const DriverOptions &options, std::unique_ptr<Driver> &driver);
Status createNullDriver(const DriverOptions &options, std::unique_ptr<Driver> &driver);
Status createCudaDriver(const DriverOptions &options, std::unique_ptr<Driver> &driver);

/// By name; an unknown name is an error that lists the known ones.
Status createDriver(const std::string &name, const DriverOptions &options,
                    std::unique_ptr<Driver> &driver);

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_DRIVER_H
