//===- HostProgram.h - A program made ready on the host
//-----------------------------------------===//
//
// One thread per rank runs the commands in list order. Streams matter only where a collective can
// be pending: its stream then holds back its later commands while other streams go on, exactly as
// on a device. Example (c = compute, m = communication):
//
//   c: grad1   m: wait e0, all_reduce grad1   c: grad2   c: wait e1, update1
//
// posts the all-reduce, runs grad2 while the other ranks arrive, and holds `update1` until e1 was
// recorded behind it. When nothing can go on, the thread sleeps until another rank has made
// progress; the watchdog names who is missing.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_HOSTPROGRAM_H
#define GPUCC_RT_DRIVERS_HOSTPROGRAM_H

#include "drivers/Driver.h"
#include "drivers/HostImage.h"

#include <deque>
#include <map>

namespace gpucc::rt {

/// Where a view lies; the base is final unless the buffer can be bound or has slots.
class Place {
public:
  Place() = default;
  /// Never moves: not bindable, one slot.
  bool isFixed() const { return !bindable && slots == 1; }
  char *fixed() const { return base; }
  Place(const AddressTable &addresses, const plan::View &view);
  char *at(const Run &run, uint32_t slot) const {
    char *start =
        bindable && run.addresses->bound[buffer] ? run.addresses->bound[buffer] + offset : base;
    return slots == 1 ? start : start + (slot % slots) * stride;
  }

private:
  char *base = nullptr;
  uint64_t offset = 0, stride = 0;
  uint32_t buffer = 0, slots = 1;
  bool bindable = false;
};

/// A launch of which nothing changes from run to run, in one part.
struct DirectCall {
  HostKernel kernel;
  void **arguments;
  int64_t programs;
};

/// A command that completes before run() returns.
class HostCommand {
public:
  virtual ~HostCommand() = default;
  virtual Status run(const Run &run, uint32_t slot) = 0;
  /// Instead of run(), when that is such a launch; else null. As long as the command lives.
  virtual const DirectCall *direct() const { return nullptr; }
  /// Whether run() may use the thread pool.
  virtual bool usesPool() const { return false; }
};

/// Packed weights of a session, by layout and address: shared by profiles and by calls with equal
/// operands.
using PackedWeights = std::map<std::string, std::shared_ptr<void>>;

struct HostContext {
  const ProgramContext *program;
  HostImages *images;
  PackedWeights *packed;
  int threads;
  std::vector<PackedOperand> *record; ///< null: nobody asks
};

Status makeLaunch(const HostContext &context, const plan::Launch &launch,
                  std::unique_ptr<HostCommand> &command);
std::unique_ptr<HostCommand> makeCopy(const HostContext &context, const plan::Copy &copy);
std::unique_ptr<HostCommand> makeFill(const HostContext &context, const plan::Fill &fill);
/// With oneDNN, or the plain loops of HostReferenceCall.cpp where it lacks the types.
Status makeLibraryCall(const HostContext &context, const plan::LibraryCall &call,
                       std::unique_ptr<HostCommand> &command);
Status makeReferenceCall(const HostContext &context, const plan::LibraryCall &call,
                         std::unique_ptr<HostCommand> &command);

class HostExecutable : public Executable {
public:
  HostExecutable(const ProgramContext &context, int threads);
  Status prepare(HostImages &images, PackedWeights &packed, std::vector<PackedOperand> *record);
  Status submit(const Run &run) override;
  Status finish() override { return {}; }

private:
  struct Entry {
    const plan::Command *source;
    std::unique_ptr<HostCommand> command; ///< null for collectives and events
    uint32_t segment, index;
    const DirectCall *direct = nullptr;
  };
  struct Pending {
    const Entry *entry;
    uint32_t slot;
    uint64_t ticket; ///< events: which record is awaited or made
  };
  struct StreamState {
    std::deque<Pending> queue;
    std::unique_ptr<Request> request; ///< of the front entry
    int64_t begin = 0;
  };

  Status issue(const Run &run, const Entry &entry, uint32_t slot);
  Status advance(const Run &run, StreamState &stream, bool &progress);
  Status tryFront(const Run &run, StreamState &stream, bool &done);
  Status startCollective(const Run &run, const Pending &pending, StreamState &stream, bool &done);
  Status advanceAll(const Run &run, bool &progress);
  Status drain(const Run &run);
  Status runEntry(const Run &run, const Entry &entry, uint32_t slot);
  Status takeTaps(const Run &run, const Entry &entry, uint32_t slot);
  void trace(const Run &run, const Entry &entry, uint32_t slot, int64_t begin);
  Status fail(Status status, const Entry &entry);

  ProgramContext context;
  int threads;
  bool hasCollectives = false, usesPool = false;
  std::vector<std::vector<Entry>> segments;
  std::vector<StreamState> streams;
  std::vector<uint64_t> recordsIssued, recordsDone; ///< per event
};

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_HOSTPROGRAM_H
