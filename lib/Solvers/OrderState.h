//===- OrderState.h - live bytes while an order is built --------*- C++ -*-===//
//
// The graph in the form searches need (predecessors, tensors read and written per op) and a state
// that knows which ops have run, what is alive and what is ready.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_SOLVERS_ORDERSTATE_H
#define GPUCC_LIB_SOLVERS_ORDERSTATE_H

#include "gpucc/Solvers/Order.h"

namespace gpucc::solvers {

struct OrderGraph {
  explicit OrderGraph(const OrderProblem &problem);
  const OrderProblem &problem;
  std::vector<std::vector<int>> successors, predecessors; ///< distinct ops
  std::vector<std::vector<int>> reads, writes;            ///< tensors per op, distinct
  std::vector<int64_t> written;                           ///< bytes of `writes`
  int64_t startBytes = 0;
  int count() const { return problem.numOps; }
  int64_t workspace(int op) const { return problem.workspace.empty() ? 0 : problem.workspace[op]; }
};

struct OrderState {
  std::vector<uint64_t> done;      ///< bit set of ops
  std::vector<int> pendingPreds;   ///< per op
  std::vector<int> pendingReaders; ///< per tensor
  std::vector<int> ready;          ///< ascending
  int64_t live = 0, peak = 0;

  explicit OrderState(const OrderGraph &graph);
  /// Bytes alive while `op` runs, and the change that remains after it.
  int64_t during(const OrderGraph &graph, int op) const;
  int64_t change(const OrderGraph &graph, int op) const;
  void run(const OrderGraph &graph, int op);
  bool isDone(int op) const { return (done[op / 64] >> (op % 64)) & 1; }
};

/// Best-first over downsets starting at `start`, restricted to `allowed` ops (empty: all), until
/// all allowed ops ran. Returns the ops in order, empty when `budget` expansions or `stateBytes` of
/// stored downsets did not suffice or no order stays below `limit` bytes.
struct DownsetResult {
  std::vector<int> order;
  int64_t peak = 0;
  int64_t steps = 0;
  int64_t storedBytes = 0; ///< of downsets at most at a time, as `bytesOf` counts them
  bool exhausted = false; ///< every downset was looked at: nothing below `limit` exists
};
DownsetResult searchDownsets(const OrderGraph &graph, const OrderState &start,
                             const std::vector<char> &allowed, int64_t limit, int64_t budget,
                             int64_t stateBytes);

/// The optimal order when every op has at most one reader (an in-forest), else empty
/// (OrderTree.cpp).
std::vector<int> orderOfForest(const OrderGraph &graph);

} // namespace gpucc::solvers
#endif
