//===- ConflictGraph.cpp - sections of a time line, cliques of a graph ----===//
//
// Example: lifetimes a[0,2) b[1,3) c[2,4) give the sections {a,b} and {b,c}; the live set {a} at
// time 0 is contained in {a,b} and is dropped.
//
//===----------------------------------------------------------------------===//
#include "ConflictGraph.h"
#include "gpucc/Solvers/StableSort.h"
#include <algorithm>
#include <map>
#include <set>

namespace gpucc::solvers {

ConflictGraph::ConflictGraph(const OffsetProblem &problem) {
  for (const Buffer &b : problem.buffers) {
    size.push_back(b.size);
    alignment.push_back(b.alignment);
  }
  neighbours.resize(size.size());
  cliquesOf.resize(size.size());
  if (problem.useConflicts)
    fromConflicts(problem);
  else
    fromLifetimes(problem);
  for (int c = 0; c < static_cast<int>(cliques.size()); ++c)
    for (int b : cliques[c])
      cliquesOf[b].push_back(c);
}

/// Sweep the event times; a live set is maximal when a birth is followed by a death.
void ConflictGraph::fromLifetimes(const OffsetProblem &problem) {
  isTimeline = true;
  std::map<int64_t, std::pair<std::vector<int>, std::vector<int>>> events; // time -> births, deaths
  for (int i = 0; i < count(); ++i) {
    const Buffer &b = problem.buffers[i];
    if (b.size == 0 || b.lower >= b.upper)
      continue;
    events[b.lower].first.push_back(i);
    events[b.upper].second.push_back(i);
  }
  std::set<int> live;
  bool grew = false;
  for (auto &[time, event] : events) {
    if (grew && !event.second.empty()) {
      cliques.emplace_back(live.begin(), live.end());
      grew = false;
    }
    for (int i : event.second)
      live.erase(i);
    for (int i : event.first) {
      for (int other : live) {
        neighbours[i].push_back(other);
        neighbours[other].push_back(i);
      }
      live.insert(i);
      grew = true;
    }
  }
}

/// Cover the edges greedily: start at each vertex in descending weight of its neighbourhood and add
/// the heaviest common neighbour until the clique is maximal.
void ConflictGraph::fromConflicts(const OffsetProblem &problem) {
  std::vector<std::set<int>> adjacent(count());
  for (auto [a, b] : problem.conflicts) {
    if (a == b || size[a] == 0 || size[b] == 0)
      continue;
    adjacent[a].insert(b);
    adjacent[b].insert(a);
  }
  for (int i = 0; i < count(); ++i)
    neighbours[i].assign(adjacent[i].begin(), adjacent[i].end());
  std::vector<int> order(count());
  for (int i = 0; i < count(); ++i)
    order[i] = i;
  stableSort(order, [&](int a, int b) { return size[a] > size[b]; });
  std::set<std::vector<int>> seen;
  for (int start : order) {
    if (size[start] == 0)
      continue;
    std::vector<int> clique{start}, candidates = neighbours[start];
    stableSort(candidates, [&](int a, int b) { return size[a] > size[b]; });
    for (int v : candidates)
      if (std::all_of(clique.begin(), clique.end(),
                      [&](int member) { return adjacent[v].count(member) != 0; }))
        clique.push_back(v);
    std::sort(clique.begin(), clique.end());
    if (seen.insert(clique).second)
      cliques.push_back(clique);
  }
}

std::vector<std::vector<int>> ConflictGraph::components() const {
  std::vector<std::vector<int>> result;
  std::vector<char> seen(count(), 0);
  for (int start = 0; start < count(); ++start) {
    if (seen[start] || cliquesOf[start].empty())
      continue;
    std::vector<int> members{start};
    seen[start] = 1;
    for (size_t i = 0; i < members.size(); ++i)
      for (int other : neighbours[members[i]])
        if (!seen[other]) {
          seen[other] = 1;
          members.push_back(other);
        }
    std::sort(members.begin(), members.end());
    result.push_back(std::move(members));
  }
  return result;
}

int64_t ConflictGraph::heaviestClique() const {
  int64_t heaviest = 0;
  for (const std::vector<int> &clique : cliques) {
    int64_t sum = 0;
    for (int b : clique)
      sum += size[b];
    heaviest = std::max(heaviest, sum);
  }
  return heaviest;
}

} // namespace gpucc::solvers
