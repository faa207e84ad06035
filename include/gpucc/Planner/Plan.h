//===- Plan.h - the search over layouts -------------------------*- C++ -*-===//
//
// What: mesh (dp x tp) x stages x micro-batches x schedule x ZeRO x recompute, and inside each the
// choice of every op, minimising step time under the memory of a rank. Returns the best, what else
// was considered and what it would lose, and why well-known layouts were not chosen.
//
// Ranks are numbered stage by stage, inside a stage dp by dp, tp innermost: tp groups have stride
// 1, dp groups stride tp, stages stride dp * tp.
//
// The time of a candidate is additive inside a stage (ops and edges, forward and backward per
// micro-batch, gradient reduction and update per step); stages are put together by running the
// pipeline schedule. `buildLayoutProblem` + `evaluateLayout` are public so that a test can
// enumerate all choices and compare.
//
// Example: GPT-2 medium on 8 H100: `planLayout(problem)`, best.candidate.dump() = "dp=8 tp=1 ...".
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PLANNER_PLAN_H
#define GPUCC_PLANNER_PLAN_H

#include "gpucc/CostModel/Cost.h"
#include "gpucc/Facts/Sharding.h"
#include "gpucc/Planner/Assign.h"
#include "gpucc/Planner/Problem.h"

namespace gpucc::planner {

struct Candidate {
  int64_t dp = 1, tp = 1, pp = 1, microBatches = 1;
  int zero = 0;
  bool sp = true; ///< tp may split sequence dimensions
  solvers::ScheduleKind schedule = solvers::ScheduleKind::OneFOneB;
  RecomputeMode recompute = RecomputeMode::None;
  std::string dump() const; ///< "dp=2 tp=4 pp=1 micro-batches=1 zero=1 sp=on ..."
  bool operator==(const Candidate &) const = default;
};

/// How a tensor lies on the tp axis: a dimension, or one of these.
constexpr int replicatedLayout = -1, partialLayout = -2;

/// `tpFactor` of a linear op that every rank runs on its partial sum.
constexpr int passThroughFactor = -2;

/// One way to run an op: the factor that tp splits, and what follows for its tensors.
struct Strategy {
  int tpFactor = -1; ///< -1: every tp rank runs the whole op; or passThroughFactor
  std::vector<int> operandTp, resultTp; ///< tp layout per operand and result
  std::vector<int> operandDp, resultDp; ///< dp layout likewise
  double seconds = 0;                   ///< one run of the op on one rank
};

/// What a node of the assignment problem stands for.
struct LayoutNode {
  enum Kind { Op, State, Hub } kind = Op;
  int index = 0; ///< op or tensor
  int segment = 0;
  Phase phase = Phase::Forward;
  std::vector<Strategy> strategies; ///< Op
  std::vector<int> layouts;         ///< State, Hub: tp layout per choice
  std::vector<double> seconds;      ///< per choice, one run
};

/// A value that flows between two nodes; seconds[a * choices + b] for one run.
struct LayoutEdge {
  int from = 0, to = 0, tensor = 0;
  int segment = 0;
  Phase phase = Phase::Forward;
  std::vector<double> seconds;
  bool gradientSum = false; ///< contains the reduction over dp of a gradient
};

/// The inner problem of one candidate: weights turn runs into seconds per step.
struct LayoutProblem {
  std::vector<LayoutNode> nodes;
  std::vector<LayoutEdge> edges;
  std::vector<int> nodeOfOp, nodeOfTensor; ///< -1: none
  std::vector<char> isKept;                ///< per tensor: forward result that backward reads
  AssignProblem assign;
};
LayoutProblem buildLayoutProblem(const PlanProblem &problem, const Candidate &candidate);

struct LayoutCost {
  double seconds = 0; ///< of one step
  double computeSeconds = 0, communicationSeconds = 0, bubbleSeconds = 0, updateSeconds = 0;
  cost::RankMemory memory; ///< of the fullest rank
  int fullestStage = 0;
  bool fits = false;
  std::vector<int> firstSegment; ///< per stage
};
LayoutCost evaluateLayout(const PlanProblem &problem, const Candidate &candidate,
                          const LayoutProblem &layout, const std::vector<int> &choice);

/// One considered layout.
struct Considered {
  Candidate candidate;
  LayoutCost cost;
  bool optimal = false; ///< its op choices were proved best for it
  std::string reason;   ///< why it was not chosen; empty for the best
};

struct PlannedOp {
  int tpFactor = -1;
  int stage = 0;
  std::vector<Sharding> operands, results; ///< axes "dp" and "tp"
};

struct PlanResult {
  std::string error; ///< not empty: no plan; names the rule and the remedy
  Candidate best;    ///< sp: whether its op choices use what was allowed
  LayoutCost cost;
  Mesh mesh; ///< of one stage: dp, tp
  std::vector<PlannedOp> ops;
  std::vector<Sharding> states;         ///< per tensor; empty dims for tensors that are no states
  std::vector<Considered> alternatives; ///< by time, the best first, those that fit
  std::vector<Considered> rejected;     ///< did not fit
  std::vector<Considered> wellKnown;    ///< named layouts and what they lose ("data parallel"...)
  double lowerBoundSeconds = 0;         ///< of the best candidate's op choices
  int64_t candidates = 0, steps = 0;
  std::string explain(const PlanProblem &problem) const; ///< for a person
  /// What a plan file keeps: {"why": [line..], "alternatives": [..], "rejected": [..], "layout":
  /// {..}, "predicted": {"step_seconds", ..}, "memory": {"parameters", ..}, "considered", ..}.
  std::string explainJson(const PlanProblem &problem) const;
  /// Whether the chosen op assignment splits activations along the sequence over tp.
  bool usesSequence(const PlanProblem &problem) const;
};

struct PlanOptions {
  AssignOptions assign;
  int maxAlternatives = 12;
};

/// All candidates that the pins and the sizes allow; empty with `error` set when none.
std::vector<Candidate> enumerateCandidates(const PlanProblem &problem, std::string &error);
PlanResult planLayout(const PlanProblem &problem, const PlanOptions &options = {});

} // namespace gpucc::planner
#endif // GPUCC_PLANNER_PLAN_H
