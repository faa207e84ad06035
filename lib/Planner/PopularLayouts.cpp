//===- PopularLayouts.cpp - why the usual layouts were not chosen ---------===//
//
// Each habit is a filter over layouts; a small search finds its best member, which is set against
// the answer part by part. Then the machine or the batch is changed in steps until the habit wins.
//
//===----------------------------------------------------------------------===//
#include "PopularLayouts.h"
#include "gpucc/Facts/Text.h"
#include <algorithm>

namespace gpucc::planner {

using namespace workload;
using simulate::StepCost;
using solvers::ScheduleKind;

namespace {

struct Term {
  const char *what;
  double seconds;
};

std::vector<Term> termsOf(const StepCost &c) {
  const simulate::Parts &p = c.parts;
  return {{"matrix products", p.matmul},
          {"attention", p.attention},
          {"pointwise", p.pointwise},
          {"host launches", p.host},
          {"exposed tensor-parallel traffic", p.tensor},
          {"context-parallel traffic", p.context},
          {"expert traffic", p.expert},
          {"recomputation", p.recompute},
          {"sharded parameters and gradients", c.gatherSeconds},
          {"pipeline bubble", c.bubbleSeconds},
          {"offload and overlap of pairs", c.offloadSeconds},
          {"gradient traffic not hidden", c.gradientExposed},
          {"update", c.updateSeconds}};
}

/// What a term is due to, where the layout says so.
std::string cause(const std::string &what, const Layout &l, const SearchProblem &problem) {
  int64_t node = problem.machine.devicesPerNode;
  auto number = [](const char *key, int64_t n) {
    return std::string(key) + " " + std::to_string(n);
  };
  if (what == "exposed tensor-parallel traffic")
    return number("tp", l.tp) + (l.tp > node ? " crosses nodes" : "");
  if (what == "pipeline bubble")
    return number("pp", l.pp) + ", " + std::to_string(l.microBatches()) + " micro-batches, " +
           solvers::name(l.schedule);
  if (what == "expert traffic")
    return number("ep", l.ep) + (l.ep * l.expertTp > node ? " crosses nodes" : "");
  if (what == "gradient traffic not hidden" || what == "sharded parameters and gradients")
    return number("dp", l.dp) + ", " + number("zero", l.zeroStage);
  if (what == "matrix products")
    return number("micro-batch", l.microBatch) + ", " + number("tp", l.tp) + ": smaller products";
  return "";
}

} // namespace

std::string compareChoices(const Choice &other, const Choice &best, const SearchProblem &problem) {
  std::vector<Term> mine = termsOf(other.cost), theirs = termsOf(best.cost);
  for (size_t k = 0; k < mine.size(); ++k)
    mine[k].seconds -= theirs[k].seconds;
  std::stable_sort(mine.begin(), mine.end(),
                   [](const Term &a, const Term &b) { return a.seconds > b.seconds; });
  double loss = other.cost.seconds / best.cost.seconds - 1;
  std::string out = format("%+.1f %%", 100 * loss);
  int said = 0;
  for (const Term &term : mine)
    if (said < 2 && term.seconds > 0.002 * best.cost.seconds) {
      std::string why = cause(term.what, other.layout, problem);
      out += format("%s %s %+.3g s", said ? "," : ":", term.what, term.seconds) +
             (why.empty() ? "" : " (" + why + ")");
      ++said;
    }
  double memory = other.cost.fullestMemory().total() - best.cost.fullestMemory().total();
  if (memory < -1e9)
    out += format("; saves %.1f GiB", -memory / 1073741824.0);
  return out;
}

namespace {

struct Habit {
  std::string name;
  std::function<bool(const Layout &)> is;
};

std::vector<Habit> habits(const SearchProblem &problem, const Choice &best) {
  int64_t node = problem.machine.devicesPerNode;
  auto flat = [](const Layout &l) { return l.tp == 1 && l.cp == 1 && l.pp == 1; };
  std::vector<Habit> all = {
      {"data parallel, nothing sharded",
       [=](const Layout &l) { return flat(l) && l.zeroStage == 0; }},
      {"data parallel with ZeRO-1", [=](const Layout &l) { return flat(l) && l.zeroStage == 1; }},
      {"FSDP (ZeRO-3 over all ranks)",
       [=](const Layout &l) { return flat(l) && l.zeroStage == 3 && l.zeroGroup == 0; }},
      {"FSDP inside a node, copies between", // hybrid sharding
       [=](const Layout &l) { return flat(l) && l.zeroStage == 3 && l.zeroGroup > 0; }},
      {"tensor parallel in the node, data parallel between",
       [=](const Layout &l) { return l.tp == node && l.pp == 1 && l.cp == 1; }},
      {"TP " + std::to_string(2 * node) + " (across two nodes)",
       [=](const Layout &l) { return l.tp == 2 * node; }},
      {"Megatron: TP " + std::to_string(node) + ", pipeline 1F1B, ZeRO-1",
       [=](const Layout &l) {
         return l.tp == node && l.pp > 1 && l.schedule == ScheduleKind::OneFOneB &&
                l.zeroStage <= 1;
       }},
      {"Megatron: TP " + std::to_string(node) + ", interleaved pipeline",
       [=](const Layout &l) {
         return l.tp == node && l.pp > 1 && l.schedule == ScheduleKind::Interleaved;
       }},
      {"pipeline without tensor parallelism",
       [=](const Layout &l) { return l.tp == 1 && l.pp > 1; }},
      {"the answer's degrees with GPipe",
       [b = best.layout](const Layout &l) {
         return l.tp == b.tp && l.pp == b.pp && l.pp > 1 && l.schedule == ScheduleKind::GPipe;
       }},
      {"the answer's degrees without sequence parallelism", [b = best.layout](const Layout &l) {
         return l.tp == b.tp && l.tp > 1 && l.pp == b.pp && l.ep == b.ep && !l.sequenceParallel;
       }}};
  if (problem.workload.hasExperts()) {
    all.push_back({"every expert on every rank (ep 1)", [](const Layout &l) { return l.ep == 1; }});
    all.push_back({"experts inside a node (ep " + std::to_string(node) + ")",
                   [=](const Layout &l) { return l.ep * l.expertTp == node; }});
  }
  if (problem.workload.sequence >= 16384)
    all.push_back({"no context parallelism", [](const Layout &l) { return l.cp == 1; }});
  return all;
}

/// Re-costs both layouts under a change; the first step at which the habit wins.
std::string whatWouldHelp(const SearchProblem &problem, const Choice &habit, const Choice &best) {
  for (double factor : {2.0, 4.0, 8.0}) {
    cost::Machine machine = problem.machine;
    machine.inter.bandwidth *= factor;
    simulate::BlockCache fresh(problem.workload, cost::Calibration::builtin());
    if (simulate::stepCost(fresh, machine, habit.layout).seconds <
        simulate::stepCost(fresh, machine, best.layout).seconds)
      return format("wins with a network %.0f times as fast", factor);
  }
  simulate::BlockCache cache(problem.workload, cost::Calibration::builtin());
  for (int64_t factor : {2, 4, 8}) {
    Layout a = habit.layout, b = best.layout;
    a.globalBatch *= factor;
    b.globalBatch *= factor;
    if (simulate::stepCost(cache, problem.machine, a).seconds <
        simulate::stepCost(cache, problem.machine, b).seconds)
      return format("wins with global batch %lld", static_cast<long long>(a.globalBatch));
  }
  return "a network 8 times as fast or a batch 8 times as large would not make it win";
}

/// The best member of a habit with more memory per device, if it would beat the answer.
std::string memoryThatWins(const SearchProblem &inner, const SearchOptions &quick,
                           const Choice &best) {
  for (double factor : {1.5, 2.0, 4.0, 8.0}) {
    SearchProblem more = inner;
    more.memoryShare *= factor;
    SearchResult found = searchLayouts(more, quick);
    if (found.error.empty())
      return format(found.best.cost.seconds < best.cost.seconds
                        ? "fits and wins with %.0f GiB per GPU"
                        : "fits with %.0f GiB per GPU, and is still slower",
                    factor * inner.memoryShare * best.cost.memoryLimit / 1073741824.0);
  }
  return "needs more than 8 times the memory";
}

} // namespace

void judgePopular(const SearchProblem &problem, simulate::BlockCache &, SearchResult &result) {
  SearchOptions quick;
  quick.budget = 2000000;
  quick.keep = 1;
  quick.explain = false;
  for (const Habit &habit : habits(problem, result.best)) {
    if (habit.is(result.best.layout))
      continue;
    SearchProblem inner = problem;
    inner.accept = [&](const Workload &w, const Layout &l) {
      return habit.is(l) && (!problem.accept || problem.accept(w, l));
    };
    SearchResult found = searchLayouts(inner, quick);
    Popular popular;
    popular.name = habit.name;
    if (found.error.empty()) {
      popular.possible = true;
      popular.choice = found.best;
      popular.verdict = compareChoices(found.best, result.best, problem);
      popular.change = whatWouldHelp(problem, found.best, result.best);
    } else if (found.bounded > 0 && found.error.rfind("nothing fits", 0) == 0) {
      popular.verdict = "does not fit: " + found.error.substr(found.error.find("the leanest"));
      popular.change = memoryThatWins(inner, quick, result.best);
    } else {
      continue; // no layout of this kind exists here
    }
    result.popular.push_back(std::move(popular));
  }
}

} // namespace gpucc::planner
