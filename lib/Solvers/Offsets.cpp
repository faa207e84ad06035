//===- Offsets.cpp - greedy orders, then search ---------------------------===//
//
// `solveOffsets` = best of eight greedy orders, improved by moving the buffers at the top to the
// front of the order, then the search of OffsetSearch.h at the lower bound; if that is not found
// within half of the budget, bisection between the bound and the best with the rest.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Offsets.h"
#include "ConflictGraph.h"
#include "OffsetSearch.h"
#include "gpucc/Solvers/StableSort.h"
#include <algorithm>
#include <functional>
#include <numeric>
#include <sstream>

namespace gpucc::solvers {

std::string OffsetProblem::check() const {
  std::ostringstream out;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer &b = buffers[i];
    if (b.size < 0 || b.alignment < 1 || (!useConflicts && b.lower > b.upper)) {
      out << "buffer " << i << ": found size " << b.size << ", alignment " << b.alignment
          << ", lifetime [" << b.lower << ", " << b.upper
          << "); allowed size >= 0, alignment >= 1, lower <= upper; correct the caller's lifetimes";
      return out.str();
    }
  }
  int n = static_cast<int>(buffers.size());
  for (auto [a, b] : conflicts)
    if (a < 0 || b < 0 || a >= n || b >= n) {
      out << "conflict (" << a << ", " << b << "): allowed buffer indices are 0.." << n - 1
          << "; number the buffers before the conflicts";
      return out.str();
    }
  return "";
}

std::string OffsetProblem::dump() const {
  std::ostringstream out;
  out << "id,lower,upper,size,alignment\n";
  for (size_t i = 0; i < buffers.size(); ++i)
    out << i << ',' << buffers[i].lower << ',' << buffers[i].upper << ',' << buffers[i].size << ','
        << buffers[i].alignment << '\n';
  for (auto [a, b] : conflicts)
    out << "conflict," << a << ',' << b << '\n';
  return out.str();
}

std::string OffsetSolution::dump() const {
  std::ostringstream out;
  out << "arena " << arena << " bytes, lower bound " << lowerBound << (optimal ? ", optimal" : "")
      << ", by " << method << ", " << steps << " steps\n";
  for (size_t i = 0; i < offsets.size(); ++i)
    out << i << ',' << offsets[i] << '\n';
  return out.str();
}

int64_t offsetLowerBound(const OffsetProblem &problem) {
  ConflictGraph graph(problem);
  int64_t bound = graph.heaviestClique();
  for (int64_t size : graph.size)
    bound = std::max(bound, size);
  return bound;
}

