//===- Events.cpp - run an event graph in time ----------------------------===//
#include "gpucc/Simulate/Events.h"
#include <algorithm>
#include <functional>

namespace gpucc::simulate {

int EventGraph::add(int stream, double seconds, std::vector<int> after, int group, int link) {
  int number = size();
  events.push_back({stream, group, link, 0, seconds, -1, -1, false, {}});
  if (static_cast<size_t>(stream) >= streams.size())
    streams.resize(static_cast<size_t>(stream) + 1);
  streams[static_cast<size_t>(stream)].queue.push_back(number);
  if (group >= 0) {
    if (static_cast<size_t>(group) >= groups.size())
      groups.resize(static_cast<size_t>(group) + 1);
    groups[static_cast<size_t>(group)].members.push_back(number);
  }
  if (link >= 0 && static_cast<size_t>(link) >= linkFree.size())
    linkFree.resize(static_cast<size_t>(link) + 1, 0);
  for (int earlier : after)
    waitFor(number, earlier);
  return number;
}

void EventGraph::waitFor(int event, int earlier) {
  events[static_cast<size_t>(earlier)].next.push_back(event);
  ++events[static_cast<size_t>(event)].waits;
}

/// Starts the event if nothing is missing; a group starts with its last member.
void EventGraph::consider(int number, double now) {
  Event &e = events[static_cast<size_t>(number)];
  Stream &stream = streams[static_cast<size_t>(e.stream)];
  if (e.ready || e.waits > 0 || stream.busy || stream.queue[stream.head] != number)
    return;
  e.ready = true;
  stream.busy = true;
  if (e.group < 0) {
    launch(number, now);
    return;
  }
  Group &group = groups[static_cast<size_t>(e.group)];
  if (++group.ready == static_cast<int>(group.members.size()))
    for (int member : group.members)
      launch(member, now);
}

void EventGraph::launch(int number, double now) {
  Event &e = events[static_cast<size_t>(number)];
  e.start = now;
  if (e.link >= 0) {
    double &free = linkFree[static_cast<size_t>(e.link)];
    e.start = std::max(now, free);
    free = e.start + e.seconds;
  }
  e.end = e.start + e.seconds;
  heap.push_back({e.end, number});
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

std::string EventGraph::run() {
  for (Stream &stream : streams)
    if (!stream.queue.empty())
      consider(stream.queue.front(), 0);
  size_t done = 0;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    auto [now, number] = heap.back();
    heap.pop_back();
    ++done;
    last = std::max(last, now);
    Stream &stream = streams[static_cast<size_t>(events[static_cast<size_t>(number)].stream)];
    stream.busy = false;
    ++stream.head;
    for (int next : events[static_cast<size_t>(number)].next)
      if (--events[static_cast<size_t>(next)].waits == 0)
        consider(next, now);
    if (stream.head < stream.queue.size())
      consider(stream.queue[stream.head], now);
  }
  if (done == events.size())
    return "";
  for (size_t k = 0; k < events.size(); ++k)
    if (events[k].end < 0)
      return "event " + std::to_string(k) + " on stream " + std::to_string(events[k].stream) +
             " never starts: " + std::to_string(events[k].waits) +
             " events before it, or members of its group, do not run";
  return "";
}

} // namespace gpucc::simulate
