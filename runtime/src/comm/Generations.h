//===- Generations.h - Which connects of the members of a communicator belong together ----------===//
//
// A world serves successive sessions, also of other plans. The n-th connect of a member meets the
// n-th of the others with the same number *and the same members*:
//
//   plan A, tp=2 pp=2   communicator 0: ranks 0, 1      ranks 2, 3
//   plan B, dp=4        communicator 0: ranks 0, 1, 2, 3
//
// Counted by number and first member alone, ranks 0 and 1 would be at their second connect in B,
// ranks 2 and 3 at their first.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_COMM_GENERATIONS_H
#define GPUCC_RT_COMM_GENERATIONS_H

#include "comm/Communicator.h"

#include <map>

namespace gpucc::rt {

/// `Shared` is what the members of one generation have in common: a group, an id. Not thread-safe.
template <typename Shared> class Generations {
public:
  /// The first member makes it by `make(Shared &)`; when that fails, nobody has come.
  template <typename Make>
  Status join(const CommunicatorSpec &spec, Shared &shared, const Make &make) {
    Entry &entry = entries[{spec.id, spec.members}];
    entry.connects.resize(spec.members.size());
    size_t &generation = entry.connects[static_cast<size_t>(spec.index)];
    auto [open, isFirst] = entry.open.try_emplace(generation);
    if (isFirst)
      if (Status status = make(open->second.shared)) {
        entry.open.erase(open);
        return status;
      }
    shared = open->second.shared;
    if (++open->second.joined == spec.members.size())
      entry.open.erase(open); // complete: the members keep it
    ++generation;
    return {};
  }

private:
  struct Open {
    Shared shared{};
    size_t joined = 0;
  };
  struct Entry {
    std::vector<size_t> connects; ///< so far, per member
    std::map<size_t, Open> open;  ///< by generation
  };
  std::map<std::pair<uint32_t, std::vector<int>>, Entry> entries;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_COMM_GENERATIONS_H
