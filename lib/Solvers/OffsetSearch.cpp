//===- OffsetSearch.cpp - canonical placement search ----------------------===//
//
// See OffsetSearch.h for the rules R1..R6. Example: capacity 8, a[0,2) b[1,3) c[2,4) of 4 bytes.
// a at 0 raises b to 4; c is not touched, R3 forbids b (c fits below 4), so c at 0, then b at 4.
//
//===----------------------------------------------------------------------===//
#include "OffsetSearch.h"
#include "gpucc/Solvers/StableSort.h"
#include <algorithm>
#include <limits>

namespace gpucc::solvers {

SearchOutcome OffsetSearch::run(const std::vector<int> &component, const std::vector<int> &rank,
                                int64_t limit) {
  int n = graph.count();
  rankOf = rank;
  offset.assign(n, 0);
  minOffset.assign(n, 0);
  placed.assign(n, 1);
  cliqueStamp.assign(graph.cliques.size(), 0);
  stamp = 0;
  crossing.assign(graph.cliques.size(), 0);
  stepsDone = 0;
  stepLimit = limit;
  Part all{{}, 0, -1};
  for (int i : component) {
    placed[i] = 0;
    all.unplaced.push_back(i);
    if (graph.isTimeline)
      for (int c = graph.cliquesOf[i].front(); c < graph.cliquesOf[i].back(); ++c)
        ++crossing[c];
  }
  std::sort(all.unplaced.begin(), all.unplaced.end(),
            [&](int a, int b) { return rankOf[a] < rankOf[b]; });
  for (int c = 0; c < static_cast<int>(graph.cliques.size()); ++c)
    if (!cliqueFits(c, 0))
      return SearchOutcome::Impossible;
  for (Part &part : split(all)) {
    SearchOutcome outcome = solvePart(part);
    if (outcome != SearchOutcome::Found)
      return outcome;
  }
  return SearchOutcome::Found;
}

/// R4: everything unplaced in a clique is stacked above its least possible offset.
bool OffsetSearch::cliqueFits(int clique, int64_t lastOffset) const {
  int64_t sum = 0, least = std::numeric_limits<int64_t>::max();
  for (int b : graph.cliques[clique]) {
    if (placed[b])
      continue;
    sum += graph.size[b];
    least = std::min(least, minOffset[b]);
  }
  return sum == 0 || std::max(least, lastOffset) + sum <= capacity;
}

/// R5: parts that share no unplaced buffer. A plain graph is one part.
std::vector<OffsetSearch::Part> OffsetSearch::split(const Part &part) const {
  if (!graph.isTimeline || part.unplaced.size() < 2)
    return {part};
  std::vector<std::pair<int, int>> spans; // of sections
  for (int b : part.unplaced)
    spans.push_back({graph.cliquesOf[b].front(), graph.cliquesOf[b].back()});
  std::sort(spans.begin(), spans.end());
  std::vector<int> ends; // last section of each group
  for (auto [first, last] : spans) {
    if (ends.empty() || first > ends.back())
      ends.push_back(last);
    else
      ends.back() = std::max(ends.back(), last);
  }
  if (ends.size() == 1)
    return {part};
  std::vector<Part> parts(ends.size(), Part{{}, part.lastOffset, part.lastRank});
  for (int b : part.unplaced) {
    auto it = std::lower_bound(ends.begin(), ends.end(), graph.cliquesOf[b].front());
    parts[it - ends.begin()].unplaced.push_back(b);
  }
  stableSort(parts,
             [](const Part &a, const Part &b) { return a.unplaced.size() < b.unplaced.size(); });
  return parts;
}

SearchOutcome OffsetSearch::solvePart(Part &part) {
  if (part.unplaced.empty())
    return SearchOutcome::Found;
  int64_t ceiling = std::numeric_limits<int64_t>::max(); // R3
  for (int b : part.unplaced)
    ceiling = std::min(ceiling, minOffset[b] + graph.size[b]);
  struct Candidate {
    int64_t offset;
    int rank, buffer;
  };
  std::vector<Candidate> candidates;
  for (int b : part.unplaced) {
    int64_t at = minOffset[b];
    bool inOrder =
        at > part.lastOffset || (at == part.lastOffset && rankOf[b] > part.lastRank); // R1
    if (inOrder && at < ceiling)
      candidates.push_back({at, rankOf[b], b});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
  });
  for (const Candidate &candidate : candidates) {
    if (stepsDone >= stepLimit)
      return SearchOutcome::OutOfSteps;
    ++stepsDone;
    bool hatless = std::all_of(graph.neighbours[candidate.buffer].begin(),
                               graph.neighbours[candidate.buffer].end(),
                               [&](int other) { return placed[other] != 0; });
    SearchOutcome outcome = placeAndGo(part, candidate.buffer);
    if (outcome != SearchOutcome::Impossible || hatless) // R6
      return outcome;
  }
  return SearchOutcome::Impossible;
}

