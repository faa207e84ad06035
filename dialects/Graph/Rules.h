//===- Rules.h - helpers for sharding rules and local forms -----*- C++ -*-===//
//
//   Rule r;                                   // contract x[8,16] · w[16,4]
//   int i = r.factor(8), k = r.reduced(16), j = r.factor(4);
//   return r.operand({{i}, {k}}).operand({{k}, {j}}).result({{i}, {j}});
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_RULES_H
#define GPUCC_GRAPH_RULES_H

#include "dialects/Graph/Build.h"
#include "gpucc/Facts/ShardingRule.h"

namespace gpucc::graph {

class Rule {
public:
  using Dims = ShardingRule::Tensor;

  /// A loop whose iterations are independent.
  int factor(int64_t size) { return add({size, FactorKind::Parallel, ReduceKind::Sum}); }
  /// A loop that every result sums (or otherwise combines) over.
  int reduced(int64_t size, ReduceKind kind = ReduceKind::Sum) {
    return add({size, FactorKind::Reduce, kind});
  }
  /// A loop that no rank may have a part of.
  int whole(int64_t size) { return add({size, FactorKind::Replicated, ReduceKind::Sum}); }

  Rule &operand(Dims dims) {
    rule.operands.push_back(std::move(dims));
    return *this;
  }
  Rule &result(Dims dims) {
    rule.results.push_back(std::move(dims));
    return *this;
  }
  /// Operands in each of which alone the op is linear.
  Rule &linearIn(std::initializer_list<bool> flags) {
    rule.linearIn = flags;
    return *this;
  }
  Rule &linearTogether(std::vector<bool> flags) {
    rule.linearTogether = std::move(flags);
    return *this;
  }
  operator ShardingRule() const { return rule; }

private:
  int add(Factor f) {
    rule.factors.push_back(f);
    return static_cast<int>(rule.factors.size()) - 1;
  }
  ShardingRule rule;
};

/// The rule of an op all of whose operands and results have one shape, every dimension a loop.
Rule pointwiseRule(mlir::Operation *op);

ReduceKind toReduceKind(ReductionKind kind);

/// `base[d] + offsets[d]` as scalar values; a null offset adds nothing. `base` may be empty
/// (zeros).
llvm::SmallVector<mlir::Value> addOffsets(GraphBuilder &g, mlir::ValueRange base,
                                          llvm::ArrayRef<mlir::Value> offsets);
/// True when every offset is null: the rank's block starts at 0 everywhere.
bool noOffsets(llvm::ArrayRef<mlir::Value> offsets);

/// The block of `whole` of the shape of `local` at `offsets`. Where blocks do not divide the
/// tensor, the last ones are filled with zeros.
mlir::Value localBlock(GraphBuilder &g, mlir::Value whole, mlir::RankedTensorType local,
                       llvm::ArrayRef<mlir::Value> offsets);

} // namespace gpucc::graph

#endif // GPUCC_GRAPH_RULES_H
