//===- Streams.cpp - which stream, which events ---------------------------===//
#include "Streams.h"

using namespace mlir;
using namespace gpucc;

bool gpucc::overlaps(base::ViewAttr a, base::ViewAttr b) {
  return a.getBuffer() == b.getBuffer() && a.getOffset() < b.getOffset() + b.getBytes() &&
         b.getOffset() < a.getOffset() + a.getBytes();
}

/// One writes what the other touches.
static bool conflict(ArrayRef<base::Access> first, ArrayRef<base::Access> second) {
  for (const base::Access &a : first)
    for (const base::Access &b : second)
      if ((a.writes || b.writes) && overlaps(a.view, b.view))
        return true;
  return false;
}

std::vector<Placement> gpucc::placeCommands(ArrayRef<base::CommandOpInterface> commands,
                                            function_ref<bool(Operation *)> isCollective,
                                            bool overlap) {
  std::vector<Placement> placements;
  std::vector<SmallVector<base::Access>> accesses;
  for (base::CommandOpInterface command : commands)
    accesses.push_back(command.getAccesses());
  auto n = static_cast<int64_t>(commands.size());
  bool anyBesides = false;
  for (int64_t i = 0; i < n; ++i) {
    placements.push_back({false, i + 1});
    if (!overlap || !isCollective(commands[i]))
      continue;
    int64_t user = i + 1;
    bool besides = false;
    while (user < n && (isCollective(commands[user]) || !conflict(accesses[i], accesses[user])))
      besides |= !isCollective(commands[user++]);
    placements[i].joined = user;
    anyBesides |= besides;
  }
  // Communicators want their operations in one order on all ranks: when one collective leaves the
  // compute stream, all do.
  for (int64_t i = 0; i < n; ++i)
    if (isCollective(commands[i]))
      placements[i] = anyBesides ? Placement{true, placements[i].joined} : Placement{false, i + 1};
  return placements;
}
