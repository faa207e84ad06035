//===- Nccl.cpp - Ranks as devices of this process, connected by NCCL -----===//
//
// libnccl is loaded from the file in the environment variable GPUCC_LIBNCCL, else as libnccl.so.2,
// or, where the device is emulated, from libgpucc_fakenccl.so beside this program or in ../lib.
// Each rank is a thread with a device of its own; connect() makes the communicator on that thread's
// current CUDA context. Collectives are enqueued on the caller's stream, so they can be captured
// into a graph; what NCCL has no function for is put together inside one group:
//
//   all_to_all   n sends and n receives        permute   a send to `peer`, a receive from `source`
//
// Failures: NCCL reports asynchronous errors per communicator; when one rank fails or a collective
// hangs past the watchdog, each rank aborts its communicators and gets an error that names the
// failed one. Communicators do not block (ncclConfig_t::blocking = 0): a rank that failed before it
// came to connect() would leave the others inside ncclCommInitRank for ever. Each call is polled
// until NCCL has issued it.
//
//===----------------------------------------------------------------------===//
#include "comm/NcclApi.h"

#include "comm/Communicator.h"
#include "comm/Generations.h"
#include "core/DType.h"
#include "drivers/CudaLibrary.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <thread>

using namespace gpucc::rt;
using Kind = plan::CollectiveKind;

namespace {
class NcclLibrary {
public:
  static Status open(std::shared_ptr<NcclLibrary> &library);
  Status check(int result, const std::string &call) const {
    if (result == nccl::success || result == nccl::inProgress)
      return {};
    return GPUCC_RT_FAIL(Code::communication, call, ": ", text ? text(result) : "NCCL error", " (",
                         result, ")");
  }

