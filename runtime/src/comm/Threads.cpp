//===- Threads.cpp - Ranks as threads of one process
//--------------------------------------------===//
//
// A collective goes through three counters: members *arrive* (post their addresses), when all have,
// each does its *part* (an equal share of the elements), and it is done for a member when all parts
// are done. No data is copied besides:
//
//   all_reduce of 6 elements on 3 members: member 1 reduces elements 2..3 of all three inputs, in
//   member order, and writes them to all three outputs.
//
// Sends copy into a mailbox and complete at once, so two stages that send to each other first do
// not block. Errors: members that start different operations, and the watchdog.
//
//===--------------------------------------------------------------------------------------------===//
#include "comm/Communicator.h"
#include "comm/Generations.h"
#include "comm/Reduce.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

using namespace gpucc::rt;
using Kind = plan::CollectiveKind;

namespace {
/// What all members of one communicator share about one collective.
struct Operation {
  std::vector<CollectiveCall> calls; ///< by member
  std::vector<bool> present;
  size_t arrived = 0, finished = 0;
};

struct Group {
  CommunicatorSpec spec;
  std::map<uint64_t, std::shared_ptr<Operation>> operations;         ///< by sequence number
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> mail; ///< by (from, to)
};

class ThreadsWorld : public World, public std::enable_shared_from_this<ThreadsWorld> {
public:
  ThreadsWorld(int ranks, double watchdogSeconds)
      : ranks(ranks), watchdog(watchdogSeconds), seen(ranks, 0) {}

  const char *name() const override { return "threads"; }
  int size() const override { return ranks; }
  bool onDevice() const override { return false; }
  Status connect(int rank, const CommunicatorSpec &spec,
                 std::unique_ptr<Communicator> &communicator) override;

  Status waitForProgress(int rank, bool &timedOut) override {
    std::unique_lock lock(mutex);
    auto changed = [&] { return version != seen[rank] || !abortReason.empty(); };
    timedOut = !condition.wait_for(lock, watchdog, changed);
    seen[rank] = version;
    return check(rank);
  }

  void abort(int rank, const std::string &reason) override {
    std::lock_guard lock(mutex);
    if (!abortReason.empty())
      return;
    abortReason = reason;
    abortRank = rank;
    condition.notify_all();
  }

  // Called with the mutex held:
  Status check(int rank) const {
    return abortReason.empty() || rank == abortRank ? Status() : aborted();
  }
  Status aborted() const {
    return GPUCC_RT_FAIL(Code::communication, "rank ", abortRank, " failed: ", abortReason);
  }
  void announce() {
    ++version;
    condition.notify_all();
  }

