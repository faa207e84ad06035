//===- OpStrategy.h - how one op is spread over a mesh ----------*- C++ -*-===//
//
// A strategy puts mesh axes on the factors (loops) of an op's sharding rule and
// lets partial sums flow through operands in which the op is linear. Operand
// and result shardings follow from it, and it follows from them.
//
//   contract lhs[i,k] · rhs[k,j], strategy {i: dp, k: tp}
//     operands  [{dp},{tp}], [{tp},{}]     result  [{dp},{}] partial sum {tp}
//   add a, b with the flow {tp: both}
//     operands  partial sum {tp} twice     result  partial sum {tp}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_DIST_OPSTRATEGY_H
#define GPUCC_TRANSFORMS_DIST_OPSTRATEGY_H

#include "gpucc/Facts/Sharding.h"

namespace gpucc {

/// A partial sum over `axis` passes through the op by these operands.
struct PartialFlow {
  std::string axis;
  std::vector<bool> operands;
  bool operator==(const PartialFlow &) const = default;
};

struct OpStrategy {
  std::vector<std::vector<std::string>> factorAxes; ///< per factor: axes, major to minor
  std::vector<PartialFlow> flows;

  static OpStrategy replicated(const ShardingRule &rule) {
    return {std::vector<std::vector<std::string>>(rule.factors.size()), {}};
  }
  bool operator==(const OpStrategy &) const = default;
};

/// True when the factor is the major one of every dimension that carries it, may be split, and,
/// when parallel, appears in every result.
bool isSplittable(const ShardingRule &rule, int factor);

/// Which operands may carry a partial sum together: one entry per possibility.
std::vector<std::vector<bool>> partialFlows(const ShardingRule &rule);

/// Empty when the strategy obeys the rule on this mesh; otherwise which part does not.
std::string checkStrategy(const ShardingRule &rule, const OpStrategy &strategy, const Mesh &mesh);

Sharding operandSharding(const ShardingRule &rule, const OpStrategy &strategy, size_t operand);
Sharding resultSharding(const ShardingRule &rule, const OpStrategy &strategy, size_t result);

/// The strategy that has these operand and result shardings; otherwise none and `why` says which
/// tensor contradicts the rule.
std::optional<OpStrategy> inferStrategy(const ShardingRule &rule, const Mesh &mesh,
                                        const std::vector<Sharding> &operands,
                                        const std::vector<Sharding> &results, std::string &why);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_OPSTRATEGY_H
