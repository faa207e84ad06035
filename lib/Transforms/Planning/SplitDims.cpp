//===- SplitDims.cpp - which dimension carries the batch ------------------===//
#include "SplitDims.h"

using namespace gpucc;
using namespace gpucc::planner;

namespace {

struct Spread {
  PlanProblem &p;
  int PlanTensor::*dim;
  int64_t extent;
  bool changed = false;

  /// The loop of `op` that a known dimension names; results first, as the cost model looks.
  int loopOf(const PlanOp &op) const {
    auto find = [&](const std::vector<int> &tensors,
                    const std::vector<ShardingRule::Tensor> &rules) {
      for (size_t i = 0; i < tensors.size(); ++i)
        if (int d = p.tensors[tensors[i]].*dim; d >= 0 && !rules[i][d].empty())
          return rules[i][d].front();
      return -1;
    };
    int loop = find(op.results, op.rule.results);
    return loop >= 0 ? loop : find(op.operands, op.rule.operands);
  }

  void mark(const std::vector<int> &tensors, const std::vector<ShardingRule::Tensor> &rules,
            int loop) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      PlanTensor &t = p.tensors[tensors[i]];
      for (size_t d = 0; !t.isState && t.*dim < 0 && d < rules[i].size(); ++d)
        if (!rules[i][d].empty() && rules[i][d].front() == loop && t.shape[d] % extent == 0) {
          t.*dim = static_cast<int>(d);
          changed = true;
        }
    }
  }

  void visit(const PlanOp &op) {
    int loop = op.phase == Phase::Update ? -1 : loopOf(op);
    if (loop < 0)
      return;
    mark(op.operands, op.rule.operands, loop);
    mark(op.results, op.rule.results, loop);
  }
};

} // namespace

void gpucc::spreadDims(PlanProblem &problem, int PlanTensor::*dim, int64_t extent) {
  Spread spread{problem, dim, extent};
  do {
    spread.changed = false;
    for (const PlanOp &op : problem.ops)
      spread.visit(op);
    for (size_t i = problem.ops.size(); i-- > 0;)
      spread.visit(problem.ops[i]);
  } while (spread.changed);
}
