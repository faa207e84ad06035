//===- Assign.h - one choice per node, pairwise costs -----------*- C++ -*-===//
//
// What: every node takes one of its choices; a choice costs, a pair of choices at an edge costs;
// the sum shall be least. The op-level sharding problem in its plainest form (Alpa's ILP, the
// contest of
// ../data/iopddl without time), and the form this project solves exactly where it can.
//
// Example: two matrix products in a row, choices {none, tp}: node costs {4, 2} and {4, 2}, edge
// cost 1 where the choices differ. Best: tp, tp = 4.
//
// Exact: bucket elimination (Dechter 1999) along a min-degree order; nodes with one choice are
// folded away first. Where a table would exceed `tableLimit` entries the bucket is split
// (mini-buckets): the value is then a lower bound, the assignment a good start that coordinate
// descent improves.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PLANNER_ASSIGN_H
#define GPUCC_PLANNER_ASSIGN_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpucc::planner {

struct AssignNode {
  std::vector<double> cost;   ///< per choice
  std::vector<double> memory; ///< per choice, bytes; used with a price
};

struct AssignEdge {
  int from = 0, to = 0;
  std::vector<double> cost; ///< [choice of from * choices of to + choice of to]
};

struct AssignProblem {
  std::vector<AssignNode> nodes;
  std::vector<AssignEdge> edges;
  std::string check() const;
};

struct AssignOptions {
  int64_t tableLimit = 1 << 18; ///< entries
  double memoryPrice = 0;       ///< cost per byte
  std::vector<int> order;       ///< elimination order to use again; empty: computed
};

struct AssignSolution {
  std::vector<int> choice; ///< per node
  double cost = 0;         ///< without the memory price
  double memory = 0;
  double lowerBound = 0; ///< of cost + memoryPrice * memory
  bool optimal = false;
  int64_t steps = 0; ///< table entries computed
};

/// Least-degree order of elimination for the graph of `problem` (ties: lowest index).
std::vector<int> eliminationOrder(const AssignProblem &problem);
AssignSolution solveAssign(const AssignProblem &problem, const AssignOptions &options = {});
double assignCost(const AssignProblem &problem, const std::vector<int> &choice);

} // namespace gpucc::planner
#endif // GPUCC_PLANNER_ASSIGN_H
