//===- FakeNccl.cpp - NCCL between threads with fake CUDA devices ---------===//
//
// Each collective becomes an operation of the fake CUDA driver, put on a stream by its hook
// (gpuccFakeCudaEnqueue), so it is ordered by streams and events, captured into graphs and run once
// per launch. When it runs it posts its addresses with the others and answers "not yet" until all
// ranks have; the last one computes for all. Rules that NCCL states are checked and reported by
// name:
//
//   * all ranks issue the same operations of a communicator in the same order, with equal counts
//     and types
//   * a communicator is ready when all its ranks have come: a blocking one returns then, one that
//     does not block is "in progress" until then, and after each call until it has been asked once
//   * a send completes with its receive: two ranks that both send first, outside a group, hang here
//     too, and are reported after `patienceSeconds`
//
// Reductions run in rank order, so results are deterministic.
//
//===----------------------------------------------------------------------===//

#include "Reduce.h"
#include "comm/NcclApi.h"
#include "fakecuda/Control.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpucc::rt::nccl {
#define FAKE(NAME) extern "C" __attribute__((visibility("default"))) int NAME
#define GPUCC_FAKE_DECLARE(NAME, ...) FAKE(NAME)(__VA_ARGS__);
GPUCC_NCCL_FUNCTIONS(GPUCC_FAKE_DECLARE)
#undef GPUCC_FAKE_DECLARE

namespace {
constexpr double patienceSeconds = 20;

enum class Kind { allReduce, reduceScatter, allGather, broadcast, send, receive };
const char *const kindNames[] = {"all-reduce", "reduce-scatter", "all-gather",
                                 "broadcast",  "send",           "receive"};

struct Call {
  Kind kind;
  const char *input;
  char *output;
  size_t count;
  int type, op, peer;
};

/// One collective of a communicator, as far as its ranks have come.
struct Meeting {
  std::vector<Call> calls;
  std::vector<bool> present, left;
  size_t arrived = 0, gone = 0;
  bool computed = false, failed = false;
};
struct Message {
  const char *data;
  size_t bytes;
  bool taken = false;
};
struct Group {
  std::mutex mutex;
  std::condition_variable changed;
  size_t size = 0, joined = 0;
  bool aborted = false;
  std::map<uint64_t, Meeting> meetings; ///< by how many collectives the rank has run before
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> mail; ///< by (from, to)
};

std::mutex groupsMutex;
std::map<std::string, std::shared_ptr<Group>> groups;
} // namespace

namespace {
/// A rank's side of a communicator; operations on streams keep it beyond the handle's end.
struct CommState {
  std::shared_ptr<Group> group;
  int rank;
  uint64_t run = 0; ///< collectives that this rank has run
  bool blocking = true;
  bool pending = false; ///< a call was made that nobody has asked for yet
  int asyncError = success;
};
} // namespace

struct CommObject {
  std::shared_ptr<CommState> state;
};

namespace {
std::string describe(const Call &c, int rank) {
  return std::string(kindNames[static_cast<int>(c.kind)]) + " of " + std::to_string(c.count) +
         " elements of type " + std::to_string(c.type) + " by rank " + std::to_string(rank);
}

/// Moves data for all ranks; called once all have arrived.
void compute(Meeting &m) {
  const size_t n = m.calls.size();
  const Call &first = m.calls[0];
  const size_t bytes = first.count * elementBytes(first.type);
  std::vector<const char *> inputs;
  for (const Call &c : m.calls)
    inputs.push_back(c.input);
  // Results first, then outputs: an operation may be in place.
  std::vector<std::vector<char>> results(n);
  for (size_t r = 0; r < n; ++r) {
    switch (first.kind) {
    case Kind::allReduce:
      if (r == 0)
        results[0] = reduce(inputs, 0, first.count, first.type, first.op);
      else
        results[r] = results[0];
      break;
    case Kind::reduceScatter:
      results[r] = reduce(inputs, r * bytes, first.count, first.type, first.op);
      break;
    case Kind::allGather:
      for (const char *input : inputs)
        results[r].insert(results[r].end(), input, input + bytes);
      break;
    default:
      results[r].assign(inputs[static_cast<size_t>(first.peer)],
                        inputs[static_cast<size_t>(first.peer)] + bytes);
      break;
    }
  }
  for (size_t r = 0; r < n; ++r)
    memcpy(m.calls[r].output, results[r].data(), results[r].size());
  m.computed = true;
}

/// What a stream runs: one collective, or the sends and receives of one group.
class Operation {
public:
  Operation(std::shared_ptr<CommState> comm, std::vector<Call> calls)
      : comm(std::move(comm)), calls(std::move(calls)) {}

