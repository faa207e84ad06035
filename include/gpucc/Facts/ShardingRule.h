//===- ShardingRule.h - which loops an op's dimensions share ----*- C++ -*-===//
//
// An op is seen as a loop nest; each loop is a *factor*. Every dimension of
// every operand and result names the factors it is made of, major to minor.
// Splitting a factor over a mesh axis splits all dimensions that carry it.
// (The idea is Shardy's sharding rule; the encoding is ours.)
//
//   contract  lhs[i,k] · rhs[k,j] -> out[i,j]
//     factors  i: Parallel  j: Parallel  k: Reduce(Sum)
//     operands {{i},{k}}, {{k},{j}}     results {{i},{j}}
//   reshape [6,4] -> [2,3,4]
//     factors  a=2: Parallel  b=3: Parallel  c=4: Parallel
//     operands {{a,b},{c}}              results {{a},{b},{c}}
//
// A dimension with an empty list has size 1 or is broadcast: never split.
// In a dimension made of several factors only the major one may be split.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_SHARDINGRULE_H
#define GPUCC_FACTS_SHARDINGRULE_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpucc {

enum class ReduceKind : uint8_t { Sum, Max, Min, Prod, And, Or };
const char *name(ReduceKind kind);

enum class FactorKind : uint8_t {
  Parallel,   ///< independent iterations: may be split
  Reduce,     ///< splitting leaves every result partial, to be combined by `reduce`
  Replicated, ///< every rank needs the whole dimension (softmax axis, sort axis, window)
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::Parallel;
  ReduceKind reduce = ReduceKind::Sum; ///< for Reduce
};

struct ShardingRule {
  using Tensor = std::vector<std::vector<int>>; ///< per dimension: factor indices, major to minor
  std::vector<Factor> factors;
  std::vector<Tensor> operands;
  std::vector<Tensor> results;
  /// Linear in this operand alone, the others fixed (mul, contract, transpose; not add): when only
  /// it is a partial sum, so is the result. One entry per operand; empty = none.
  std::vector<bool> linearIn;
  /// Linear in all these operands taken together (add, sub, concat, the two values of select): when
  /// every one of them is a partial sum over the same axes, so is the result.
  std::vector<bool> linearTogether;

  /// Empty when sizes, indices and ranks are consistent; otherwise what is wrong.
  std::string check(const std::vector<std::vector<int64_t>> &operandShapes,
                    const std::vector<std::vector<int64_t>> &resultShapes) const;
  std::string dump() const;
};

} // namespace gpucc

#endif // GPUCC_FACTS_SHARDINGRULE_H