  nccl::FunctionTable fn{};

private:
  const char *(*text)(int) = nullptr;
};

Status NcclLibrary::open(std::shared_ptr<NcclLibrary> &library) {
  static std::mutex mutex;
  static std::shared_ptr<NcclLibrary> loaded;
  std::lock_guard lock(mutex);
  if (loaded) {
    library = loaded;
    return {};
  }
  const char *file = std::getenv("GPUCC_LIBNCCL");
  std::string name = file && *file ? file : "libnccl.so.2";
  // NCCL itself needs a device; the emulated one has its own.
  std::shared_ptr<CudaLibrary> cuda;
  GPUCC_RT_TRY(CudaLibrary::open(cuda));
  if (!(file && *file) && cuda->emulated())
    name = CudaLibrary::emulationFile("libgpucc_fakenccl.so");
  void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed
  if (!handle)
    return GPUCC_RT_FAIL(Code::unsupported, "cannot load NCCL '", name, "': ", dlerror(),
                         "; install libnccl2 or the Python package nvidia-nccl-cu13, or set "
                         "GPUCC_LIBNCCL");
  auto made = std::make_shared<NcclLibrary>();
  std::string missing;
#define GPUCC_NCCL_FIND(NAME, ...)                                                                 \
  made->fn.NAME = reinterpret_cast<decltype(made->fn.NAME)>(dlsym(handle, #NAME));                 \
  if (!made->fn.NAME)                                                                              \
    missing += " " #NAME;
  GPUCC_NCCL_FUNCTIONS(GPUCC_NCCL_FIND)
#undef GPUCC_NCCL_FIND
  if (!missing.empty())
    return GPUCC_RT_FAIL(Code::unsupported, name, " lacks", missing,
                         "; NCCL 2.14 or newer is needed");
  made->text = reinterpret_cast<const char *(*)(int)>(dlsym(handle, "ncclGetErrorString"));
  library = loaded = made;
  return {};
}

class NcclWorld;

class NcclCommunicator : public Communicator {
public:
  NcclCommunicator(std::shared_ptr<NcclLibrary> library, std::shared_ptr<NcclWorld> world,
                   nccl::Comm comm, CommunicatorSpec spec, int rank)
      : library(std::move(library)), world(std::move(world)), comm(comm), spec(std::move(spec)),
        rank(rank) {}
  ~NcclCommunicator() override;
  int size() const override { return static_cast<int>(spec.members.size()); }
  int index() const override { return spec.index; }
  Status start(const CollectiveCall &call, void *stream,
               std::unique_ptr<Request> &request) override;

private:
  Status check(int result, const char *call) const {
    return library->check(result, concat(call, " on communicator '", spec.name, "'"));
  }
  Status issue(const CollectiveCall &call, size_t bytes, int type, nccl::Stream stream);
  template <typename Body> Status grouped(const Body &body);
  Status allToAll(const CollectiveCall &call, size_t bytes, nccl::Stream stream);
  Status permute(const CollectiveCall &call, size_t bytes, nccl::Stream stream);

  std::shared_ptr<NcclLibrary> library;
  std::shared_ptr<NcclWorld> world;
  nccl::Comm comm;
  CommunicatorSpec spec;
  int rank;
};

class NcclWorld : public World, public std::enable_shared_from_this<NcclWorld> {
public:
  NcclWorld(std::shared_ptr<NcclLibrary> library, int ranks, double watchdogSeconds)
      : library(std::move(library)), ranks(ranks), watchdog(watchdogSeconds), states(ranks) {}

  const char *name() const override { return "nccl"; }
  int size() const override { return ranks; }
  bool onDevice() const override { return true; }
  Status connect(int rank, const CommunicatorSpec &spec,
                 std::unique_ptr<Communicator> &communicator) override;
  Status waitForProgress(int rank, bool &timedOut) override;
  void abort(int rank, const std::string &reason) override;
  void forget(int rank, nccl::Comm comm);
  /// Polls until NCCL has done what it was called for on `comm`.
  Status settle(int rank, nccl::Comm comm);

private:
  using Clock = std::chrono::steady_clock;
  struct RankState {
    std::vector<nccl::Comm> comms;
    Clock::time_point waitingSince, lastPoll;
  };
  void abortComms(RankState &state);
  Status aborted() const {
    return GPUCC_RT_FAIL(Code::communication, "rank ", abortRank, " failed: ", abortReason);
  }

  std::shared_ptr<NcclLibrary> library;
  int ranks;
  std::chrono::duration<double> watchdog;
  std::mutex mutex;
  std::vector<RankState> states;
  std::string abortReason;
  int abortRank = -1;
  Generations<nccl::UniqueId> ids; ///< made by whoever comes first
};

NcclCommunicator::~NcclCommunicator() { world->forget(rank, comm); }

Status NcclWorld::connect(int rank, const CommunicatorSpec &spec,
                          std::unique_ptr<Communicator> &communicator) {
  const std::string call =
      concat("ncclCommInitRankConfig for communicator '", spec.name, "', rank ", rank);
  nccl::UniqueId id{};
  {
    std::lock_guard lock(mutex);
    if (!abortReason.empty())
      return aborted();
    GPUCC_RT_TRY(ids.join(spec, id, [&](nccl::UniqueId &made) {
      return library->check(library->fn.ncclGetUniqueId(&made), "ncclGetUniqueId");
    }));
  }
  nccl::Config config;
  config.blocking = 0;
  nccl::Comm comm = nullptr;
  Status status = library->check(
      library->fn.ncclCommInitRankConfig(&comm, static_cast<int>(spec.members.size()), id,
                                         spec.index, &config),
      call);
  if (!status)
    status = settle(rank, comm).prefixed(call);
  if (status) {
    if (comm)
      library->fn.ncclCommAbort(comm);
    return status;
  }
  std::lock_guard lock(mutex);
  states[rank].comms.push_back(comm);
  communicator = std::make_unique<NcclCommunicator>(library, shared_from_this(), comm, spec, rank);
  return {};
}

Status NcclWorld::settle(int rank, nccl::Comm comm) {
  for (const Clock::time_point since = Clock::now();;) {
    int state = nccl::success;
    GPUCC_RT_TRY(library->check(library->fn.ncclCommGetAsyncError(comm, &state),
                                "ncclCommGetAsyncError"));
    if (state == nccl::success)
      return {};
    {
      // When another rank failed first, its error says more than the call that it broke.
      std::lock_guard lock(mutex);
      if (!abortReason.empty() && rank != abortRank)
        return aborted();
    }
    GPUCC_RT_TRY(library->check(state, "asynchronous error"));
    if (Clock::now() - since > watchdog)
      return GPUCC_RT_FAIL(Code::communication, "does not finish within ", watchdog.count(),
                           " s; another rank may be gone");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void NcclWorld::forget(int rank, nccl::Comm comm) {
  std::lock_guard lock(mutex);
  std::vector<nccl::Comm> &comms = states[rank].comms;
  auto it = std::find(comms.begin(), comms.end(), comm);
  if (it == comms.end())
    return; // aborted
  comms.erase(it);
  library->fn.ncclCommDestroy(comm);
}

void NcclWorld::abortComms(RankState &state) {
  for (nccl::Comm comm : state.comms)
    library->fn.ncclCommAbort(comm);
  state.comms.clear();
}

Status NcclWorld::waitForProgress(int rank, bool &timedOut) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  std::lock_guard lock(mutex);
  RankState &state = states[rank];
  // Polls that follow each other closely are one wait; a pause means that something finished.
  const Clock::time_point now = Clock::now();
  if (now - state.lastPoll > std::chrono::milliseconds(200))
    state.waitingSince = now;
  state.lastPoll = now;
  timedOut = now - state.waitingSince > watchdog;
  if (!abortReason.empty() && rank != abortRank) {
    abortComms(state);
    return aborted();
  }
  for (nccl::Comm comm : state.comms) {
    int error = nccl::success;
    library->fn.ncclCommGetAsyncError(comm, &error);
    GPUCC_RT_TRY(library->check(error, concat("rank ", rank, ": a collective failed")));
  }
  return {};
}

void NcclWorld::abort(int rank, const std::string &reason) {
  std::lock_guard lock(mutex);
  if (abortReason.empty()) {
    abortReason = reason;
    abortRank = rank;
  }
  abortComms(states[rank]);
}

/// NCCL's type, and by how much a count grows when a type is only moved (as bytes).
int ncclType(plan::DType dtype, size_t &bytes) {
  switch (dtype) {
  case plan::DType::f64:
    return nccl::float64;
  case plan::DType::f32:
    return nccl::float32;
  case plan::DType::f16:
    return nccl::float16;
  case plan::DType::bf16:
    return nccl::bfloat16;
  case plan::DType::i64:
    return nccl::int64;
  case plan::DType::i32:
    return nccl::int32;
  case plan::DType::i8:
    return nccl::int8;
  case plan::DType::u64:
    return nccl::uint64;
  case plan::DType::u32:
    return nccl::uint32;
  case plan::DType::u8:
  case plan::DType::i1:
    return nccl::uint8;
  default:
    bytes = 0;
    return -1;
  }
}

int ncclOp(plan::ReduceKind kind) {
  switch (kind) {
  case plan::ReduceKind::sum:
    return nccl::sum;
  case plan::ReduceKind::max:
    return nccl::maximum;
  case plan::ReduceKind::min:
    return nccl::minimum;
  case plan::ReduceKind::mean:
    return nccl::average;
  }
  return nccl::sum;
}

/// Calls in `body` are one group, which is closed also when one of them fails.
template <typename Body> Status NcclCommunicator::grouped(const Body &body) {
  GPUCC_RT_TRY(check(library->fn.ncclGroupStart(), "ncclGroupStart"));
  Status status = body();
  Status end = check(library->fn.ncclGroupEnd(), "ncclGroupEnd");
  return status ? std::move(status) : std::move(end);
}

Status NcclCommunicator::allToAll(const CollectiveCall &call, size_t bytes, nccl::Stream stream) {
  return grouped([&]() -> Status {
    for (int m = 0; m < size(); ++m) {
      GPUCC_RT_TRY(check(library->fn.ncclSend(static_cast<const char *>(call.input) + m * bytes,
                                              bytes, nccl::uint8, m, comm, stream),
                         "ncclSend"));
      GPUCC_RT_TRY(check(library->fn.ncclRecv(static_cast<char *>(call.output) + m * bytes, bytes,
                                              nccl::uint8, m, comm, stream),
                         "ncclRecv"));
    }
    return {};
  });
}

Status NcclCommunicator::permute(const CollectiveCall &call, size_t bytes, nccl::Stream stream) {
  return grouped([&]() -> Status {
    if (call.peer >= 0)
      GPUCC_RT_TRY(check(library->fn.ncclSend(call.input, bytes, nccl::uint8,
                                              static_cast<int>(call.peer), comm, stream),
                         "ncclSend"));
    if (call.source >= 0)
      GPUCC_RT_TRY(check(library->fn.ncclRecv(call.output, bytes, nccl::uint8,
                                              static_cast<int>(call.source), comm, stream),
                         "ncclRecv"));
    return {};
  });
}

Status NcclCommunicator::start(const CollectiveCall &call, void *streamHandle,
                               std::unique_ptr<Request> &) {
  auto stream = static_cast<nccl::Stream>(streamHandle);
  const size_t bytes = dtypeBytes(call.dtype, call.count);
  size_t known = 1;
  const int type = ncclType(call.dtype, known);
  const bool reduces = call.kind == Kind::all_reduce || call.kind == Kind::reduce_scatter;
  if (reduces && !known)
    return GPUCC_RT_FAIL(Code::unsupported, "NCCL cannot reduce ", dtypeName(call.dtype),
                         " values ('", call.name, "')");
  Status status = issue(call, bytes, type, stream);
  if (!status)
    status = world->settle(rank, comm);
  return status ? std::move(status).prefixed(concat("'", call.name, "'")) : Status();
}

Status NcclCommunicator::issue(const CollectiveCall &call, size_t bytes, int type,
                               nccl::Stream stream) {
  const auto &fn = library->fn;
  const int peer = static_cast<int>(call.peer);
  switch (call.kind) {
  case Kind::all_reduce:
    return check(fn.ncclAllReduce(call.input, call.output, call.count, type, ncclOp(call.reduce),
                                    comm, stream),
                   "ncclAllReduce");
  case Kind::reduce_scatter:
    return check(fn.ncclReduceScatter(call.input, call.output, call.count, type,
                                        ncclOp(call.reduce), comm, stream),
                   "ncclReduceScatter");
  case Kind::all_gather:
    return check(fn.ncclAllGather(call.input, call.output, bytes, nccl::uint8, comm, stream),
                   "ncclAllGather");
  case Kind::broadcast:
    return check(fn.ncclBroadcast(call.input ? call.input : call.output, call.output, bytes,
                                    nccl::uint8, peer, comm, stream),
                   "ncclBroadcast");
  case Kind::all_to_all:
    return allToAll(call, bytes, stream);
  case Kind::permute:
    return permute(call, bytes, stream);
  case Kind::send:
    return check(fn.ncclSend(call.input, bytes, nccl::uint8, peer, comm, stream), "ncclSend");
  case Kind::recv:
    return check(fn.ncclRecv(call.output, bytes, nccl::uint8, peer, comm, stream), "ncclRecv");
  }
  return {};
}
} // namespace

Status gpucc::rt::createNcclWorld(int ranks, double watchdogSeconds,
                                  std::shared_ptr<World> &world) {
  std::shared_ptr<NcclLibrary> library;
  GPUCC_RT_TRY(NcclLibrary::open(library));
  world = std::make_shared<NcclWorld>(std::move(library), ranks, watchdogSeconds);
  return {};
}