  /// 0 done, 1 not yet, 2 failed; starts anew after it is done, for the next launch of a graph.
  int step() {
    const auto now = std::chrono::steady_clock::now();
    if (!started) {
      started = true;
      since = now;
      key = comm->run;
      if (calls[0].kind < Kind::send)
        ++comm->run;
      messages.assign(calls.size(), nullptr);
      posted = false;
    }
    int result = calls[0].kind < Kind::send ? meet() : exchange();
    if (result == 1 && std::chrono::duration<double>(now - since).count() > patienceSeconds) {
      fprintf(stderr, "fake NCCL: %s waits in vain; its partners never reach it\n",
              describe(calls[0], comm->rank).c_str());
      result = 2;
    }
    if (result != 1)
      started = false;
    if (result == 0)
      declare();
    if (result == 2) {
      std::lock_guard lock(comm->group->mutex);
      comm->asyncError = remoteError;
    }
    return result;
  }

private:
  /// What this rank's side reads and writes, for the driver's check of order.
  void declare() const {
    const size_t n = comm->group->size;
    for (const Call &c : calls) {
      const size_t bytes = c.count * elementBytes(c.type);
      const std::string label = describe(c, comm->rank);
      if (c.input)
        gpuccFakeCudaDeclare(label.c_str(), c.input,
                             c.kind == Kind::reduceScatter ? n * bytes : bytes,
                             /*write=*/0);
      if (c.output)
        gpuccFakeCudaDeclare(label.c_str(), c.output, c.kind == Kind::allGather ? n * bytes : bytes,
                             /*write=*/1);
    }
  }

  int meet() {
    Group &g = *comm->group;
    std::lock_guard lock(g.mutex);
    if (g.aborted)
      return 2;
    Meeting &m = g.meetings[key];
    m.calls.resize(g.size);
    m.present.resize(g.size);
    const auto me = static_cast<size_t>(comm->rank);
    if (!m.present[me]) {
      m.calls[me] = calls[0];
      m.present[me] = true;
      ++m.arrived;
      gpuccFakeCudaProgress();
    }
    if (m.arrived < g.size)
      return 1;
    if (!m.computed && !m.failed) {
      for (size_t r = 1; r < g.size; ++r) {
        const Call &a = m.calls[0], &b = m.calls[r];
        if (a.kind != b.kind || a.count != b.count || a.type != b.type || a.op != b.op ||
            (a.kind == Kind::broadcast && a.peer != b.peer)) {
          fprintf(stderr, "fake NCCL: ranks disagree on operation %llu: %s, but %s\n",
                  static_cast<unsigned long long>(key), describe(a, 0).c_str(),
                  describe(b, static_cast<int>(r)).c_str());
          m.failed = true;
        }
      }
      if (!m.failed)
        compute(m);
      gpuccFakeCudaProgress();
    }
    const bool failed = m.failed;
    if (++m.gone == g.size)
      g.meetings.erase(key);
    return failed ? 2 : 0;
  }

