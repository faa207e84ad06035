//===- Events.h - a small discrete-event engine ------------------*- C++ -*-===//
//
// What: events with a length wait for other events, for their turn on a stream, for the members of
// a group (a collective starts when all are there) and for a link that carries one at a time.
//
// Example: two ranks, one product each and an all-reduce:
//
//     a = add(stream 0, 3 s)          b = add(stream 1, 5 s)
//     r0 = add(stream 0, 1 s, {a}, group 7)    r1 = add(stream 1, 1 s, {b}, group 7)
//     run(): r0 and r1 start at 5 and end at 6.
//
// Equal times are taken in the order of insertion, so a run is the same every time.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SIMULATE_EVENTS_H
#define GPUCC_SIMULATE_EVENTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpucc::simulate {

class EventGraph {
public:
  /// `stream`: events of one stream run one at a time in the order of insertion. `group`: all
  /// events of a group start together; -1: alone. `link`: shared by streams, first come first
  /// served; -1: none. Returns the number of the event.
  int add(int stream, double seconds, std::vector<int> after = {}, int group = -1, int link = -1);
  void waitFor(int event, int earlier); ///< adds a dependency

  /// Empty, or which event never starts and what it waits for.
  std::string run();
  double start(int event) const { return events[static_cast<size_t>(event)].start; }
  double end(int event) const { return events[static_cast<size_t>(event)].end; }
  double total() const { return last; }
  int size() const { return static_cast<int>(events.size()); }

private:
  struct Event {
    int stream, group, link, waits = 0;
    double seconds, start = -1, end = -1;
    bool ready = false;
    std::vector<int> next;
  };
  struct Stream {
    std::vector<int> queue;
    size_t head = 0;
    bool busy = false;
  };
  struct Group {
    std::vector<int> members;
    int ready = 0;
  };
  void consider(int event, double now);
  void launch(int event, double now);

  std::vector<Event> events;
  std::vector<Stream> streams;
  std::vector<Group> groups;
  std::vector<double> linkFree;
  struct Later; // finish times, earliest first
  std::vector<std::pair<double, int>> heap;
  double last = 0;
};

} // namespace gpucc::simulate
#endif // GPUCC_SIMULATE_EVENTS_H
