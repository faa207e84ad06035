//===- LayoutSpace.cpp - degrees, schedules, ZeRO, recomputation ----------===//
//
// Degrees are those that `checkLayout` allows; tensor parallelism is offered up to twice a node, so
// that the report can say what crossing nodes costs, context parallelism while a piece holds at
// least 2,048 tokens.
//
//===----------------------------------------------------------------------===//
#include "LayoutSpace.h"
#include <algorithm>
#include <numeric>

namespace gpucc::planner {

using namespace workload;
using solvers::ScheduleKind;

namespace {

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) {
      small.push_back(d);
      if (d * d < n)
        large.push_back(n / d);
    }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

bool powerOfTwo(int64_t n) { return (n & (n - 1)) == 0; }

class Meshes {
public:
  explicit Meshes(const SearchProblem &problem)
      : problem(problem), w(problem.workload), ranks(problem.numRanks()) {}

  std::vector<Layout> all() {
    int64_t node = problem.machine.devicesPerNode;
    for (int64_t tp : pick("tp", problem.base.tp, divisors(ranks)))
      if (pinned("tp") || (tp <= 2 * node && w.heads % tp == 0))
        for (int64_t cp : pick("cp", problem.base.cp, divisors(ranks / tp)))
          if (pinned("cp") || (powerOfTwo(cp) && (cp == 1 || w.sequence / cp >= 2048)))
            for (int64_t pp : pick("pp", problem.base.pp, divisors(ranks / (tp * cp))))
              if (ranks % (tp * cp * pp) == 0 && pp <= w.layers + 2)
                degrees(tp, cp, pp);
    return std::move(result);
  }

private:
  bool pinned(const char *key) const { return problem.pinned.count(key) > 0; }
  std::vector<int64_t> pick(const char *key, int64_t value, std::vector<int64_t> others) const {
    return pinned(key) ? std::vector<int64_t>{value} : others;
  }

  void degrees(int64_t tp, int64_t cp, int64_t pp) {
    int64_t dp = ranks / (tp * cp * pp);
    if ((pinned("dp") && dp != problem.base.dp) || problem.base.globalBatch % dp != 0)
      return;
    int64_t stage = tp * cp * dp;
    std::vector<int64_t> eps = {1}, etps = {1};
    if (w.hasExperts()) {
      eps = divisors(w.moe.count);
      if (tp > 1)
        etps.push_back(tp);
    }
    for (int64_t ep : pick("ep", problem.base.ep, eps))
      for (int64_t etp : pick("expert-tp", problem.base.expertTp, etps))
        if (stage % (ep * etp) == 0)
          for (int64_t mb : pick("micro-batch", problem.base.microBatch, {1, 2, 4, 8, 16}))
            for (bool sp : sequenceChoices(tp))
              add(tp, sp, cp, pp, dp, ep, etp, mb);
  }

  std::vector<bool> sequenceChoices(int64_t tp) const {
    if (pinned("sp"))
      return {problem.base.sequenceParallel};
    return tp > 1 ? std::vector<bool>{true, false} : std::vector<bool>{true};
  }

  void add(int64_t tp, bool sp, int64_t cp, int64_t pp, int64_t dp, int64_t ep, int64_t etp,
           int64_t mb) {
    Layout l = problem.base;
    l.tp = tp;
    l.sequenceParallel = sp;
    l.cp = cp;
    l.pp = pp;
    l.dp = dp;
    l.ep = ep;
    l.expertTp = etp;
    l.microBatch = mb;
    if (!pinned("schedule")) { // any schedule will do for the check of degrees
      l.schedule = ScheduleKind::OneFOneB;
      l.virtualStages = 1;
    }
    if (checkLayout(w, l, ranks).empty() || (pinned("schedule") && l.pp == 1))
      result.push_back(l);
  }

