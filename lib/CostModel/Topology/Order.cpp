//===- Order.cpp - rates of paths, the ring and chain of collectives ------===//
//
// A ring moves the same bytes over every step, so the slowest step decides: a bottleneck travelling
// salesman. Up to 10 GPUs all orders are looked at by dynamic programming over subsets; beyond that
// the nearest neighbour is taken.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Topology.h"
#include <algorithm>

namespace gpucc::cost {

/// GB/s and direction of one NVLink, by the GPU it belongs to (datasheets: V100 to H100 25,
/// Blackwell 50; NVLink 1 of P100 20).
static double linkRate(const Topology &t) {
  for (const Endpoint &g : t.gpus) {
    const std::string &m = g.model; // product names, or the kinds of built-in devices
    if (m.find("b200") != std::string::npos || m.find("b300") != std::string::npos ||
        m.find("B200") != std::string::npos || m.find("B300") != std::string::npos ||
        m.find("sm_100") != std::string::npos || m.find("sm_103") != std::string::npos)
      return 50e9;
    if (m.find("P100") != std::string::npos || m.find("sm_60") != std::string::npos)
      return 20e9;
  }
  return 25e9;
}

double pathBandwidth(const Topology &t, Path path) {
  int generation = 4;
  for (const Endpoint &g : t.gpus)
    if (int known = std::max(g.generation, g.mostGeneration))
      generation = std::min(generation == 4 ? known : generation, known);
  double pcie = generation <= 3 ? 12e9 : generation == 4 ? 24e9 : 48e9;
  switch (path.kind) {
  case PathKind::Self:
    return 0;
  case PathKind::NvLink:
    return path.links * linkRate(t);
  case PathKind::Pix:
  case PathKind::Pxb:
  case PathKind::Phb:
    return pcie;
  case PathKind::Node:
    return std::min(pcie, 16e9);
  case PathKind::Sys:
  case PathKind::Unknown:
    return std::min(pcie, 10e9);
  }
  return 0;
}

namespace {

using Rates = std::vector<std::vector<double>>;

/// best[set][last]: slowest step of the best way from GPU 0 through `set` that ends at `last`.
std::vector<int> exactRing(const Rates &rate) {
  size_t n = rate.size(), sets = size_t(1) << n;
  std::vector<std::vector<double>> best(sets, std::vector<double>(n, -1));
  std::vector<std::vector<int>> before(sets, std::vector<int>(n, -1));
  best[1][0] = 1e30;
  for (size_t set = 1; set < sets; ++set)
    for (size_t last = 0; last < n; ++last)
      for (size_t next = 0; best[set][last] >= 0 && next < n; ++next) {
        if (set >> next & 1)
          continue;
        double slowest = std::min(best[set][last], rate[last][next]);
        size_t to = set | size_t(1) << next;
        if (slowest > best[to][next]) {
          best[to][next] = slowest;
          before[to][next] = static_cast<int>(last);
        }
      }
  size_t all = sets - 1;
  int end = 0;
  double value = -1;
  for (size_t last = 0; last < n; ++last)
    if (n == 1 || (last && std::min(best[all][last], rate[last][0]) > value)) {
      value = std::min(best[all][last], rate[last][0]);
      end = static_cast<int>(last);
    }
  std::vector<int> ring;
  for (size_t set = all; end >= 0;) {
    ring.push_back(end);
    int previous = before[set][static_cast<size_t>(end)];
    set &= ~(size_t(1) << static_cast<size_t>(end));
    end = previous;
  }
  std::reverse(ring.begin(), ring.end());
  return ring;
}

std::vector<int> greedyRing(const Rates &rate) {
  size_t n = rate.size();
  std::vector<int> ring = {0};
  std::vector<bool> used(n, false);
  used[0] = true;
  while (ring.size() < n) {
    size_t last = static_cast<size_t>(ring.back()), best = n;
    for (size_t j = 0; j < n; ++j)
      if (!used[j] && (best == n || rate[last][j] > rate[last][best]))
        best = j;
    used[best] = true;
    ring.push_back(static_cast<int>(best));
  }
  return ring;
}

} // namespace

RingAndTree ringAndTree(const Topology &t) {
  RingAndTree result;
  size_t n = t.gpuPaths.size();
  if (n < 2)
    return result;
  Rates rate(n, std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      rate[i][j] = pathBandwidth(t, t.gpuPaths[i][j]);
  result.ring = n <= 10 ? exactRing(rate) : greedyRing(rate);
  size_t slowestStep = 0;
  result.slowest = 1e30;
  std::vector<double> steps;
  for (size_t i = 0; i < n; ++i) {
    double r =
        rate[static_cast<size_t>(result.ring[i])][static_cast<size_t>(result.ring[(i + 1) % n])];
    steps.push_back(r);
    if (r < result.slowest)
      result.slowest = r, slowestStep = i;
  }
  result.chainSlowest = 1e30;
  for (size_t i = 0; i < n; ++i) {
    result.chain.push_back(result.ring[(slowestStep + 1 + i) % n]);
    if (i != slowestStep)
      result.chainSlowest = std::min(result.chainSlowest, steps[i]);
  }
  return result;
}

} // namespace gpucc::cost