  int exchange() {
    Group &g = *comm->group;
    std::lock_guard lock(g.mutex);
    if (g.aborted)
      return 2;
    if (!posted)
      for (size_t i = 0; i < calls.size(); ++i)
        if (calls[i].kind == Kind::send) {
          messages[i] = std::make_shared<Message>(
              Message{calls[i].input, calls[i].count * elementBytes(calls[i].type)});
          g.mail[{comm->rank, calls[i].peer}].push_back(messages[i]);
        }
    posted = true;
    bool all = true;
    for (size_t i = 0; i < calls.size(); ++i) {
      const Call &c = calls[i];
      if (c.kind == Kind::receive && !messages[i]) {
        auto &box = g.mail[{c.peer, comm->rank}];
        if (box.empty()) {
          all = false;
          continue;
        }
        messages[i] = box.front();
        box.pop_front();
        const size_t bytes = c.count * elementBytes(c.type);
        if (messages[i]->bytes != bytes) {
          fprintf(stderr, "fake NCCL: rank %d receives %zu bytes from rank %d, which sends %zu\n",
                  comm->rank, bytes, c.peer, messages[i]->bytes);
          return 2;
        }
        memcpy(c.output, messages[i]->data, bytes);
        messages[i]->taken = true;
        gpuccFakeCudaProgress();
      }
      all &= messages[i]->taken;
    }
    return all ? 0 : 1;
  }

  std::shared_ptr<CommState> comm;
  std::vector<Call> calls;
  std::vector<std::shared_ptr<Message>> messages; ///< per call
  std::chrono::steady_clock::time_point since;
  uint64_t key = 0;
  bool started = false, posted = false;
};

/// Calls between ncclGroupStart and ncclGroupEnd of a thread.
struct Pending {
  Comm comm;
  Stream stream;
  Call call;
};
thread_local int groupDepth = 0;
thread_local std::vector<Pending> pending;

int enqueue(Comm comm, Stream stream, std::vector<Call> calls) {
  {
    CommState &state = *comm->state;
    std::lock_guard lock(state.group->mutex);
    if (state.group->joined < state.group->size || state.pending) {
      fprintf(stderr, "fake NCCL: %s before the call before it was done\n",
              describe(calls[0], state.rank).c_str());
      return invalidArgument;
    }
    state.pending = !state.blocking;
  }
  auto *operation = new Operation(comm->state, std::move(calls));
  const int error = gpuccFakeCudaEnqueue(
      stream, comm->state.get(), [](void *p) { return static_cast<Operation *>(p)->step(); },
      operation, [](void *p) { delete static_cast<Operation *>(p); });
  return error ? unhandledCudaError : comm->state->blocking ? success : inProgress;
}

int submit(Comm comm, Stream stream, Call call) {
  if (!comm || call.peer < -1 || call.peer >= static_cast<int>(comm->state->group->size) ||
      !elementBytes(call.type))
    return invalidArgument;
  if (groupDepth) {
    pending.push_back({comm, stream, call});
    return success;
  }
  return enqueue(comm, stream, {call});
}
} // namespace

