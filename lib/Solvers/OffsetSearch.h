//===- OffsetSearch.h - canonical placement search --------------*- C++ -*-===//
//
// Depth-first search for a placement within a capacity (MiniMalloc, ASPLOS'23). Rules, all of which
// keep at least one solution when there is any:
//
//   R1 order       buffers are placed in nondecreasing offset (equal offsets: ascending rank);
//   R2 lowest      a buffer lies on top of the conflicting ones placed before it, never higher;
//   R3 dominance   no candidate at offset o while another unplaced buffer would fit below o;
//   R4 inference   per clique: least offset of the unplaced + sum of the unplaced <= capacity;
//   R5 cuts        when no unplaced buffer spans two sections, both sides are solved alone;
//   R6 hatless     a buffer with no unplaced neighbour hinders nobody: no alternative is tried.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_SOLVERS_OFFSETSEARCH_H
#define GPUCC_LIB_SOLVERS_OFFSETSEARCH_H

#include "ConflictGraph.h"

namespace gpucc::solvers {

enum class SearchOutcome { Found, Impossible, OutOfSteps };

class OffsetSearch {
public:
  OffsetSearch(const ConflictGraph &graph, int64_t capacity) : graph(graph), capacity(capacity) {}

  /// Place the buffers of one connected component, candidates tried in the order of `rank` (least
  /// first), for at most `limit` steps. Components are independent: each deserves its own restarts.
  SearchOutcome run(const std::vector<int> &component, const std::vector<int> &rank, int64_t limit);
  const std::vector<int64_t> &offsets() const { return offset; }
  int64_t steps() const { return stepsDone; }

private:
  struct Raise {
    int buffer;
    int64_t old;
  };
  /// One independent part: its unplaced buffers, where the last one was placed, and its rank.
  struct Part {
    std::vector<int> unplaced;
    int64_t lastOffset;
    int lastRank;
  };

  SearchOutcome solvePart(Part &part);
  SearchOutcome placeAndGo(const Part &part, int buffer);
  SearchOutcome solveRest(const Part &part, int placedBuffer);
  bool cliqueFits(int clique, int64_t lastOffset) const;
  bool raiseNeighbours(int buffer, int64_t lastOffset, std::vector<Raise> &undo);
  std::vector<Part> split(const Part &part) const;

  const ConflictGraph &graph;
  int64_t capacity;
  std::vector<int> rankOf;
  std::vector<int64_t> offset;    ///< of placed buffers
  std::vector<int64_t> minOffset; ///< lowest legal offset of an unplaced buffer (R2)
  std::vector<char> placed;
  std::vector<int> crossing; ///< unplaced buffers that span section k and k+1
  std::vector<int> cliqueStamp;
  int stamp = 0;
  int64_t stepsDone = 0, stepLimit = 0;
};

} // namespace gpucc::solvers
#endif
