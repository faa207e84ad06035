//===- CollectiveReplay.cpp - do the ranks' queues fit together? ----------===//
#include "gpucc/Transforms/Dist/CollectiveReplay.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

using namespace gpucc;

namespace {
using Event = CommunicationEvent;

class Replay {
public:
  explicit Replay(const std::vector<std::vector<Event>> &queues)
      : queues(queues), at(queues.size(), 0) {}

  ReplayFault run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t rank = 0; rank < queues.size() && fault.kind == ReplayFault::None; ++rank)
        while (advance(rank))
          moved = true;
      if (fault.kind != ReplayFault::None)
        return fault;
    }
    for (size_t rank = 0; rank < queues.size(); ++rank)
      if (at[rank] < queues[rank].size())
        return blocked();
    for (const auto &[key, box] : mail)
      if (!box.empty()) {
        fault.kind = ReplayFault::Unreceived;
        fault.what = "rank " + std::to_string(std::get<0>(key)) + " sends to rank " +
                     std::to_string(std::get<1>(key)) + " on channel " +
                     std::to_string(std::get<2>(key)) + " what is never received";
        fault.involved = {{std::get<0>(key), box.front()}};
        return fault;
      }
    return fault;
  }

private:
  const std::vector<std::vector<Event>> &queues;
  std::vector<size_t> at;
  /// By sender, receiver, channel: indices in the sender's queue.
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::deque<size_t>> mail;
  ReplayFault fault;

  const Event *current(int64_t rank) const {
    return at[rank] < queues[rank].size() ? &queues[rank][at[rank]] : nullptr;
  }

  bool advance(size_t rank) {
    const Event *event = current(static_cast<int64_t>(rank));
    if (!event)
      return false;
    auto self = static_cast<int64_t>(rank);
    switch (event->kind) {
    case Event::Send:
      mail[{self, event->peer, event->channel}].push_back(at[rank]++);
      return true;
    case Event::Receive: {
      auto &box = mail[{event->peer, self, event->channel}];
      if (box.empty())
        return false;
      const Event &sent = queues[event->peer][box.front()];
      if (sent.signature != event->signature) {
        fault.kind = ReplayFault::WrongMessage;
        fault.what = "rank " + std::to_string(self) + " receives " + event->signature + ", rank " +
                     std::to_string(event->peer) + " sent " + sent.signature;
        fault.involved = {{self, at[rank]}, {event->peer, box.front()}};
        return false;
      }
      box.pop_front();
      ++at[rank];
      return true;
    }
    case Event::Meet:
      return meet(self, *event);
    }
    return false;
  }

  bool meet(int64_t self, const Event &event) {
    for (int64_t member : event.group) {
      const Event *other = current(member);
      if (!other || other->kind != Event::Meet)
        return false;
      // It waits for another group first: not a contradiction yet.
      if (other->group != event.group)
        return false;
      if (other->signature != event.signature) {
        fault.kind = ReplayFault::Different;
        fault.what = "ranks " + std::to_string(self) + " and " + std::to_string(member) +
                     " meet with different collectives: " + event.signature + " and " +
                     other->signature;
        fault.involved = {{self, at[self]}, {member, at[member]}};
        return false;
      }
    }
    for (int64_t member : event.group)
      ++at[member];
    return true;
  }

  ReplayFault blocked() {
    fault.kind = ReplayFault::Deadlock;
    fault.what = "the ranks wait for each other";
    for (size_t rank = 0; rank < queues.size(); ++rank)
      if (at[rank] < queues[rank].size())
        fault.involved.push_back({static_cast<int64_t>(rank), at[rank]});
    return fault;
  }
};
} // namespace

ReplayFault gpucc::replayCollectives(const std::vector<std::vector<CommunicationEvent>> &queues) {
  return Replay(queues).run();
}
