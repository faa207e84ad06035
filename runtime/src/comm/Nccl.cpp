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
// failed one.
//
//===----------------------------------------------------------------------===//
#include "comm/NcclApi.h"

#include "comm/Communicator.h"
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
                         "; NCCL 2.7 or newer is needed");
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
  Status groupBegin() override { return check(library->fn.ncclGroupStart(), "ncclGroupStart"); }
  Status groupEnd() override { return check(library->fn.ncclGroupEnd(), "ncclGroupEnd"); }

private:
  Status check(int result, const char *call) const {
    return library->check(result, concat(call, " on communicator '", spec.name, "'"));
  }
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

private:
  using Clock = std::chrono::steady_clock;
  struct RankState {
    std::vector<nccl::Comm> comms;
    Clock::time_point waitingSince, lastPoll;
    bool aborted = false;
  };
  void abortComms(RankState &state);

  std::shared_ptr<NcclLibrary> library;
  int ranks;
  std::chrono::duration<double> watchdog;
  std::mutex mutex;
  std::vector<RankState> states;
  std::string abortReason;
  int abortRank = -1;
  /// Per (communicator id, first member): one id per session, made by whoever comes first.
  std::map<std::pair<uint32_t, int>, std::vector<nccl::UniqueId>> ids;
  std::map<std::pair<uint32_t, int>, size_t> connects; ///< per (communicator id, rank)
};

NcclCommunicator::~NcclCommunicator() { world->forget(rank, comm); }

Status NcclWorld::connect(int rank, const CommunicatorSpec &spec,
                          std::unique_ptr<Communicator> &communicator) {
  nccl::UniqueId id{};
  {
    std::lock_guard lock(mutex);
    std::vector<nccl::UniqueId> &generations = ids[{spec.id, spec.members[0]}];
    const size_t generation = connects[{spec.id, rank}]++;
    while (generations.size() <= generation) {
      generations.emplace_back();
      GPUCC_RT_TRY(
          library->check(library->fn.ncclGetUniqueId(&generations.back()), "ncclGetUniqueId"));
    }
    id = generations[generation];
  }
  nccl::Comm comm = nullptr;
  GPUCC_RT_TRY(library->check(
      library->fn.ncclCommInitRank(&comm, static_cast<int>(spec.members.size()), id, spec.index),
      concat("ncclCommInitRank for communicator '", spec.name, "', rank ", rank)));
  std::lock_guard lock(mutex);
  states[rank].comms.push_back(comm);
  communicator = std::make_unique<NcclCommunicator>(library, shared_from_this(), comm, spec, rank);
  return {};
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
    return GPUCC_RT_FAIL(Code::communication, "rank ", abortRank, " failed: ", abortReason);
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

Status NcclCommunicator::allToAll(const CollectiveCall &call, size_t bytes, nccl::Stream stream) {
  GPUCC_RT_TRY(groupBegin());
  for (int m = 0; m < size(); ++m) {
    GPUCC_RT_TRY(check(library->fn.ncclSend(static_cast<const char *>(call.input) + m * bytes,
                                            bytes, nccl::uint8, m, comm, stream),
                       "ncclSend"));
    GPUCC_RT_TRY(check(library->fn.ncclRecv(static_cast<char *>(call.output) + m * bytes, bytes,
                                            nccl::uint8, m, comm, stream),
                       "ncclRecv"));
  }
  return groupEnd();
}

Status NcclCommunicator::permute(const CollectiveCall &call, size_t bytes, nccl::Stream stream) {
  GPUCC_RT_TRY(groupBegin());
  if (call.peer >= 0)
    GPUCC_RT_TRY(check(library->fn.ncclSend(call.input, bytes, nccl::uint8,
                                            static_cast<int>(call.peer), comm, stream),
                       "ncclSend"));
  if (call.source >= 0)
    GPUCC_RT_TRY(check(library->fn.ncclRecv(call.output, bytes, nccl::uint8,
                                            static_cast<int>(call.source), comm, stream),
                       "ncclRecv"));
  return groupEnd();
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
  const auto &fn = library->fn;
  const int peer = static_cast<int>(call.peer);
  Status status;
  switch (call.kind) {
  case Kind::all_reduce:
    status = check(fn.ncclAllReduce(call.input, call.output, call.count, type, ncclOp(call.reduce),
                                    comm, stream),
                   "ncclAllReduce");
    break;
  case Kind::reduce_scatter:
    status = check(fn.ncclReduceScatter(call.input, call.output, call.count, type,
                                        ncclOp(call.reduce), comm, stream),
                   "ncclReduceScatter");
    break;
  case Kind::all_gather:
    status = check(fn.ncclAllGather(call.input, call.output, bytes, nccl::uint8, comm, stream),
                   "ncclAllGather");
    break;
  case Kind::broadcast:
    status = check(fn.ncclBroadcast(call.input ? call.input : call.output, call.output, bytes,
                                    nccl::uint8, peer, comm, stream),
                   "ncclBroadcast");
    break;
  case Kind::all_to_all:
    status = allToAll(call, bytes, stream);
    break;
  case Kind::permute:
    status = permute(call, bytes, stream);
    break;
  case Kind::send:
    status = check(fn.ncclSend(call.input, bytes, nccl::uint8, peer, comm, stream), "ncclSend");
    break;
  case Kind::recv:
    status = check(fn.ncclRecv(call.output, bytes, nccl::uint8, peer, comm, stream), "ncclRecv");
    break;
  }
  return status ? std::move(status).prefixed(concat("'", call.name, "'")) : Status();
}
} // namespace

Status gpucc::rt::createNcclWorld(int ranks, double watchdogSeconds,
                                  std::shared_ptr<World> &world) {
  std::shared_ptr<NcclLibrary> library;
  GPUCC_RT_TRY(NcclLibrary::open(library));
  world = std::make_shared<NcclWorld>(std::move(library), ranks, watchdogSeconds);
  return {};
}
