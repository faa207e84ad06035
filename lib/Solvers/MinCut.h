//===- MinCut.h - least s-t cut ---------------------------------*- C++ -*-===//
//
// Dinic's algorithm on doubles. After `solve`, `onSinkSide` tells the nodes that the cut separates
// from the source, the largest such set (`true`) or the smallest one, which differ when there are
// several least cuts.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_SOLVERS_MINCUT_H
#define GPUCC_LIB_SOLVERS_MINCUT_H

#include <algorithm>
#include <vector>

namespace gpucc::solvers {

class MinCut {
public:
  explicit MinCut(int nodes) : out(nodes), level(nodes), next(nodes) {}

  static constexpr double infinite = 1e30;

  void addEdge(int from, int to, double capacity) {
    if (capacity <= 0)
      return;
    out[from].push_back(static_cast<int>(edges.size()));
    edges.push_back({to, capacity});
    out[to].push_back(static_cast<int>(edges.size()));
    edges.push_back({from, 0});
    if (capacity < infinite)
      largest = std::max(largest, capacity);
  }

  void solve(int source, int sink) {
    s = source;
    t = sink;
    epsilon = largest * 1e-12;
    while (layers()) {
      std::fill(next.begin(), next.end(), 0);
      while (push(s, infinite) > epsilon)
        ;
    }
  }

  std::vector<char> onSinkSide(bool largestSet) const {
    std::vector<char> side(out.size(), largestSet ? 1 : 0);
    std::vector<int> work{largestSet ? s : t};
    side[work[0]] = largestSet ? 0 : 1;
    for (size_t i = 0; i < work.size(); ++i)
      for (int e : out[work[i]]) {
        int other = edges[e].to;
        double residual = largestSet ? edges[e].capacity : edges[e ^ 1].capacity;
        if (residual > epsilon && side[other] == (largestSet ? 1 : 0)) {
          side[other] = largestSet ? 0 : 1;
          work.push_back(other);
        }
      }
    return side;
  }

private:
  struct Edge {
    int to;
    double capacity;
  };

  bool layers() {
    std::fill(level.begin(), level.end(), -1);
    level[s] = 0;
    std::vector<int> work{s};
    for (size_t i = 0; i < work.size(); ++i)
      for (int e : out[work[i]])
        if (edges[e].capacity > epsilon && level[edges[e].to] < 0) {
          level[edges[e].to] = level[work[i]] + 1;
          work.push_back(edges[e].to);
        }
    return level[t] >= 0;
  }

  double push(int node, double limit) {
    if (node == t)
      return limit;
    for (int &k = next[node]; k < static_cast<int>(out[node].size()); ++k) {
      int e = out[node][k];
      if (edges[e].capacity <= epsilon || level[edges[e].to] != level[node] + 1)
        continue;
      double pushed = push(edges[e].to, std::min(limit, edges[e].capacity));
      if (pushed > epsilon) {
        edges[e].capacity -= pushed;
        edges[e ^ 1].capacity += pushed;
        return pushed;
      }
    }
    return 0;
  }

  std::vector<Edge> edges;
  std::vector<std::vector<int>> out;
  std::vector<int> level, next;
  int s = 0, t = 0;
  double largest = 0, epsilon = 0;
};

} // namespace gpucc::solvers
#endif