/// Raise the unplaced neighbours of a placed buffer above it; false when one cannot fit any more.
bool OffsetSearch::raiseNeighbours(int buffer, int64_t lastOffset, std::vector<Raise> &undo) {
  int64_t end = offset[buffer] + graph.size[buffer];
  for (int other : graph.neighbours[buffer]) {
    if (placed[other] || minOffset[other] >= end)
      continue;
    undo.push_back({other, minOffset[other]});
    minOffset[other] = alignUp(end, graph.alignment[other]);
    if (minOffset[other] + graph.size[other] > capacity)
      return false;
  }
  ++stamp;
  auto checkCliques = [&](int b) {
    for (int c : graph.cliquesOf[b]) {
      if (cliqueStamp[c] == stamp)
        continue;
      cliqueStamp[c] = stamp;
      if (!cliqueFits(c, lastOffset))
        return false;
    }
    return true;
  };
  for (const Raise &raise : undo)
    if (!checkCliques(raise.buffer))
      return false;
  return checkCliques(buffer);
}

SearchOutcome OffsetSearch::placeAndGo(const Part &part, int buffer) {
  offset[buffer] = minOffset[buffer];
  if (offset[buffer] + graph.size[buffer] > capacity)
    return SearchOutcome::Impossible;
  placed[buffer] = 1;
  std::vector<Raise> undo;
  SearchOutcome outcome = raiseNeighbours(buffer, offset[buffer], undo) ? solveRest(part, buffer)
                                                                        : SearchOutcome::Impossible;
  if (outcome != SearchOutcome::Found) {
    for (auto it = undo.rbegin(); it != undo.rend(); ++it)
      minOffset[it->buffer] = it->old;
    placed[buffer] = 0;
  }
  return outcome;
}

/// Continue with what is left of `part`, in independent pieces where the placement cut it.
SearchOutcome OffsetSearch::solveRest(const Part &part, int placedBuffer) {
  Part rest{{}, offset[placedBuffer], rankOf[placedBuffer]};
  for (int b : part.unplaced)
    if (b != placedBuffer)
      rest.unplaced.push_back(b);
  bool cut = false;
  if (graph.isTimeline)
    for (int c = graph.cliquesOf[placedBuffer].front(); c < graph.cliquesOf[placedBuffer].back();
         ++c)
      cut |= --crossing[c] == 0;
  SearchOutcome outcome = SearchOutcome::Found;
  std::vector<int> solvedHere;
  if (!cut) {
    outcome = solvePart(rest);
  } else {
    std::vector<Part> parts = split(rest);
    for (size_t i = 0; i < parts.size() && outcome == SearchOutcome::Found; ++i) {
      outcome = solvePart(parts[i]);
      if (outcome == SearchOutcome::Found)
        solvedHere.insert(solvedHere.end(), parts[i].unplaced.begin(), parts[i].unplaced.end());
    }
  }
  if (outcome == SearchOutcome::Found)
    return outcome;
  // A solved sibling part is given back as it was: unplaced, with the offsets its neighbours allow.
  for (int b : solvedHere)
    placed[b] = 0;
  for (int b : solvedHere) {
    minOffset[b] = 0;
    for (int other : graph.neighbours[b])
      if (placed[other])
        minOffset[b] =
            std::max(minOffset[b], alignUp(offset[other] + graph.size[other], graph.alignment[b]));
    if (graph.isTimeline)
      for (int c = graph.cliquesOf[b].front(); c < graph.cliquesOf[b].back(); ++c)
        ++crossing[c];
  }
  if (graph.isTimeline)
    for (int c = graph.cliquesOf[placedBuffer].front(); c < graph.cliquesOf[placedBuffer].back();
         ++c)
      ++crossing[c];
  return outcome;
}

} // namespace gpucc::solvers
