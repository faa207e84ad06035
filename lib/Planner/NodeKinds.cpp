//===- NodeKinds.cpp - which kinds of nodes of a mixed machine to use -----===//
//
// A pipeline ends with its slowest stage and a ring runs at the pace of its slowest member: beside
// fast nodes slow ones can cost more than they bring. With up to four kinds every choice of kinds
// is searched, with more the fastest one, two, ... of them.
//
// Example: 32 H100 and 16 T4, Llama 2 7B: the H100 alone are faster than both.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/LayoutSearch.h"
#include <algorithm>
#include <tuple>

namespace gpucc::planner {

namespace {

using cost::NodeGroup;

constexpr size_t allChoicesUpTo = 4; ///< kinds

int64_t devicesOf(const NodeGroup &group) { return int64_t(group.devicesPerNode) * group.nodes; }

/// FLOP/s of all devices together, at the precision of the problem.
double peakOf(const SearchProblem &problem) {
  double sum = 0;
  for (const NodeGroup &group : problem.machine.groups())
    sum += simulate::peakOf(group.device, problem.base.recipe.precision) *
           static_cast<double>(devicesOf(group));
  return sum;
}

std::string textOf(const std::vector<NodeGroup> &groups) {
  std::string text;
  for (const NodeGroup &group : groups)
    text +=
        (text.empty() ? "" : " + ") + std::to_string(devicesOf(group)) + " " + group.device.kind;
  return text;
}

/// Choices of kinds but for all of them, in the order of the machine's groups.
std::vector<std::vector<NodeGroup>> choices(const std::vector<NodeGroup> &groups) {
  std::vector<std::vector<NodeGroup>> result;
  size_t n = groups.size();
  if (n <= allChoicesUpTo) {
    for (unsigned mask = 1; mask + 1 < 1u << n; ++mask) {
      result.emplace_back();
      for (size_t i = 0; i < n; ++i)
        if (mask >> i & 1)
          result.back().push_back(groups[i]);
    }
    return result;
  }
  std::vector<NodeGroup> bySpeed = groups;
  std::sort(bySpeed.begin(), bySpeed.end(), [](const NodeGroup &a, const NodeGroup &b) {
    auto key = [](const NodeGroup &g) {
      return std::tuple(-g.device.matrixPeak(DType::F16), g.device.kind);
    };
    return key(a) < key(b);
  });
  for (size_t k = 1; k < n; ++k)
    result.emplace_back(bySpeed.begin(), bySpeed.begin() + static_cast<std::ptrdiff_t>(k));
  return result;
}

/// A pinned precision may be one that only some of the nodes have.
SearchResult searchIfRuns(const SearchProblem &problem, const SearchOptions &options) {
  SearchResult none;
  none.error = simulate::checkPrecision(problem.machine, problem.base.recipe.precision);
  return none.error.empty() ? searchLayouts(problem, options) : none;
}

/// What all searches together say of the answer: the best is proved if each of them is done.
struct Proof {
  double bound = 1e300;
  bool proved = true, exhausted = true;
  int64_t meshes = 0, opened = 0, costed = 0;

  void add(const SearchResult &r) {
    meshes += r.meshes, opened += r.openedMeshes, costed += r.costed;
    if (!r.error.empty())
      return; // there is no layout, or none fits
    bound = std::min(bound, r.lowerBound);
    proved &= r.proved;
    exhausted &= r.exhausted;
  }
  void untried(double least) {
    bound = std::min(bound, least);
    proved = exhausted = false;
  }
  void give(SearchResult &to) const {
    to.lowerBound = std::min(bound, to.best.cost.seconds);
    to.gap = to.best.cost.seconds / to.lowerBound - 1;
    // A search that ended early proves as much if its bound is not below the answer.
    bool above = bound >= to.best.cost.seconds;
    to.proved = proved;
    to.exhausted = exhausted || above;
    to.meshes = meshes, to.openedMeshes = opened, to.costed = costed;
  }
};

} // namespace

SearchResult searchNodeKinds(SearchProblem &problem, const SearchOptions &options) {
  SearchResult best = searchIfRuns(problem, options);
  if (!problem.machine.mixed() || problem.numRanks() != problem.machine.numDevices())
    return best;
  auto secondsOf = [](const SearchResult &r) { return r.error.empty() ? r.best.cost.seconds : 0; };
  auto whyNone = [](const SearchResult &r) {
    bool precision = r.error.starts_with("recipe.precision");
    return r.error.empty() ? ""
           : precision     ? "not all have the precision"
           : r.tooLarge    ? "too little memory"
                           : "no layout of so many devices";
  };
  std::vector<NodesTried> tried = {
      {textOf(problem.machine.groups()), secondsOf(best), whyNone(best)}};
  std::vector<SearchProblem> parts;
  for (const std::vector<NodeGroup> &groups : choices(problem.machine.groups())) {
    parts.push_back(problem);
    parts.back().machine = problem.machine.withGroups(groups);
    parts.back().ranks = parts.back().machine.numDevices();
    if (problem.adapt)
      problem.adapt(parts.back());
  }
  std::sort(parts.begin(), parts.end(), [](const SearchProblem &a, const SearchProblem &b) {
    auto key = [](const SearchProblem &p) {
      return std::tuple(-peakOf(p), textOf(p.machine.groups()));
    };
    return key(a) < key(b); // a good answer first: it rules others out
  });
  double least = workload::countFlops(problem.workload).model(/*causal=*/true) *
                 static_cast<double>(problem.base.globalBatch); // FLOP of a step
  const SearchProblem *chosen = &problem;
  size_t chosenRow = 0;
  Proof proof;
  proof.add(best);
  if (problem.machine.groups().size() > allChoicesUpTo) // what was not tried is proved by nothing
    proof.untried(least / peakOf(problem));
  for (const SearchProblem &part : parts) {
    NodesTried &now = tried.emplace_back();
    now.devices = textOf(part.machine.groups());
    double fastest = secondsOf(best);
    if (fastest > 0 && least / peakOf(part) >= fastest) {
      now.why = "at their peak they would take longer"; // than the answer, which only gets faster
      continue;
    }
    SearchOptions few = options;
    few.explain = false;
    few.budget = options.budget / static_cast<int64_t>(parts.size());
    if (options.onBetter)
      few.onBetter = [&](const Choice &c) {
        if (fastest == 0 || c.cost.seconds < fastest)
          options.onBetter(c);
      };
    SearchResult result = searchIfRuns(part, few);
    now.seconds = secondsOf(result);
    now.why = whyNone(result);
    proof.add(result);
    if (now.seconds > 0 && (fastest == 0 || now.seconds < fastest)) {
      best = std::move(result);
      chosen = &part;
      chosenRow = tried.size() - 1;
    }
  }
  if (chosen != &problem) {
    problem = *chosen;
    if (options.explain) { // its reasons
      SearchOptions again = options;
      again.onBetter = nullptr;
      best = searchLayouts(problem, again);
      tried[chosenRow].seconds = secondsOf(best); // with the whole budget
    }
  }
  best.nodes = std::move(tried);
  if (best.error.empty())
    proof.give(best);
  return best;
}

} // namespace gpucc::planner
