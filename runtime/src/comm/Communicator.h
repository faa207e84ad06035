//===- Communicator.h - Collectives between ranks
//-----------------------------------------------===//
//
// A World is what connects ranks (threads of one process, NCCL, MPI); from it a session makes one
// Communicator per entry of the plan's communicator table in which its rank is a member. Two kinds
// of implementation exist:
//
//   * host (threads, mpi): start() posts the operation and returns a Request; the driver polls it
//     with test() while it runs commands of other streams. Buffers stay untouched until the request
//     is done.
//   * device (nccl): start() enqueues on the given stream and returns no request: the stream orders
//     completion.
//
// Example, rank 1 of 2, all-reduce of 4 floats in place:
//
//   CollectiveCall call = {CollectiveKind::all_reduce, ReduceKind::sum, DType::f32, 4, x, x};
//   std::unique_ptr<Request> request;
//   GPUCC_RT_TRY(communicator.start(call, /*stream=*/nullptr, request));
//   for (bool done = false; !done;)
//     GPUCC_RT_TRY(request->test(done));
//
// All members must start the same operations in the same order; an implementation that can see a
// difference reports it.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_COMM_COMMUNICATOR_H
#define GPUCC_RT_COMM_COMMUNICATOR_H

#include "core/Status.h"
#include "plan_generated.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpucc::rt {

/// One collective with addresses. `count`, `input`, `output` as plan.fbs says for each kind; `peer`
/// and `source` are member indices.
struct CollectiveCall {
  plan::CollectiveKind kind;
  plan::ReduceKind reduce;
  plan::DType dtype;
  uint64_t count;
  const void *input;
  void *output;
  int64_t peer = -1;
  int64_t source = -1;
  const char *name = ""; ///< the command's name, for errors and traces
};

/// A posted operation of a host communicator.
class Request {
public:
  virtual ~Request() = default;
  /// Does what can be done now; `done` becomes true when output is complete and input may be
  /// reused.
  virtual Status test(bool &done) = 0;
  /// "all_reduce 'fc1.grad' on 'dp': waiting for ranks 2, 3", for the watchdog.
  virtual std::string describe() const = 0;
};

class Communicator {
public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;
  virtual int index() const = 0; ///< own member index

  /// `stream` is the driver's stream handle (null on the host). `request` stays empty when the
  /// stream orders completion.
  virtual Status start(const CollectiveCall &call, void *stream,
                       std::unique_ptr<Request> &request) = 0;

  /// Calls between the two are issued as one group (NCCL needs this for exchanges on one stream).
  virtual Status groupBegin() { return {}; }
  virtual Status groupEnd() { return {}; }
};

struct CommunicatorSpec {
  uint32_t id;              ///< index in the plan's table: equal on all members
  std::string name;         ///< "dp"
  std::vector<int> members; ///< global ranks in member order
  int index;                ///< of the connecting rank in `members`
};

/// The ranks that can talk. Shared by the sessions of one process; all functions are thread-safe.
class World {
public:
  virtual ~World() = default;
  virtual const char *name() const = 0; ///< "threads", "nccl"
  virtual int size() const = 0;
  /// True when communicators work on device streams (nccl), false when they return requests.
  virtual bool onDevice() const = 0;

  /// Makes the communicator of `rank`. May block until all members have called, the watchdog or an
  /// abort, so ranks prepare concurrently. The n-th connect of a member belongs with the n-th of the
  /// others (Generations.h): a world serves successive sessions.
  virtual Status connect(int rank, const CommunicatorSpec &spec,
                         std::unique_ptr<Communicator> &communicator) = 0;

  /// Sleeps until something may have changed for `rank` since the last call (a member posted or
  /// finished something), or the watchdog time has passed without: then `timedOut` is set. Host
  /// worlds only.
  virtual Status waitForProgress(int rank, bool &timedOut) = 0;

  /// Makes all present and future operations fail with `reason` on every rank: a failed rank must
  /// not hang the others.
  virtual void abort(int rank, const std::string &reason) = 0;
};

/// Ranks as threads of this process. Reductions run in member order, so results do not depend on
/// timing. `watchdogSeconds`: a collective that makes no progress for so long is an error that
/// names the missing ranks.
std::shared_ptr<World> createThreadsWorld(int ranks, double watchdogSeconds);

/// Ranks as devices of this process, connected by NCCL (opened with dlopen).
Status createNcclWorld(int ranks, double watchdogSeconds, std::shared_ptr<World> &world);

/// By name: "threads" or "nccl".
Status createWorld(const std::string &kind, int ranks, double watchdogSeconds,
                   std::shared_ptr<World> &world);

} // namespace gpucc::rt

#endif // GPUCC_RT_COMM_COMMUNICATOR_H
