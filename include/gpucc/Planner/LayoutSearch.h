//===- LayoutSearch.h - the best layout of a workload ------------*- C++ -*-===//
//
// What: searches TP x SP x CP x EP x PP x DP x schedule x virtual stages x micro-batch x ZeRO x
// recomputation x offload for the layout with the shortest step that fits in
// memory. Every layout is judged by `simulate::stepCost`, the same that `gpucc simulate` prints.
//
// How: a *mesh* (degrees and micro-batch) has a bound that no schedule, ZeRO stage or recomputation
// undercuts: its compute spread evenly over the pipeline. Meshes are opened in the order of their
// bounds; inside one, recomputation is the least that fits (time grows and memory falls along each
// chain of choices), found by bisection. The search ends when the next bound is no better than the
// worst of the answers to keep: then the best is proved. A budget of work (counted, not timed: the
// same answer every time) ends it earlier; the gap to the smallest unopened bound is then reported.
//
// Example: Llama 3 8B on 64 H100, global batch 128: the answer, what the next best lose, why "TP 8
// with pipeline" was not chosen and what would have to change.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PLANNER_LAYOUTSEARCH_H
#define GPUCC_PLANNER_LAYOUTSEARCH_H

#include "gpucc/Simulate/StepCost.h"
#include <functional>
#include <set>

namespace gpucc::planner {

struct SearchProblem {
  workload::Workload workload;
  cost::Machine machine;
  int64_t ranks = 0;            ///< 0: all devices
  workload::Layout base;        ///< pinned values, recipe, global batch
  std::set<std::string> pinned; ///< keys of layout.yaml that `base` fixes
  /// Of the device memory that a layout may fill: predictions of memory are off by some per cent.
  double memoryShare = 0.95;
  /// Only layouts it accepts; empty: all.
  std::function<bool(const workload::Workload &, const workload::Layout &)> accept;

  /// Sets what follows from the machine and is not pinned (precision, kernel libraries): called for
  /// every choice of a mixed machine's nodes; may be empty.
  std::function<void(SearchProblem &)> adapt;

  int64_t numRanks() const { return ranks > 0 ? ranks : machine.numDevices(); }
};

struct Choice {
  workload::Layout layout;
  simulate::StepCost cost;
  std::string reason; ///< empty for the best: what it loses and why
};

/// A layout that people use by habit, and what the search says of it.
struct Popular {
  std::string name; ///< "FSDP (ZeRO-3 only)", "TP 16", ...
  Choice choice;
  bool possible = false; ///< a layout of that kind exists and fits
  std::string verdict; ///< "+41 % step time: tensor-parallel traffic +2.1 s (tp 16 crosses nodes)"
  std::string change;  ///< what would have to change for it to win; empty: not found
};

/// Kinds of nodes of a mixed machine that were searched.
struct NodesTried {
  std::string devices; ///< "32 h100 + 16 t4"
  double seconds = 0;  ///< of the best layout; 0: none
  std::string why;     ///< there is none
};

struct SearchResult {
  std::string error; ///< not empty: nothing fits or nothing is possible; says the rule
  bool tooLarge = false; ///< layouts are possible, none fits in memory
  Choice best;
  /// Best of each other mesh, by time; of those within a per cent of the fastest not yet listed,
  /// the ones with fewer kinds of parallelism first, then with smaller micro-batches.
  std::vector<Choice> next;
  std::vector<Popular> popular; ///< judged after the search
  std::vector<NodesTried> nodes; ///< of a mixed machine, all kinds first
  double lowerBound = 0;        ///< seconds; equal to the best's when proved
  double gap = 0;               ///< best / lowerBound - 1
  bool proved = false;          ///< nothing of the space is faster
  bool exhausted = false;       ///< ... as far as long pipelines, timed in part and continued, tell
  int64_t meshes = 0, openedMeshes = 0, costed = 0, bounded = 0, work = 0;
};

struct SearchOptions {
  /// Work: actions of pipelines that are timed, and as many for a bound.
  int64_t budget = 160000000;
  int keep = 12;             ///< meshes in `next`
  bool explain = true;
  /// Called when a better layout is found (anytime answers).
  std::function<void(const Choice &)> onBetter;
};

/// Software by the layouts that it runs; `accept` absent: all.
struct Stack {
  const char *name, *what;
  bool (*accept)(const workload::Workload &, const workload::Layout &);
  /// What it does on that machine, unless the user says otherwise; or null.
  void (*recipe)(workload::Recipe &, const cost::Machine &);
};
const Stack *findStack(const std::string &name); ///< nullptr: unknown
std::string stackNames();                        ///< "any, megatron, ..."

SearchResult searchLayouts(const SearchProblem &problem, const SearchOptions &options = {});

/// The same on a mixed machine with all kinds of nodes and with some of them; `problem` becomes
/// that of the answer.
/// Bound and proof are of all searches together; they take up to three budgets.
SearchResult searchNodeKinds(SearchProblem &problem, const SearchOptions &options = {});

/// Every layout of the space, one after the other, for tests on small clusters.
std::vector<workload::Layout> allLayouts(const SearchProblem &problem);

/// Money for one step and for a million tokens, in the machine's currency; zeros without a price.
struct Price {
  double step = 0, millionTokens = 0;
};
Price priceOf(const SearchProblem &problem, const Choice &choice);

std::string explainText(const SearchProblem &problem, const SearchResult &result);
std::string explainJson(const SearchProblem &problem, const SearchResult &result);

/// Arguments of Megatron-LM's pretrain_gpt.py, one per line.
std::string megatronArguments(const workload::Workload &workload, const workload::Layout &layout);
/// Settings of torchtitan as TOML.
std::string torchtitanSettings(const workload::Workload &workload, const workload::Layout &layout);
/// Keys in which two layouts differ and what that does to the step.
std::string diffLayouts(const SearchProblem &problem, const workload::Layout &a,
                        const workload::Layout &b);

} // namespace gpucc::planner
#endif // GPUCC_PLANNER_LAYOUTSEARCH_H
