//===- ConflictGraph.h - who may not share bytes with whom ------*- C++ -*-===//
//
// The common form of both kinds of offset problem: neighbours per buffer plus cliques (sets of
// buffers that are all alive together). For lifetimes the cliques are the maximal live sets in time
// order ("sections"), and `cutCrossing` tells how many buffers span two adjacent sections, which is
// where the search may split a problem in two. For a plain graph the cliques are a greedy cover.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_SOLVERS_CONFLICTGRAPH_H
#define GPUCC_LIB_SOLVERS_CONFLICTGRAPH_H

#include "gpucc/Solvers/Offsets.h"

namespace gpucc::solvers {

struct ConflictGraph {
  std::vector<int64_t> size, alignment;
  std::vector<std::vector<int>> neighbours;
  std::vector<std::vector<int>> cliques;   ///< members per clique
  std::vector<std::vector<int>> cliquesOf; ///< cliques per buffer, ascending
  bool isTimeline = false;                 ///< cliques are consecutive in time for every buffer

  explicit ConflictGraph(const OffsetProblem &problem);
  int count() const { return static_cast<int>(size.size()); }
  int64_t heaviestClique() const;
  /// Buffers of each connected component, those that take no bytes left out.
  std::vector<std::vector<int>> components() const;

private:
  void fromLifetimes(const OffsetProblem &problem);
  void fromConflicts(const OffsetProblem &problem);
};

inline int64_t alignUp(int64_t value, int64_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

} // namespace gpucc::solvers
#endif