FAKE(ncclGetVersion)(int *version) {
  *version = 22700;
  return success;
}
FAKE(ncclGetUniqueId)(UniqueId *id) {
  static std::mutex mutex;
  static unsigned next = 0;
  std::lock_guard lock(mutex);
  memset(id, 0, sizeof(*id));
  snprintf(id->bytes, sizeof(id->bytes), "gpucc-fake-%u", next++);
  return success;
}
FAKE(ncclCommInitRankConfig)(Comm *comm, int ranks, UniqueId id, int rank, Config *config) {
  if (ranks < 1 || rank < 0 || rank >= ranks || config->size != sizeof(Config) ||
      config->magic != Config().magic)
    return invalidArgument;
  std::shared_ptr<Group> group;
  {
    std::lock_guard lock(groupsMutex);
    std::shared_ptr<Group> &entry =
        groups[std::string(id.bytes, strnlen(id.bytes, sizeof(id.bytes)))];
    if (!entry) {
      entry = std::make_shared<Group>();
      entry->size = static_cast<size_t>(ranks);
    }
    group = entry;
  }
  std::unique_lock lock(group->mutex);
  if (group->size != static_cast<size_t>(ranks) || group->joined == group->size)
    return invalidUsage;
  ++group->joined;
  group->changed.notify_all();
  *comm = new CommObject{std::make_shared<CommState>(CommState{group, rank})};
  (*comm)->state->blocking = config->blocking != 0;
  if (!config->blocking)
    return inProgress;
  group->changed.wait(lock, [&] { return group->joined == group->size || group->aborted; });
  return group->aborted ? remoteError : success;
}
FAKE(ncclCommDestroy)(Comm comm) {
  delete comm;
  return success;
}
FAKE(ncclCommAbort)(Comm comm) {
  {
    std::lock_guard lock(comm->state->group->mutex);
    comm->state->group->aborted = true;
    comm->state->group->changed.notify_all();
  }
  delete comm;
  gpuccFakeCudaProgress();
  return success;
}
FAKE(ncclCommGetAsyncError)(Comm comm, int *error) {
  CommState &state = *comm->state;
  std::lock_guard lock(state.group->mutex);
  const bool waits = state.group->joined < state.group->size || state.pending;
  state.pending = false;
  *error = state.asyncError != success ? state.asyncError
           : state.group->aborted      ? remoteError
           : waits                     ? inProgress
                                       : success;
  return success;
}
extern "C" __attribute__((visibility("default"))) const char *ncclGetErrorString(int error) {
  switch (error) {
  case success:
    return "no error";
  case invalidArgument:
    return "invalid argument";
  case invalidUsage:
    return "invalid usage";
  case remoteError:
    return "a rank failed, disagrees or is gone";
  default:
    return "unhandled CUDA error";
  }
}

FAKE(ncclGroupStart)() {
  ++groupDepth;
  return success;
}
/// Sends and receives of one communicator and stream become one operation; collectives stay single.
FAKE(ncclGroupEnd)() {
  if (groupDepth == 0)
    return invalidUsage;
  if (--groupDepth)
    return success;
  std::vector<Pending> all;
  all.swap(pending);
  std::map<std::pair<Comm, Stream>, std::vector<Call>> exchanges;
  int result = success;
  for (const Pending &p : all)
    if (p.call.kind >= Kind::send)
      exchanges[{p.comm, p.stream}].push_back(p.call);
    else if (int error = enqueue(p.comm, p.stream, {p.call}))
      result = error;
  for (auto &[key, calls] : exchanges)
    if (int error = enqueue(key.first, key.second, std::move(calls)))
      result = error;
  return result;
}

FAKE(ncclAllReduce)(const void *input, void *output, size_t count, int type, int op, Comm comm,
                    Stream stream) {
  return submit(comm, stream,
                {Kind::allReduce, static_cast<const char *>(input), static_cast<char *>(output),
                 count, type, op, -1});
}
FAKE(ncclReduceScatter)(const void *input, void *output, size_t outputCount, int type, int op,
                        Comm comm, Stream stream) {
  return submit(comm, stream,
                {Kind::reduceScatter, static_cast<const char *>(input), static_cast<char *>(output),
                 outputCount, type, op, -1});
}
FAKE(ncclAllGather)(const void *input, void *output, size_t inputCount, int type, Comm comm,
                    Stream stream) {
  return submit(comm, stream,
                {Kind::allGather, static_cast<const char *>(input), static_cast<char *>(output),
                 inputCount, type, sum, -1});
}
FAKE(ncclBroadcast)(const void *input, void *output, size_t count, int type, int root, Comm comm,
                    Stream stream) {
  return submit(comm, stream,
                {Kind::broadcast, static_cast<const char *>(input), static_cast<char *>(output),
                 count, type, sum, root});
}
FAKE(ncclSend)(const void *input, size_t count, int type, int peer, Comm comm, Stream stream) {
  return submit(comm, stream,
                {Kind::send, static_cast<const char *>(input), nullptr, count, type, sum, peer});
}
FAKE(ncclRecv)(void *output, size_t count, int type, int peer, Comm comm, Stream stream) {
  return submit(comm, stream,
                {Kind::receive, nullptr, static_cast<char *>(output), count, type, sum, peer});
}

} // namespace gpucc::rt::nccl
