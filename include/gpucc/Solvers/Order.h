//===- Order.h - an order of ops with a small memory peak -------*- C++ -*-===//
//
// What: a topological order of a graph of ops in which the largest sum of live tensor bytes is
// small. A tensor lives from its producer to its last consumer; kept tensors live to the end.
//
// Why here: order decides the peak before offsets are given (`15-decisions`, step 18); importers
// give an order that happened to be written down, not one that is good.
//
// Example (fan-in): four sources of 10 bytes, each reduced to 1 byte, then one sum.
//
//     s0 s1 s2 s3 r0 r1 r2 r3 sum   peak 41    (all sources alive together)
//     s0 r0 s1 r1 s2 r2 s3 r3 sum   peak 14
//
// Exact: best-first search over downsets (sets closed under predecessors), as SERENITY's dynamic
// program (Ahn et al., MLSys'20), with the rule that an op which adds nothing is run at once; trees of
// any size by Liu's algorithm (1987). Large
// graphs: beam search over downsets, then exact re-ordering of sliding windows; a lower bound from
// what must be alive at each op tells how far from the optimum the answer can be.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SOLVERS_ORDER_H
#define GPUCC_SOLVERS_ORDER_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpucc::solvers {

/// A value: `producer` -1 means alive from the start (an argument).
struct OrderTensor {
  int64_t size = 0;
  int producer = -1;
  std::vector<int> consumers;
  bool kept = false; ///< alive to the end (an output)
};

struct OrderProblem {
  int numOps = 0;
  std::vector<OrderTensor> tensors;
  std::vector<int64_t> workspace;              ///< per op, bytes while it runs; may be empty
  std::vector<std::pair<int, int>> precedence; ///< extra edges: first before second

  /// One tensor per op, freed after its last consumer, sinks kept (form of `ordering/*.json`).
  static OrderProblem fromPredecessors(const std::vector<std::vector<int>> &predecessors,
                                       const std::vector<int64_t> &sizes);
  std::string check() const;
  std::string dump() const;
};

struct OrderOptions {
  int64_t stepBudget = 60'000; ///< downsets expanded by the exact search
  int64_t stateBytes = int64_t(1) << 28; ///< that stored downsets may take; counted, not measured
  int beamWidth = 48;          ///< for graphs where the exact search ends without an answer
  int windowSize = 12;         ///< ops re-ordered exactly at a time
  int windowRounds = 3;
  std::vector<int> start; ///< a known legal order to improve on; may be empty
};

struct OrderSolution {
  std::vector<int> order;
  int64_t peak = 0;       ///< bytes
  int64_t lowerBound = 0; ///< bytes; no order is below
  bool optimal = false;
  int64_t steps = 0;
  int64_t storedBytes = 0; ///< of downsets that the exact search held at most
  std::string method;
  std::string dump() const;
};

/// Peak bytes of a legal order: at each op live inputs + its outputs + its workspace.
int64_t peakOfOrder(const OrderProblem &problem, const std::vector<int> &order);

/// Bytes that are alive while each op runs, whatever the order.
int64_t orderLowerBound(const OrderProblem &problem);

OrderSolution solveOrder(const OrderProblem &problem, const OrderOptions &options = {});

/// Empty when `order` lists every op once, producers before consumers.
std::string verifyOrder(const OrderProblem &problem, const std::vector<int> &order);

} // namespace gpucc::solvers
#endif // GPUCC_SOLVERS_ORDER_H