  std::mutex mutex;

private:
  int ranks;
  std::chrono::duration<double> watchdog;
  std::condition_variable condition;
  uint64_t version = 0;       ///< counts announcements
  std::vector<uint64_t> seen; ///< per rank, the version it last saw
  std::string abortReason;
  int abortRank = -1;
  Generations<std::shared_ptr<Group>> groups;
};

/// The part of a collective that member `me` does once all have arrived.
void doPart(const Operation &operation, size_t me) {
  size_t n = operation.calls.size();
  const CollectiveCall &mine = operation.calls[me];
  uint64_t count = mine.count, bytes = dtypeBytes(mine.dtype, count);
  auto in = [&](size_t m) { return static_cast<const char *>(operation.calls[m].input); };
  auto out = [&](size_t m) { return static_cast<char *>(operation.calls[m].output); };
  std::vector<const char *> inputs;
  std::vector<char *> outputs;
  switch (mine.kind) {
  case Kind::all_reduce:
    for (size_t m = 0; m < n; ++m)
      inputs.push_back(in(m)), outputs.push_back(out(m));
    return reduceArrays(mine.dtype, mine.reduce, inputs, outputs, count * me / n,
                        count * (me + 1) / n);
  case Kind::reduce_scatter:
    for (size_t m = 0; m < n; ++m)
      inputs.push_back(in(m) + me * bytes);
    return reduceArrays(mine.dtype, mine.reduce, inputs, {out(me)}, 0, count);
  case Kind::all_gather:
    for (size_t m = 0; m < n; ++m)
      std::memmove(out(m) + me * bytes, in(me), bytes);
    return;
  case Kind::all_to_all:
    for (size_t m = 0; m < n; ++m)
      std::memcpy(out(me) + m * bytes, in(m) + me * bytes, bytes);
    return;
  case Kind::broadcast:
    if (out(me) != in(static_cast<size_t>(mine.peer)))
      std::memcpy(out(me), in(static_cast<size_t>(mine.peer)), bytes);
    return;
  case Kind::permute:
    if (mine.source >= 0)
      std::memcpy(out(me), in(static_cast<size_t>(mine.source)), bytes);
    return;
  default:
    return;
  }
}

std::string describeCall(const CollectiveCall &call, const CommunicatorSpec &spec) {
  return concat(plan::EnumNameCollectiveKind(call.kind), " '", call.name, "' on communicator '",
                spec.name, "'");
}

std::string listRanks(const std::vector<int> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

class CollectiveRequest : public Request {
public:
  CollectiveRequest(std::shared_ptr<ThreadsWorld> world, std::shared_ptr<Group> group,
                    uint64_t sequence, std::shared_ptr<Operation> operation, size_t me)
      : world(std::move(world)), group(std::move(group)), sequence(sequence),
        operation(std::move(operation)), me(me) {}

  Status test(bool &done) override {
    {
      std::lock_guard lock(world->mutex);
      GPUCC_RT_TRY(world->check(group->spec.members[me]));
      if (operation->arrived < operation->calls.size())
        return {};
    }
    const CollectiveCall &call = operation->calls[me];
    if (call.kind == Kind::permute && call.source >= 0 &&
        operation->calls[call.source].peer != static_cast<int64_t>(me))
      return GPUCC_RT_FAIL(Code::communication, describeCall(call, group->spec), ": rank ",
                           group->spec.members[me], " expects data from rank ",
                           group->spec.members[call.source], ", which sends elsewhere");
    if (!partDone)
      doPart(*operation, me);
    std::lock_guard lock(world->mutex);
    if (!partDone) {
      partDone = true;
      if (++operation->finished == operation->calls.size())
        group->operations.erase(sequence);
      world->announce();
    }
    done = operation->finished == operation->calls.size();
    return {};
  }

  std::string describe() const override {
    std::lock_guard lock(world->mutex);
    std::vector<int> missing;
    for (size_t m = 0; m < operation->present.size(); ++m)
      if (!operation->present[m])
        missing.push_back(group->spec.members[m]);
    return describeCall(operation->calls[me], group->spec) +
           (missing.empty() ? " does not finish" : " waits for " + listRanks(missing));
  }

private:
  std::shared_ptr<ThreadsWorld> world;
  std::shared_ptr<Group> group;
  uint64_t sequence;
  std::shared_ptr<Operation> operation;
  size_t me;
  bool partDone = false;
};

class ReceiveRequest : public Request {
public:
  ReceiveRequest(std::shared_ptr<ThreadsWorld> world, std::shared_ptr<Group> group,
                 const CollectiveCall &call, int me)
      : world(std::move(world)), group(std::move(group)), call(call), me(me) {}

  Status test(bool &done) override {
    std::vector<char> message;
    {
      std::lock_guard lock(world->mutex);
      GPUCC_RT_TRY(world->check(group->spec.members[me]));
      auto &box = group->mail[{static_cast<int>(call.peer), me}];
      if (box.empty())
        return {};
      message = std::move(box.front());
      box.pop_front();
    }
    uint64_t bytes = dtypeBytes(call.dtype, call.count);
    if (message.size() != bytes)
      return GPUCC_RT_FAIL(Code::communication, describeCall(call, group->spec), " expects ", bytes,
                           " bytes from rank ", group->spec.members[call.peer], ", which sent ",
                           message.size());
    std::memcpy(call.output, message.data(), bytes);
    done = true;
    return {};
  }

  std::string describe() const override {
    return describeCall(call, group->spec) + " waits for rank " +
           std::to_string(group->spec.members[call.peer]);
  }

private:
  std::shared_ptr<ThreadsWorld> world;
  std::shared_ptr<Group> group;
  CollectiveCall call;
  int me;
};

class ThreadsCommunicator : public Communicator {
public:
  ThreadsCommunicator(std::shared_ptr<ThreadsWorld> world, std::shared_ptr<Group> group, int me)
      : world(std::move(world)), group(std::move(group)), me(me) {}
  int size() const override { return static_cast<int>(group->spec.members.size()); }
  int index() const override { return me; }

  Status start(const CollectiveCall &call, void *, std::unique_ptr<Request> &request) override {
    GPUCC_RT_TRY(checkPeers(call));
    if (call.kind == Kind::recv) {
      request = std::make_unique<ReceiveRequest>(world, group, call, me);
      return {};
    }
    std::lock_guard lock(world->mutex);
    GPUCC_RT_TRY(world->check(group->spec.members[me]));
    if (call.kind == Kind::send) {
      const char *data = static_cast<const char *>(call.input);
      group->mail[{me, static_cast<int>(call.peer)}].emplace_back(
          data, data + dtypeBytes(call.dtype, call.count));
      world->announce();
      return {};
    }
    return post(call, request);
  }

private:
  Status checkPeers(const CollectiveCall &call) {
    bool permute = call.kind == Kind::permute;
    bool peerUsed = permute || call.kind >= Kind::broadcast;
    int64_t least = permute ? -1 : 0;
    if (peerUsed && (call.peer < least || call.peer >= size()))
      return GPUCC_RT_FAIL(Code::invalidPlan, describeCall(call, group->spec), ": peer ", call.peer,
                           ", the communicator has ", size(), " members");
    if (permute && (call.source < -1 || call.source >= size()))
      return GPUCC_RT_FAIL(Code::invalidPlan, describeCall(call, group->spec), ": source ",
                           call.source, ", the communicator has ", size(), " members");
    return {};
  }

  Status post(const CollectiveCall &call, std::unique_ptr<Request> &request) {
    size_t n = group->spec.members.size();
    std::shared_ptr<Operation> &entry = group->operations[sequence];
    if (!entry) {
      entry = std::make_shared<Operation>();
      entry->calls.resize(n);
      entry->present.resize(n, false);
    }
    std::shared_ptr<Operation> operation = entry;
    for (size_t m = 0; m < n; ++m)
      if (operation->present[m])
        GPUCC_RT_TRY(compare(operation->calls[m], group->spec.members[m], call));
    operation->calls[me] = call;
    operation->present[me] = true;
    ++operation->arrived;
    world->announce();
    request = std::make_unique<CollectiveRequest>(world, group, sequence++, operation, me);
    return {};
  }

  Status compare(const CollectiveCall &other, int otherRank, const CollectiveCall &call) {
    bool same = other.kind == call.kind && other.dtype == call.dtype && other.count == call.count &&
                other.reduce == call.reduce &&
                (call.kind != Kind::broadcast || other.peer == call.peer);
    if (same)
      return {};
    auto text = [](const CollectiveCall &c) {
      return concat(plan::EnumNameCollectiveKind(c.kind), " '", c.name, "' (", c.count, " x ",
                    dtypeName(c.dtype), ", ", plan::EnumNameReduceKind(c.reduce), ")");
    };
    return GPUCC_RT_FAIL(Code::communication, "ranks disagree on communicator '", group->spec.name,
                         "', operation ", sequence, ": rank ", group->spec.members[me], " starts ",
                         text(call), ", rank ", otherRank, " started ", text(other));
  }

  std::shared_ptr<ThreadsWorld> world;
  std::shared_ptr<Group> group;
  int me;
  uint64_t sequence = 0;
};

Status ThreadsWorld::connect(int rank, const CommunicatorSpec &spec,
                             std::unique_ptr<Communicator> &communicator) {
  for (int member : spec.members)
    if (member >= ranks)
      return GPUCC_RT_FAIL(Code::invalidArgument, "communicator '", spec.name, "' has rank ",
                           member, ", the world has ", ranks, " ranks");
  std::lock_guard lock(mutex);
  if (!abortReason.empty())
    return aborted();
  std::shared_ptr<Group> group;
  GPUCC_RT_TRY(groups.join(spec, group, [&](std::shared_ptr<Group> &made) -> Status {
    made = std::make_shared<Group>();
    made->spec = spec;
    return {};
  }));
  communicator = std::make_unique<ThreadsCommunicator>(shared_from_this(), group, spec.index);
  return {};
}
} // namespace

std::shared_ptr<World> gpucc::rt::createThreadsWorld(int ranks, double watchdogSeconds) {
  return std::make_shared<ThreadsWorld>(ranks, watchdogSeconds);
}