namespace {

using Order = std::vector<int>;

struct Placement {
  std::vector<int64_t> offsets;
  int64_t arena = 0;
};

/// Place buffers in `order`, each into the lowest gap that holds it (or the tightest one).
Placement placeInOrder(const ConflictGraph &graph, const Order &order, bool tightest) {
  Placement result;
  result.offsets.assign(graph.count(), -1);
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (int b : order) {
    taken.clear();
    for (int other : graph.neighbours[b])
      if (result.offsets[other] >= 0)
        taken.push_back({result.offsets[other], result.offsets[other] + graph.size[other]});
    std::sort(taken.begin(), taken.end());
    int64_t cursor = 0, best = -1, bestWaste = 0;
    for (auto [begin, end] : taken) {
      int64_t at = alignUp(cursor, graph.alignment[b]);
      if (at + graph.size[b] <= begin) {
        int64_t waste = begin - at - graph.size[b];
        if (best < 0 || (tightest && waste < bestWaste))
          best = at, bestWaste = waste;
        if (!tightest)
          break;
      }
      cursor = std::max(cursor, end);
    }
    result.offsets[b] = best >= 0 ? best : alignUp(cursor, graph.alignment[b]);
    result.arena = std::max(result.arena, result.offsets[b] + graph.size[b]);
  }
  return result;
}

struct Features {
  std::vector<double> size, width, area, load;
};

/// width: sections spanned (conflict form: cliques), load: the heaviest clique it is part of.
Features featuresOf(const OffsetProblem &problem, const ConflictGraph &graph) {
  Features f;
  std::vector<double> weight;
  for (const auto &clique : graph.cliques) {
    double sum = 0;
    for (int b : clique)
      sum += static_cast<double>(graph.size[b]);
    weight.push_back(sum);
  }
  for (int i = 0; i < graph.count(); ++i) {
    const Buffer &b = problem.buffers[i];
    double width = problem.useConflicts ? static_cast<double>(graph.neighbours[i].size() + 1)
                                        : static_cast<double>(b.upper - b.lower);
    double load = 0;
    for (int c : graph.cliquesOf[i])
      load = std::max(load, weight[c]);
    f.size.push_back(static_cast<double>(b.size));
    f.width.push_back(width);
    f.area.push_back(width * static_cast<double>(b.size));
    f.load.push_back(load);
  }
  return f;
}

Order descending(int n, std::initializer_list<const std::vector<double> *> keys) {
  Order order(n);
  std::iota(order.begin(), order.end(), 0);
  std::vector<const std::vector<double> *> list(keys);
  stableSort(order, [&](int a, int b) {
    for (const auto *key : list)
      if ((*key)[a] != (*key)[b])
        return (*key)[a] > (*key)[b];
    return false;
  });
  return order;
}

/// The static orders: the greedy ones, and the ones the search ranks its candidates with.
std::vector<std::pair<std::string, Order>> staticOrders(const OffsetProblem &problem,
                                                        const ConflictGraph &graph) {
  Features f = featuresOf(problem, graph);
  int n = graph.count();
  Order byTime(n);
  std::iota(byTime.begin(), byTime.end(), 0);
  stableSort(byTime,
             [&](int a, int b) { return problem.buffers[a].lower < problem.buffers[b].lower; });
  return {{"load-width-area", descending(n, {&f.load, &f.width, &f.area})},
          {"load-area-width", descending(n, {&f.load, &f.area, &f.width})},
          {"width-area-load", descending(n, {&f.width, &f.area, &f.load})},
          {"area", descending(n, {&f.area, &f.size})},
          {"size", descending(n, {&f.size, &f.width})},
          {"width", descending(n, {&f.width, &f.size})},
          {"time", byTime}};
}

OffsetSolution greedy(const OffsetProblem &problem, const ConflictGraph &graph,
                      int64_t improveRounds, int64_t goodEnough) {
  OffsetSolution best;
  best.lowerBound = graph.heaviestClique();
  best.arena = -1;
  Order bestOrder;
  bool bestTight = false;
  auto consider = [&](const Order &order, bool tight, const std::string &name) {
    Placement p = placeInOrder(graph, order, tight);
    ++best.steps;
    if (best.arena >= 0 && p.arena >= best.arena)
      return false;
    best.arena = p.arena;
    best.offsets = p.offsets;
    best.method = "greedy " + name + (tight ? " best-fit" : " first-fit");
    bestOrder = order;
    bestTight = tight;
    return true;
  };
  for (auto &[name, order] : staticOrders(problem, graph))
    for (bool tight : {false, true})
      consider(order, tight, name);
  int64_t target = std::max(best.lowerBound, goodEnough);
  // Iterated repair: what ends highest goes first next time.
  Order order = bestOrder;
  std::vector<int64_t> offsets = best.offsets;
  int64_t arena = best.arena;
  for (int64_t round = 0; round < improveRounds && best.arena > target; ++round) {
    Order next;
    for (int pass = 0; pass < 2; ++pass)
      for (int b : order) {
        bool top = offsets[b] + graph.size[b] == arena;
        if (top == (pass == 0))
          next.push_back(b);
      }
    order = next;
    consider(order, bestTight, "repaired");
    Placement p = placeInOrder(graph, order, bestTight);
    offsets = p.offsets;
    arena = p.arena;
  }
  if (best.arena < 0)
    best.arena = 0;
  best.optimal = best.arena == best.lowerBound;
  return best;
}

constexpr int64_t numKinds = 5;

/// A key list with small deterministic noise (0 for the first round): the search is heavy-tailed,
/// and many short runs over slightly different orders succeed where one long run does not.
Order noisyOrder(const Features &f, int kind, double noise, uint64_t &random) {
  auto next = [&] { // splitmix64
    uint64_t z = (random += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  };
  int n = static_cast<int>(f.size.size());
  std::vector<double> load(n), width(n), area(n), size(n);
  for (int i = 0; i < n; ++i) {
    load[i] = f.load[i];
    size[i] = f.size[i] * (1 + noise * next());
    width[i] = f.width[i] * (1 + noise * next());
    area[i] = f.area[i] * (1 + noise * next());
  }
  switch (kind) {
  case 0:
    return descending(n, {&load, &width, &area});
  case 1:
    return descending(n, {&load, &area, &width});
  case 2:
    return descending(n, {&width, &area, &load});
  case 3:
    return descending(n, {&area});
  default:
    return descending(n, {&size, &width});
  }
}

/// 1 1 2 1 1 2 4 ... (Luby, Sinclair & Zuckerman 1993): short runs mostly, long ones ever longer.
int64_t luby(int64_t i) {
  int64_t power = 1;
  while (power * 2 - 1 < i)
    power *= 2;
  return power * 2 - 1 == i ? power : luby(i - power + 1);
}

/// Restarts over kinds of order with noise, component by component; limits by Luby, so that the
/// search stays complete.
OffsetSolution searchAt(const OffsetProblem &problem, const ConflictGraph &graph, int64_t capacity,
                        int64_t budget) {
  OffsetSolution result;
  result.lowerBound = graph.heaviestClique();
  if (result.lowerBound > capacity) {
    result.optimal = true; // proved that nothing fits
    return result;
  }
  static const double noises[] = {0.0, 0.3, 0.1, 1.0};
  constexpr int64_t unit = 4000;
  Features features = featuresOf(problem, graph);
  OffsetSearch search(graph, capacity);
  uint64_t random = 1;
  std::vector<int64_t> offsets(graph.count(), 0);
  for (const std::vector<int> &component : graph.components()) {
    SearchOutcome outcome = SearchOutcome::OutOfSteps;
    for (int64_t run = 0; outcome == SearchOutcome::OutOfSteps; ++run) {
      if (result.steps >= budget)
        return result;
      int64_t round = run / numKinds;
      double noise = round == 0 ? 0.0 : noises[1 + round % 3];
      Order order = noisyOrder(features, static_cast<int>(run % numKinds), noise, random);
      std::vector<int> rank(graph.count());
      for (int i = 0; i < graph.count(); ++i)
        rank[order[i]] = i;
      outcome =
          search.run(component, rank, std::min(unit * luby(round + 1), budget - result.steps));
      result.steps += std::max<int64_t>(1, search.steps());
    }
    if (outcome == SearchOutcome::Impossible) {
      result.optimal = true;
      return result;
    }
    for (int b : component)
      offsets[b] = search.offsets()[b];
  }
  result.offsets = offsets;
  for (int i = 0; i < graph.count(); ++i)
    result.arena = std::max(result.arena, offsets[i] + graph.size[i]);
  result.method = "search";
  result.optimal = result.arena == result.lowerBound;
  return result;
}

} // namespace

OffsetSolution solveOffsetsGreedy(const OffsetProblem &problem) {
  ConflictGraph graph(problem);
  return greedy(problem, graph, 0, -1);
}

OffsetSolution fitOffsets(const OffsetProblem &problem, int64_t capacity,
                          const OffsetOptions &options) {
  ConflictGraph graph(problem);
  OffsetSolution quick = greedy(problem, graph, 32, capacity);
  if (quick.arena <= capacity)
    return quick;
  return searchAt(problem, graph, capacity, options.stepBudget);
}

OffsetSolution solveOffsets(const OffsetProblem &problem, const OffsetOptions &options) {
  ConflictGraph graph(problem);
  OffsetSolution best = greedy(problem, graph, 32, options.goodEnough);
  int64_t bound = best.lowerBound, spent = 0;
  auto done = [&] { return best.arena <= std::max(bound, options.goodEnough); };
  int64_t proved = bound - 1; // nothing fits in this many bytes
  int64_t target = std::max(bound, std::min(options.goodEnough, best.arena));
  for (int64_t budget = options.stepBudget / 2; !done() && spent < options.stepBudget;
       budget = std::max<int64_t>(1, (options.stepBudget - spent) / 2)) {
    OffsetSolution found = searchAt(problem, graph, target, budget);
    spent += found.steps;
    bool fits = !found.offsets.empty();
    if (fits) {
      best.offsets = found.offsets;
      best.arena = found.arena;
      best.method = found.method;
    } else if (found.optimal) {
      proved = std::max(proved, target);
    }
    if (best.arena <= proved + 1)
      break;
    int64_t low = fits ? proved + 1 : target + 1;
    if (!fits && low >= best.arena)
      break;
    target = low + (best.arena - 1 - low) / 2;
  }
  best.steps += spent;
  best.optimal = best.arena == bound || best.arena <= proved + 1;
  return best;
}

std::string verifyOffsets(const OffsetProblem &problem, const OffsetSolution &solution) {
  std::ostringstream out;
  if (solution.offsets.size() != problem.buffers.size()) {
    out << "found " << solution.offsets.size() << " offsets for " << problem.buffers.size()
        << " buffers";
    return out.str();
  }
  ConflictGraph graph(problem);
  for (int i = 0; i < graph.count(); ++i) {
    int64_t begin = solution.offsets[i], end = begin + graph.size[i];
    if (begin < 0 || begin % graph.alignment[i] != 0 || end > solution.arena) {
      out << "buffer " << i << " at " << begin << ".." << end << ": allowed multiples of "
          << graph.alignment[i] << " within the arena of " << solution.arena << " bytes";
      return out.str();
    }
    for (int other : graph.neighbours[i]) {
      int64_t otherBegin = solution.offsets[other];
      if (begin < otherBegin + graph.size[other] && otherBegin < end) {
        out << "buffers " << i << " (" << begin << ".." << end << ") and " << other << " ("
            << otherBegin << ".." << otherBegin + graph.size[other]
            << ") are alive together and overlap";
        return out.str();
      }
    }
  }
  return "";
}

} // namespace gpucc::solvers
