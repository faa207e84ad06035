//===- Builder.h - ops of a block, one call each -----------------*- C++ -*-===//
//
// What: turns "a product of m x k by k x n" or "a pointwise op that reads two and writes one
// tensor" into a BlockOp with its backward ops. Everything that decides how many bytes and kernels
// an op costs stands here and in Expand.cpp.
//
// Example: matmul("mlp.up", 2048, 6144, 12288) has one backward-input product (2048 x 12288 x 6144)
// and one backward-weight product (12288 x 6144 x 2048).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_WORKLOAD_BUILDER_H
#define GPUCC_LIB_WORKLOAD_BUILDER_H

#include "gpucc/Workload/Expand.h"

namespace gpucc::workload {

class Builder {
public:
  Builder(const Workload &workload, const Layout &layout, BlockWork &block);

  double T;             ///< tokens of one rank of a tp group
  double Tn;            ///< tokens that norms and residuals see: T / sequence shards
  double h, activation; ///< hidden size, bytes of an activation element
  int64_t tp;

  /// One product with a weight of k x n (local). Adds the parameters, keeps its input unless
  /// `keepInput` is false (the same tensor is already kept). `inputShare`: the kept share of the
  /// input (sequence parallelism keeps a shard and gathers again).
  BlockOp &matmul(const std::string &name, double m, double n, double k, double batch = 1,
                  double keptInputBytes = -1, bool lowPrecision = true);
  /// Elementwise work over `elements`: `reads` + `writes` passes of `bytesPer` bytes forward, one
  /// fused kernel or `eagerKernels` kernels that each read and write.
  BlockOp &pointwise(const std::string &name, double elements, double reads, double writes,
                     double backwardReads, double backwardWrites, double keptBytes,
                     double eagerKernels, double bytesPer = 0);
  /// The same for work whose passes are counted kernel by kernel, whatever the recipe fuses.
  BlockOp &passes(const std::string &name, double elements, double reads, double writes,
                  double backwardReads, double backwardWrites, double keptBytes, double kernels,
                  double bytesPer);
  /// The operand of the last product was cast for another one before it.
  void castBefore();
  /// A kernel that only backward runs.
  void backwardPass(const std::string &name, double elements, double reads, double writes);
  /// The sum of a bias's gradient over the rows, unless the weight gradient's product makes it.
  void biasGradient(const std::string &name, double rows, double width);
  /// Where a branch joins the residual stream: dropout and sum. Backward the gradient passes
  /// through, and the branch's own input gradient is added to it.
  void residual(const std::string &name, double branches);
  void collective(const std::string &name, Pass pass, cost::Collective kind, Axis axis,
                  double bytes, bool beside = false);
  /// Before a column-split product: sequence shards are gathered, or nothing is done; backward the
  /// mirror image. After a row-split one: the sums are scattered or all-reduced.
  void enterTensor(const std::string &name);
  /// What follows reads this rank's own results, not gathered rows.
  void readGathered() { entering = false; }
  void leaveTensor(const std::string &name);
  double keptActivation() const;          ///< bytes of an element that an activation function keeps
  double gatherBytes(double bytes) const; ///< of an all-gather of that many 16-bit bytes
  void norm(const std::string &name, double rows, double width);
  void parameters(double elements) { block.parameters += elements; }

private:
  /// Quantized rows are gathered and kept; software that keeps 16 bits casts what was gathered again.
  bool castsOwnRows() const;
  cost::OpWork product(double m, double n, double k, double batch, DType type, double outBytes);
  const Workload &w;
  const Layout &l;
  BlockWork &block;
  bool entering = false; ///< products over the hidden size read rows that are gathered
};

} // namespace gpucc::workload
#endif // GPUCC_LIB_WORKLOAD_BUILDER_H
