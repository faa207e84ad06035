//===- Objects.h - Devices, streams, events, graphs of the fake CUDA -*- C++ -*-===//
//
// A fake libcuda: device memory is host memory, kernels are simt images run by the executor, and a
// stream is a list of operations that have *not* run yet. They run when somebody waits, in an order
// that a seed picks among all that streams, events and graphs allow:
//
//   stream 1: copy x, kernel A, record e    legal: copy x < A < B when B's stream waits for e,
//   stream 2: wait e, kernel B              and B first when the wait was forgotten
//
// so a missing event wait is seen as a wrong result (or as NaN patterns) under some seeds. One
// mutex per device; ranks with one device each run in parallel. An operation may answer "not yet"
// (collectives of the fake NCCL); then others run first.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_FAKECUDA_OBJECTS_H
#define GPUCC_RT_EMULATION_FAKECUDA_OBJECTS_H

#include "Order.h"
#include "drivers/CudaApi.h"
#include "simt/Executor.h"

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace gpucc::rt::fakecuda {

struct FakeDevice;

/// What an operation did when it was run.
enum class Progress { done, notYet, failed };
using Work = std::function<Progress()>;

struct Operation {
  Work work;
  std::vector<std::shared_ptr<Operation>> after; ///< must be done before
  bool done = false;
  double finished = 0; ///< milliseconds of the device's clock
  OrderChecker::Ticket ticket;
};
using OperationPtr = std::shared_ptr<Operation>;

/// A node of a captured graph: work that can be run many times.
struct Node {
  enum Kind { kernel, copy, fill, hook, empty } kind = empty;
  Work work;
  std::vector<Node *> after;
  const void *serial = nullptr; ///< see FakeDevice::serialize
};
struct GraphData {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct FakeStream {
  FakeDevice *device = nullptr;
  OperationPtr last;
  GraphData *capture = nullptr; ///< null: not capturing
  bool origin = false;          ///< the stream that began the capture
  std::vector<Node *> front;    ///< what the next captured node comes after
};

struct FakeEvent {
  FakeDevice *device = nullptr;
  bool recorded = false;
  OperationPtr operation;
  GraphData *capture = nullptr;
  std::vector<Node *> front;
};

struct FakeFunction {
  FakeDevice *device;
  simt::Kernel kernel;
  unsigned maxDynamicShared = 48 << 10;
};
struct FakeModule {
  FakeDevice *device;
  std::unique_ptr<simt::Image> image;
  std::map<std::string, std::unique_ptr<FakeFunction>> functions;
};
struct FakeGraphExec {
  FakeDevice *device;
  std::shared_ptr<GraphData> graph;
};

/// What tests set and read, see Control.h.
struct Options {
  uint64_t seed = 0; ///< 0: operations run in the order they were issued
  int devices = 16;
  size_t memoryBytes = size_t(8) << 30; ///< per device
  bool races = true, copiesEarly = false;
  bool order = true; ///< conflicting operations must be ordered
  long long failAllocation = -1, failLaunch = -1,
            loseDevice = -1; ///< the n-th from now on fails; -1: none
  int arch = 90;
};
struct Counters {
  std::map<std::string, long long> calls; ///< by function name
  long long kernelsRun = 0;
};
/// Global state; its mutex is taken after a device's.
struct Registry {
  std::mutex mutex;
  bool initialized = false;
  Options options;
  Counters counters;
  std::string report;
  std::set<const void *> streams, events, modules, execs; ///< live handles
};
Registry &registry();

struct FakeDevice {
  int ordinal = 0;
  std::recursive_mutex mutex;
  std::condition_variable_any changed; ///< another device made progress
  simt::MemoryMap memory;
  struct Allocation {
    size_t bytes;
    bool host;
  };
  std::map<uintptr_t, Allocation> allocations;
  size_t used = 0;
  std::list<OperationPtr> pending;
  std::set<FakeStream *> streams;
  FakeStream defaultStream;
  std::unique_ptr<simt::Executor> executor; ///< made with the first kernel
  std::mt19937_64 random;
  std::map<const void *, OperationPtr> lastOfSerial;
  OrderChecker order;
  int stickyError = 0;
  double clock = 0;

  /// Appends work to a stream, or a node to the graph it is captured into. Work with the same
  /// `serial` key also runs in the order it was issued, on whatever streams (collectives of one
  /// communicator).
  int submit(FakeStream &stream, Node::Kind kind, Work work, const void *serial = nullptr);
  void serialize(const OperationPtr &operation, const void *serial);
  /// Puts an operation, whose predecessors are set, among the pending ones.
  void enroll(const OperationPtr &operation);
  /// Runs pending operations until `target` is done; the sticky error, if any.
  int runUntil(const OperationPtr &target);
  int runAll();
  /// As far as possible without waiting for other ranks.
  void runReady(const OperationPtr &target);
  /// Inside an allocation?
  bool owns(uintptr_t p, size_t bytes) const;

private:
  bool runOne(bool mayWait);
  void checkOrder(const OperationPtr &operation);
  void maybeRunSome();
};

FakeDevice &device(int ordinal);
/// Wakes threads that wait for a collective of another rank.
void announceProgress();

/// The device of the calling thread's current context; null when there is none.
FakeDevice *currentDevice();
void setCurrentDevice(FakeDevice *device);

/// Counts a call; returns false when an injected failure is due.
void countCall(const char *function);
bool injectedFailure(long long Options::*counter);

/// What the operation that the calling thread runs is, reads and writes.
struct AccessLog {
  std::string label;
  simt::Footprint footprint;
};
/// Null when nobody wants to know.
AccessLog *accessLog();
inline void noteAccess(const void *p, size_t bytes, bool write) {
  if (AccessLog *log = accessLog())
    log->footprint.note(reinterpret_cast<uintptr_t>(p), bytes, write);
}

inline void noteLabel(const std::string &label) {
  if (AccessLog *log = accessLog())
    log->label = label;
}

/// Adds to the report that tests and the runtime's error messages read.
void addReport(const std::string &text);

} // namespace gpucc::rt::fakecuda

#endif