  const SearchProblem &problem;
  const Workload &w;
  int64_t ranks;
  std::vector<Layout> result;
};

/// Kinds and virtual stages that a mesh allows.
std::vector<std::pair<ScheduleKind, int64_t>> schedules(const SearchProblem &problem,
                                                        const Layout &mesh) {
  std::vector<std::pair<ScheduleKind, int64_t>> result;
  if (mesh.pp == 1)
    return {{ScheduleKind::OneFOneB, 1}};
  int64_t all = problem.workload.layers + problem.workload.predictAhead;
  // Those with the least bubble first: the others are then skipped by their bounds.
  for (ScheduleKind kind : {ScheduleKind::ZbV, ScheduleKind::Interleaved, ScheduleKind::DualPipeV,
                            ScheduleKind::DualPipe, ScheduleKind::ZbH2, ScheduleKind::ZbH1,
                            ScheduleKind::OneFOneB, ScheduleKind::GPipe}) {
    if (problem.pinned.count("schedule") && kind != problem.base.schedule)
      continue;
    std::vector<int64_t> counts = {1};
    if (kind == ScheduleKind::Interleaved) {
      counts.clear();
      for (int64_t v = 16; v >= 2; --v)
        if (mesh.pp * v <= all + 2 && (all % (mesh.pp * v) == 0 || (all + 2) % (mesh.pp * v) == 0))
          counts.push_back(v);
      if (counts.empty() && 2 * mesh.pp <= all)
        counts.push_back(2);
    }
    if (problem.pinned.count("virtual-stages"))
      counts = {problem.base.virtualStages};
    for (int64_t v : counts) {
      Layout l = mesh;
      l.schedule = kind;
      l.virtualStages = v;
      if (checkLayout(problem.workload, l).empty())
        result.push_back({kind, v});
    }
  }
  return result;
}

/// ZeRO stages with the groups that share a copy: all ranks, or those of one node.
std::vector<std::pair<int, int64_t>> zeros(const SearchProblem &problem, const Layout &mesh) {
  int64_t sharers = mesh.dp * mesh.cp;
  bool fixed = problem.pinned.count("zero") > 0;
  std::vector<std::pair<int, int64_t>> result;
  for (int stage : {1, 0, 2, 3}) {
    if ((fixed && stage != problem.base.zeroStage) || (!fixed && stage > 0 && sharers == 1))
      continue;
    if (problem.pinned.count("zero-group")) {
      result.push_back({stage, stage > 0 ? problem.base.zeroGroup : 0});
      continue;
    }
    result.push_back({stage, 0});
    int64_t node = problem.machine.devicesPerNode / std::max<int64_t>(1, mesh.tp);
    if (stage > 0 && node > 1 && node < sharers && sharers % node == 0)
      result.push_back({stage, node});
  }
  return result;
}

std::vector<double> shares(const SearchProblem &problem, const char *key, double value,
                           std::vector<double> others) {
  return problem.pinned.count(key) ? std::vector<double>{value} : others;
}

} // namespace

std::vector<Layout> meshes(const SearchProblem &problem) { return Meshes(problem).all(); }

std::vector<Layout> variants(const SearchProblem &problem, const Layout &mesh) {
  std::vector<Layout> result;
  std::vector<std::pair<ScheduleKind, int64_t>> kinds = schedules(problem, mesh);
  for (double optimizer :
       shares(problem, "offload-optimizer", problem.base.offloadOptimizer, {0, 1}))
    for (double activations :
         shares(problem, "offload-activations", problem.base.offloadActivations, {0, 0.5}))
      for (auto [zero, group] : zeros(problem, mesh))
        for (auto [kind, v] : kinds) {
          Layout l = mesh;
          l.schedule = kind;
          l.virtualStages = v;
          l.zeroStage = zero;
          l.zeroGroup = group;
          l.offloadOptimizer = optimizer;
          l.offloadActivations = activations;
          if (!problem.pinned.count("recompute"))
            l.recompute = Recompute::None;
          result.push_back(l);
        }
  return result;
}

std::vector<std::vector<Layout>> recomputations(const SearchProblem &problem,
                                                const Layout &variant) {
  auto with = [&](Recompute mode, int64_t layers) {
    Layout l = variant;
    l.recompute = mode;
    l.recomputeLayers = layers;
    return l;
  };
  if (problem.pinned.count("recompute") && variant.recompute != Recompute::Full)
    return {{with(variant.recompute, variant.recomputeLayers)}};
  if (problem.pinned.count("recompute-layers"))
    return {{with(Recompute::Full, problem.base.recomputeLayers)}};
  std::vector<Layout> layers;
  std::vector<int64_t> stages = layersOfStages(problem.workload, variant);
  int64_t most = *std::max_element(stages.begin(), stages.end());
  int64_t chunks =
      variant.pp == 1
          ? 1
          : solvers::chunksPerRank(variant.schedule, static_cast<int>(variant.virtualStages));
  bool any = !problem.pinned.count("recompute");
  // A layer more per chunk of a rank, or an eighth of the stage where that is more.
  for (int64_t k = chunks; any && k < most; k += std::max<int64_t>(chunks, most / 8))
    layers.push_back(with(Recompute::Full, k));
  layers.push_back(with(Recompute::Full, -1));
  if (!any)
    return {layers};
  std::vector<Layout> parts = {with(Recompute::None, -1)};
  if (!variant.recipe.flashAttention) // a flash core keeps next to nothing
    parts.push_back(with(Recompute::Selective, -1));
  parts.push_back(with(Recompute::Cheap, -1));
  return {parts, {with(Recompute::Ops, -1)}, layers};
}

std::vector<Layout> allLayouts(const SearchProblem &problem) {
  simulate::BlockCache cache(problem.workload, cost::Calibration::builtin());
  std::vector<Layout> result;
  for (const Layout &mesh : meshes(problem))
    for (const Layout &variant : variants(problem, mesh))
      for (const Layout &choice : stageChoices(cache, problem, variant))
        for (const std::vector<Layout> &chain : recomputations(problem, choice))
          result.insert(result.end(), chain.begin(), chain.end());
  return result;
}

} // namespace gpucc::planner
