//===- Order.cpp - exact on small graphs, beam and windows on large ones --===//
//
// Steps of `solveOrder`: lower bound; trees are solved by Liu's algorithm; else beam search gives
// an order; the exact search looks for a better one below that peak; if its budget ends, windows of
// the order are re-ordered exactly.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Order.h"
#include "OrderState.h"
#include "gpucc/Solvers/StableSort.h"
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>

namespace gpucc::solvers {

OrderProblem OrderProblem::fromPredecessors(const std::vector<std::vector<int>> &predecessors,
                                            const std::vector<int64_t> &sizes) {
  OrderProblem problem;
  problem.numOps = static_cast<int>(predecessors.size());
  for (int op = 0; op < problem.numOps; ++op)
    problem.tensors.push_back({sizes[op], op, {}, false});
  for (int op = 0; op < problem.numOps; ++op)
    for (int p : predecessors[op])
      problem.tensors[p].consumers.push_back(op);
  for (OrderTensor &tensor : problem.tensors)
    tensor.kept = tensor.consumers.empty();
  return problem;
}

std::string OrderProblem::check() const {
  std::ostringstream out;
  auto isOp = [&](int op) { return op >= 0 && op < numOps; };
  for (size_t t = 0; t < tensors.size(); ++t) {
    const OrderTensor &tensor = tensors[t];
    bool bad = tensor.size < 0 || (tensor.producer != -1 && !isOp(tensor.producer)) ||
               !std::all_of(tensor.consumers.begin(), tensor.consumers.end(), isOp);
    if (bad) {
      out << "tensor " << t << ": found size " << tensor.size << ", producer " << tensor.producer
          << "; allowed size >= 0, producer -1 or an op, consumers ops in 0.." << numOps - 1
          << "; number ops before tensors";
      return out.str();
    }
  }
  if (!workspace.empty() && static_cast<int>(workspace.size()) != numOps) {
    out << "workspace: found " << workspace.size() << " entries, allowed none or " << numOps;
    return out.str();
  }
  for (auto [a, b] : precedence)
    if (!isOp(a) || !isOp(b) || a == b) {
      out << "precedence (" << a << ", " << b << "): allowed two different ops in 0.."
          << numOps - 1;
      return out.str();
    }
  OrderGraph graph(*this);
  OrderState state(graph);
  int ran = 0;
  for (; !state.ready.empty(); ++ran)
    state.run(graph, state.ready.front());
  if (ran != numOps) {
    out << "the graph has a cycle: only " << ran << " of " << numOps
        << " ops can be ordered; remove the back edge";
    return out.str();
  }
  return "";
}

std::string OrderProblem::dump() const {
  std::ostringstream out;
  out << "ops " << numOps << '\n';
  for (size_t t = 0; t < tensors.size(); ++t) {
    out << "tensor " << t << ": " << tensors[t].size << " bytes, op " << tensors[t].producer
        << " ->";
    for (int c : tensors[t].consumers)
      out << ' ' << c;
    out << (tensors[t].kept ? " kept\n" : "\n");
  }
  for (auto [a, b] : precedence)
    out << "before " << a << ' ' << b << '\n';
  return out.str();
}

std::string OrderSolution::dump() const {
  std::ostringstream out;
  out << "peak " << peak << " bytes, lower bound " << lowerBound << (optimal ? ", optimal" : "")
      << ", by " << method << ", " << steps << " steps:";
  for (int op : order)
    out << ' ' << op;
  out << '\n';
  return out.str();
}

std::string verifyOrder(const OrderProblem &problem, const std::vector<int> &order) {
  std::ostringstream out;
  if (static_cast<int>(order.size()) != problem.numOps) {
    out << "found " << order.size() << " ops in the order, allowed " << problem.numOps;
    return out.str();
  }
  OrderGraph graph(problem);
  OrderState state(graph);
  for (size_t i = 0; i < order.size(); ++i) {
    if (!std::binary_search(state.ready.begin(), state.ready.end(), order[i])) {
      out << "position " << i << ": op " << order[i]
          << " runs before one of its predecessors, or twice";
      return out.str();
    }
    state.run(graph, order[i]);
  }
  return "";
}

int64_t peakOfOrder(const OrderProblem &problem, const std::vector<int> &order) {
  OrderGraph graph(problem);
  OrderState state(graph);
  for (int op : order)
    state.run(graph, op);
  return state.peak;
}

/// At op v: what v reads and writes, its workspace, and every tensor made by an ancestor of v that
/// a descendant of v (or the end) still needs.
int64_t orderLowerBound(const OrderProblem &problem) {
  OrderGraph graph(problem);
  int n = graph.count(), words = (n + 63) / 64;
  std::vector<std::vector<uint64_t>> ancestors(n, std::vector<uint64_t>(words, 0));
  OrderState state(graph);
  while (!state.ready.empty()) {
    int op = state.ready.front();
    for (int p : graph.predecessors[op]) {
      for (int w = 0; w < words; ++w)
        ancestors[op][w] |= ancestors[p][w];
      ancestors[op][p / 64] |= uint64_t(1) << (p % 64);
    }
    state.run(graph, op);
  }
  auto isAncestor = [&](int a, int of) { return (ancestors[of][a / 64] >> (a % 64)) & 1; };
  int64_t bound = graph.startBytes, end = 0;
  std::vector<int64_t> at(n, 0);
  for (const OrderTensor &tensor : problem.tensors) {
    if (tensor.kept)
      end += tensor.size;
    for (int v = 0; v < n; ++v) {
      bool written = tensor.producer == v;
      bool before = tensor.producer < 0 || isAncestor(tensor.producer, v);
      bool needed = tensor.kept;
      for (int c : tensor.consumers)
        needed = needed || c == v || isAncestor(v, c);
      if (written || (before && needed))
        at[v] += tensor.size;
    }
  }
  for (int v = 0; v < n; ++v)
    bound = std::max(bound, at[v] + graph.workspace(v));
  return std::max(bound, end);
}

namespace {

/// Beam search: keep the `width` best downsets of every cardinality.
std::vector<int> beamSearch(const OrderGraph &graph, int width, int64_t &steps) {
  struct Item {
    OrderState state;
    int trace;
  };
  struct Trace {
    int parent, op;
  };
  std::vector<Trace> traces;
  std::vector<Item> beam{{OrderState(graph), -1}};
  for (int level = 0; level < graph.count(); ++level) {
    struct Move {
      int64_t peak, live;
      int item, op;
    };
    std::vector<Move> moves;
    for (int i = 0; i < static_cast<int>(beam.size()); ++i)
      for (int op : beam[i].state.ready) {
        const OrderState &s = beam[i].state;
        moves.push_back(
            {std::max(s.peak, s.during(graph, op)), s.live + s.change(graph, op), i, op});
      }
    stableSort(moves, [](const Move &a, const Move &b) {
      return a.peak != b.peak ? a.peak < b.peak : a.live < b.live;
    });
    std::vector<Item> next;
    std::set<std::vector<uint64_t>> seen;
    for (const Move &move : moves) {
      if (static_cast<int>(next.size()) >= width)
        break;
      std::vector<uint64_t> key = beam[move.item].state.done;
      key[move.op / 64] |= uint64_t(1) << (move.op % 64);
      if (!seen.insert(key).second)
        continue;
      Item item{beam[move.item].state, static_cast<int>(traces.size())};
      traces.push_back({beam[move.item].trace, move.op});
      item.state.run(graph, move.op);
      next.push_back(std::move(item));
      ++steps;
    }
    beam = std::move(next);
  }
  std::vector<int> order;
  for (int k = beam.front().trace; k >= 0; k = traces[k].parent)
    order.push_back(traces[k].op);
  std::reverse(order.begin(), order.end());
  return order;
}

/// Re-order every window of the order exactly; repeat while the peak falls. A window that does not
/// hold the peak is still improved: what it leaves alive earlier helps its neighbours.
void improveWindows(const OrderGraph &graph, std::vector<int> &order, const OrderOptions &options,
                    int64_t &steps) {
  int n = graph.count();
  for (int round = 0; round < options.windowRounds; ++round) {
    int64_t before = peakOfOrder(graph.problem, order);
    OrderState prefix(graph);
    int stride = std::max(1, options.windowSize / 2), done = 0;
    for (int begin = 0; begin < n; begin += stride) {
      for (; done < begin; ++done) {
        prefix.run(graph, order[done]);
      }
      int end = std::min(n, begin + options.windowSize);
      std::vector<char> allowed(n, 0);
      for (int i = begin; i < end; ++i)
        allowed[order[i]] = 1;
      OrderState fresh = prefix;
      fresh.peak = fresh.live;
      OrderState old = fresh;
      for (int i = begin; i < end; ++i)
        old.run(graph, order[i]);
      DownsetResult better =
          searchDownsets(graph, fresh, allowed, old.peak, 4000, options.stateBytes);
      steps += better.steps;
      if (static_cast<int>(better.order.size()) == end - begin)
        std::copy(better.order.begin(), better.order.end(), order.begin() + begin);
    }
    if (peakOfOrder(graph.problem, order) >= before)
      break;
  }
}

} // namespace

OrderSolution solveOrder(const OrderProblem &problem, const OrderOptions &options) {
  OrderGraph graph(problem);
  OrderSolution best;
  best.lowerBound = orderLowerBound(problem);
  best.peak = std::numeric_limits<int64_t>::max();
  auto consider = [&](const std::vector<int> &order, const std::string &method) {
    int64_t peak = peakOfOrder(problem, order);
    if (peak < best.peak) {
      best.order = order;
      best.peak = peak;
      best.method = method;
    }
  };
  if (!options.start.empty())
    consider(options.start, "given order");
  if (std::vector<int> forest = orderOfForest(graph); !forest.empty()) {
    consider(forest, "Liu's algorithm on trees");
    best.lowerBound = best.peak;
    best.optimal = true;
    return best;
  }
  // The beam keeps fewer states on long graphs, so that its cost stays linear in the graph.
  int width = std::max(1, std::min(options.beamWidth, 60'000 / std::max(1, graph.count())));
  consider(beamSearch(graph, width, best.steps), "beam search");
  if (best.peak > best.lowerBound) {
    int64_t perStep = std::max<int64_t>(1, graph.count() / 64); // memory of a state grows with n
    DownsetResult exact = searchDownsets(graph, OrderState(graph), {}, best.peak,
                                         options.stepBudget / perStep, options.stateBytes);
    best.steps += exact.steps;
    best.storedBytes = exact.storedBytes;
    if (!exact.order.empty())
      consider(exact.order, "exact search over downsets");
    best.optimal = !exact.order.empty() || exact.exhausted;
    if (!best.optimal) {
      std::vector<int> order = best.order;
      improveWindows(graph, order, options, best.steps);
      consider(order, "beam search and windows");
    }
  }
  if (graph.count() == 0)
    best.peak = graph.startBytes;
  if (best.optimal)
    best.lowerBound = best.peak;
  best.optimal = best.peak == best.lowerBound;
  return best;
}

} // namespace gpucc::solvers
