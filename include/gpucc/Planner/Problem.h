//===- Problem.h - a training or inference step to be laid out --*- C++ -*-===//
//
// The contract between a graph and the planner. A pass fills a `PlanProblem` from IR, calls
// `planLayout` (Plan.h) and writes the answer back; nothing here knows IR.
//
// Worked example: y = relu(x W), loss, SGD; batch 32, on 4 ranks.
//
//   tensors   0 x  [32,64]  batchDim 0                 (Input)
//             1 W  [64,128] isState                    (parameter)
//             2 h  [32,128] batchDim 0                 (kept: backward reads it)
//             3 y  [32,128] batchDim 0
//             4 dy [32,128] batchDim 0     5 dh [32,128] batchDim 0
//             6 dW [64,128] (no batch dim) 7 W' [64,128]
//   ops       contract  operands {0,1} results {2} Forward   segment 0
//             relu      operands {2}   results {3} Forward   segment 0
//             lossGrad  operands {3}   results {4} Backward  segment 0
//             reluGrad  operands {4,2} results {5} Backward  segment 0
//             contractW operands {0,5} results {6} Backward  segment 0   rule: batch is Reduce
//             sgd       operands {1,6} results {7} Update    segment 0   newStateOf {1}
//
// With mesh dp=2, tp=2 every op runs with dp on its *batch factor* (the factor of a batchDim of one
// of its tensors); `contractW` therefore leaves dW partial over dp, and the edge dW -> sgd pays the
// gradient all-reduce. The choice per op is the factor that tp splits: for `contract` i (rows), j
// (columns of W), k (reduce: h partial over tp) or none. A weight is a node of its own with the
// layouts "replicated" and "tp on dimension d". Choosing j for contract, reluGrad, contractW and
// sgd and "tp on dimension 1" for W gives the column-parallel layout without any tp collective.
//
// Sizes are global: shapes and facts are those of the whole step on one device; the planner divides
// them. `segment` is the pipeline's unit: ops of one segment stay in one stage, segments are
// numbered along the forward direction (embedding, layers, head).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PLANNER_PROBLEM_H
#define GPUCC_PLANNER_PROBLEM_H

#include "gpucc/CostModel/Machine.h"
#include "gpucc/Facts/OpFacts.h"
#include "gpucc/Facts/ShardingRule.h"
#include "gpucc/Solvers/Schedules.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gpucc::planner {

enum class Phase : char { Forward = 'F', Backward = 'B', Update = 'U' };

struct PlanTensor {
  std::string name;
  std::vector<int64_t> shape; ///< of the whole step
  DType type = DType::F32;
  int batchDim = -1;         ///< dimension that dp and micro-batches divide; -1: none
  int sequenceDim = -1;      ///< dimension that sequence parallelism may split; -1: none
  bool isState = false;      ///< lives across steps; read by ops, written through newStateOf
  double gradientBytes = 0;  ///< for states: bytes of its accumulated gradient (global)
  double optimizerBytes = 0; ///< for states: bytes of moments and masters (global)

  double bytes() const;
};

struct PlanOp {
  std::string name;
  OpFacts facts;                      ///< of the whole step
  ShardingRule rule;                  ///< over operands and results in this order
  std::vector<int> operands, results; ///< tensor indices
  Phase phase = Phase::Forward;
  int segment = 0;
  bool cheap = false;          ///< recompute mode "selective" runs it again in backward
  bool noRecompute = false;    ///< never run again: random with state, side effect
  std::vector<int> newStateOf; ///< per result: the state tensor it replaces, -1 none; may be empty
};

enum class RecomputeMode { None, Selective, Full };
const char *name(RecomputeMode mode); ///< "none", "selective", "full"

/// What the user fixed. Unset: the planner chooses.
struct Pins {
  std::optional<int64_t> dp, tp, pp, microBatches, zero;
  std::optional<bool> sp;
  std::optional<solvers::ScheduleKind> schedule;
  std::optional<RecomputeMode> recompute;
};

/// "dp=2,tp=2,sp=on,pp=1,zero=1,schedule=1f1b,micro-batches=4,recompute=full", or what is wrong.
std::variant<Pins, std::string> parsePins(const std::string &text);
std::string dump(const Pins &pins);

struct PlanProblem {
  int64_t lookAtAll = 1 << 18; ///< op choices of one mesh up to which every one is tried
  std::vector<PlanTensor> tensors;
  std::vector<PlanOp> ops;
  int numSegments = 1;
  int64_t batch = 1; ///< extent of the batch dimension
  cost::Machine machine;
  int64_t ranks = 0;            ///< 0: all devices of the machine
  double memoryLimit = 0;       ///< bytes per rank; 0: the device's memory
  double gradientOverlap = 0.5; ///< share of gradient communication hidden behind backward
  bool tf32 = false;
  Pins pins;

  int64_t numRanks() const { return ranks > 0 ? ranks : machine.numDevices(); }
  double memoryPerRank() const {
    return memoryLimit > 0 ? memoryLimit : machine.device.memoryBytes;
  }
  /// Indices, shapes against rules, segments. Empty when fine.
  std::string check() const;
  std::string dump() const; ///< one line per op
};

/// Text form to carry a problem in a bug report: everything above as JSON.
std::string toJson(const PlanProblem &problem);
std::variant<PlanProblem, std::string> problemFromJson(const std::string &text,
                                                       const std::string &origin);

} // namespace gpucc::planner
#endif // GPUCC_PLANNER_PROBLEM_H
