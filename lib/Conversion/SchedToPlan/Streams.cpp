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
  for (int64_t i = 0; i < n; ++i) {
    Placement p{false, i + 1};
    if (overlap && isCollective(commands[i])) {
      // Collectives keep their order among themselves: they share a stream.
      int64_t user = i + 1;
      while (user < n && (isCollective(commands[user]) || !conflict(accesses[i], accesses[user])))
        ++user;
      bool besides = false;
      for (int64_t j = i + 1; j < user; ++j)
        besides |= !isCollective(commands[j]);
      if (besides || (i > 0 && placements.back().asynchronous))
        p = {true, user};
    }
    placements.push_back(p);
  }
  return placements;
}
