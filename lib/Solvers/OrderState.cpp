//===- OrderState.cpp - live bytes and the search over downsets -----------===//
//
// Example: after ops {0, 1} of a diamond 0 -> {1, 2} -> 3, live = bytes(0) + bytes(1), ready = {2}.
//
//===----------------------------------------------------------------------===//
#include "OrderState.h"
#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>

namespace gpucc::solvers {

OrderGraph::OrderGraph(const OrderProblem &problem) : problem(problem) {
  int n = problem.numOps;
  successors.resize(n);
  predecessors.resize(n);
  reads.resize(n);
  writes.resize(n);
  written.assign(n, 0);
  std::vector<std::set<int>> preds(n);
  for (int t = 0; t < static_cast<int>(problem.tensors.size()); ++t) {
    const OrderTensor &tensor = problem.tensors[t];
    if (tensor.producer >= 0) {
      writes[tensor.producer].push_back(t);
      written[tensor.producer] += tensor.size;
    } else if (!tensor.consumers.empty() || tensor.kept) {
      startBytes += tensor.size;
    }
    for (int c : std::set<int>(tensor.consumers.begin(), tensor.consumers.end())) {
      reads[c].push_back(t);
      if (tensor.producer >= 0)
        preds[c].insert(tensor.producer);
    }
  }
  for (auto [before, after] : problem.precedence)
    preds[after].insert(before);
  for (int op = 0; op < n; ++op)
    for (int p : preds[op]) {
      predecessors[op].push_back(p);
      successors[p].push_back(op);
    }
}

OrderState::OrderState(const OrderGraph &graph) {
  int n = graph.count();
  done.assign((n + 63) / 64, 0);
  for (int op = 0; op < n; ++op) {
    pendingPreds.push_back(static_cast<int>(graph.predecessors[op].size()));
    if (pendingPreds.back() == 0)
      ready.push_back(op);
  }
  pendingReaders.assign(graph.problem.tensors.size(), 0);
  for (int op = 0; op < n; ++op)
    for (int t : graph.reads[op])
      ++pendingReaders[t];
  live = peak = graph.startBytes;
}

int64_t OrderState::during(const OrderGraph &graph, int op) const {
  return live + graph.written[op] + graph.workspace(op);
}

int64_t OrderState::change(const OrderGraph &graph, int op) const {
  int64_t delta = 0;
  for (int t : graph.writes[op]) {
    const OrderTensor &tensor = graph.problem.tensors[t];
    if (tensor.kept || pendingReaders[t] > 0)
      delta += tensor.size;
  }
  for (int t : graph.reads[op]) {
    const OrderTensor &tensor = graph.problem.tensors[t];
    if (!tensor.kept && pendingReaders[t] == 1)
      delta -= tensor.size;
  }
  return delta;
}

void OrderState::run(const OrderGraph &graph, int op) {
  peak = std::max(peak, during(graph, op));
  live += change(graph, op);
  for (int t : graph.reads[op])
    --pendingReaders[t];
  done[op / 64] |= uint64_t(1) << (op % 64);
  ready.erase(std::lower_bound(ready.begin(), ready.end(), op));
  for (int s : graph.successors[op])
    if (--pendingPreds[s] == 0)
      ready.insert(std::lower_bound(ready.begin(), ready.end(), s), s);
}

namespace {

struct BitsHash {
  size_t operator()(const std::vector<uint64_t> &bits) const {
    uint64_t h = 1469598103934665603ull;
    for (uint64_t word : bits)
      h = (h ^ word) * 1099511628211ull, h ^= h >> 29;
    return static_cast<size_t>(h);
  }
};

/// How a downset was first reached: the ops run since its parent.
struct Node {
  OrderState state;
  int parent;
  std::vector<int> ops;
};

/// Bytes of what an expanded downset gives back, and of what stays (its bits, twice, and the ops).
int64_t freedBytes(const OrderState &state) {
  return static_cast<int64_t>(
      sizeof(int) * (state.pendingPreds.size() + state.pendingReaders.size() + state.ready.size()));
}
int64_t bytesOf(const OrderState &state, const std::vector<int> &ops) {
  return freedBytes(state) +
         static_cast<int64_t>(sizeof(Node) + 2 * 8 * state.done.size() + sizeof(int) * ops.size());
}

/// Run every allowed op that neither raises the peak nor leaves more bytes behind: some best order
/// from here does so too, since moving it to the front never adds live bytes later.
void runFreeOps(const OrderGraph &graph, OrderState &state, const std::vector<char> &allowed,
                std::vector<int> &ops) {
  bool again = true;
  while (again) {
    again = false;
    for (int op : state.ready)
      if ((allowed.empty() || allowed[op]) && state.during(graph, op) <= state.peak &&
          state.change(graph, op) <= 0) {
        state.run(graph, op);
        ops.push_back(op);
        again = true;
        break;
      }
  }
}

} // namespace

DownsetResult searchDownsets(const OrderGraph &graph, const OrderState &start,
                             const std::vector<char> &allowed, int64_t limit, int64_t budget,
                             int64_t stateBytes) {
  DownsetResult result;
  int64_t goal = 0, stored = 0;
  for (int op = 0; op < graph.count(); ++op)
    goal += !start.isDone(op) && (allowed.empty() || allowed[op]);
  std::vector<Node> nodes;
  std::vector<int64_t> remaining;
  std::unordered_map<std::vector<uint64_t>, int64_t, BitsHash> bestPeak;
  using Entry = std::tuple<int64_t, int64_t, int64_t, int>; // peak, remaining, live, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  auto push = [&](OrderState state, int parent, std::vector<int> ops, int64_t left) {
    if (state.peak >= limit)
      return;
    auto [it, isNew] = bestPeak.try_emplace(state.done, state.peak);
    if (!isNew && it->second <= state.peak)
      return;
    it->second = state.peak;
    stored += bytesOf(state, ops);
    result.storedBytes = std::max(result.storedBytes, stored);
    queue.push({state.peak, left, state.live, static_cast<int>(nodes.size())});
    nodes.push_back({std::move(state), parent, std::move(ops)});
    remaining.push_back(left);
  };
  OrderState first = start;
  std::vector<int> ops;
  runFreeOps(graph, first, allowed, ops);
  int64_t firstLeft = goal - static_cast<int64_t>(ops.size());
  push(std::move(first), -1, ops, firstLeft);
  while (!queue.empty()) {
    int at = std::get<3>(queue.top());
    queue.pop();
    if (bestPeak[nodes[at].state.done] < nodes[at].state.peak)
      continue;
    if (remaining[at] == 0) {
      result.peak = nodes[at].state.peak;
      for (int k = at; k >= 0; k = nodes[k].parent)
        result.order.insert(result.order.begin(), nodes[k].ops.begin(), nodes[k].ops.end());
      return result;
    }
    if (result.steps++ >= budget)
      return result;
    stored -= freedBytes(nodes[at].state);
    std::vector<int> ready = nodes[at].state.ready;
    for (int op : ready) {
      if (!allowed.empty() && !allowed[op])
        continue;
      OrderState next = nodes[at].state;
      std::vector<int> run{op};
      next.run(graph, op);
      if (next.peak >= limit)
        continue;
      if (stored >= stateBytes)
        return result;
      runFreeOps(graph, next, allowed, run);
      int64_t left = remaining[at] - static_cast<int64_t>(run.size());
      push(std::move(next), at, std::move(run), left);
    }
    // Expanded states are never read again: only the way back is.
    OrderState &old = nodes[at].state;
    old.pendingPreds = {};
    old.pendingReaders = {};
    old.ready = {};
  }
  result.exhausted = true;
  return result;
}

} // namespace gpucc::solvers
