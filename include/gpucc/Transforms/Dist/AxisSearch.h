//===- AxisSearch.h - which loops one mesh axis splits ----------*- C++ -*-===//
//
// Spreads a whole program over one mesh axis: for every op either one factor of
// its rule, or a partial sum that flows through, or nothing; so that the bytes
// sent are few. Other axes are searched one after another; a dimension that one
// of them splits is closed to the next.
//
// The search walks the ops in order and keeps the `width` best ways so far
// (beam search, deterministic). Tensors whose sharding nobody has asked for yet
// (parameters, constants and what is computed from them alone) take the sharding
// of their first use for free. The Megatron layout comes out of it:
//
//   h = x·W1   x whole: split W1 by columns, h by columns      nothing sent
//   g = gelu(h)        follow                                  nothing sent
//   y = g·W2   g split along the contracted loop: W2 by rows   y is a partial sum
//   z = y + x          needs y whole: all-reduce once
//
// Splitting x·W1 by rows instead would send an all-reduce of h, which is larger.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_DIST_AXISSEARCH_H
#define GPUCC_TRANSFORMS_DIST_AXISSEARCH_H

#include "gpucc/Transforms/Dist/OpStrategy.h"

#include <cstdint>

namespace gpucc {

/// How a value lies on the one axis: `Open` (free to choose), `Whole`, `Partial` (a sum), `Other`
/// (partial with another combiner), or `Split + d`: split along dimension d.
namespace axis {
inline constexpr int8_t Open = -1, Whole = 0, Partial = 1, Other = 2, Split = 3;
}

struct AxisProblem {
  struct Value {
    double bytes = 0;             ///< on one rank while this axis does not split it
    std::vector<bool> splittable; ///< per dimension: divisible and not split by another axis
    int8_t state = axis::Open;    ///< given for arguments that are fixed; Open otherwise
    bool isStatic = false;        ///< a free argument, or computed from such and leaves only
    bool isScalar = false;
    bool differentiable = false;                ///< a gradient flows back through it
    bool maySplit = true, mayBePartial = false; ///< for free arguments
  };
  struct Op {
    const ShardingRule *rule = nullptr;
    std::vector<int> operands, results;
    std::vector<bool> usable;    ///< per factor: splittable, divisible, not used by another axis
    std::vector<bool> mustSplit; ///< per operand: a weight of matrix work, to be split if possible
    std::vector<bool> weights; ///< per operand: a weight of matrix work; where it is split already
                               ///< it stays as it is, and activations move
    std::vector<int8_t> fixed; ///< per result: state that is demanded; Open = any. May be empty
    bool isStatic = false, backward = false;
    bool isZero = false;    ///< every element of the result is 0: whole and partial at once
    double work = 0;        ///< flops of matrix work, of one rank while this axis splits nothing
    bool onlyFixed = false; ///< a constraint: the result may be resharded into its fixed state
  };
  /// At the end: the value in the state of the argument `like` (or not partial when like is -1).
  struct Output {
    int value = -1, like = -1;
  };

  int64_t parts = 1;
  bool splitWeights = false;     ///< tensor parallelism: ops with mustSplit operands are split
  bool splitActivations = false; ///< sequence parallelism: other values may be split freely
  bool keepSplit = false;        ///< data parallelism: what is split is not put together again
                                 ///< as long as the op can follow it, however few its bytes
  bool training = false;         ///< count what the backward pass will send
  /// Flops that cost as much as one byte sent: what ranks compute alike is not free. (About what an
  /// H100 computes while NVLink carries a byte; the choice does not hang on its digits.)
  double flopsPerByte = 1000;
  size_t width = 16;
  std::vector<Value> values;
  std::vector<Op> ops; ///< in order; static ones are decided where they are used
  std::vector<Output> outputs;
};

struct AxisSolution {
  /// Per op: the factor that the axis splits, `none`, or -2 - i: the partial flow number i
  /// (partialFlows) passes.
  static constexpr int none = -1;
  std::vector<int> choice;
  std::vector<int8_t> state; ///< per value
  double bytes = 0;          ///< sent by one rank in one execution, the backward pass included
  std::string error; ///< not empty: a demand that no choice meets, with the op's index first
  int errorOp = -1;
};

AxisSolution searchAxis(const AxisProblem &problem);

/// State that a choice demands of an operand, and gives to a result.
int8_t operandState(const ShardingRule &rule, int choice, size_t operand);
int8_t resultState(const ShardingRule &rule, int choice, size_t result);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_AXISSEARCH_H
