//===- Expand.h - a workload and a layout to the ops of one rank -*- C++ -*-===//
//
// What: for each kind of block (embedding, layer, head) the kernels that one rank runs for one
// micro-batch, with the same `OpFacts` that ops of a real graph give, the collectives between them,
// the bytes that backward needs, and the parameters the rank holds. Sizes are local: already
// divided by the degrees of the layout.
//
// Example, GPT-3 175B, tp 8 with sequence parallelism, micro-batch 1: the layer's "mlp.up" is a
// contract of m 2048, k 12288, n 6144; a forward all-gather of 2048 * 12288 * 2 bytes precedes it;
// it keeps 2048 / 8 * 12288 * 2 bytes. The sum over the layer is s b h / t (34 + 5 a s / h) bytes
// (Korthikanti et al. 2022, eq. 4).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_WORKLOAD_EXPAND_H
#define GPUCC_WORKLOAD_EXPAND_H

#include "gpucc/CostModel/Collectives.h"
#include "gpucc/CostModel/OpCost.h"
#include "gpucc/Workload/Layout.h"

namespace gpucc::workload {

enum class BlockPart { Embedding, Layer, Head };
struct BlockKind {
  BlockPart part = BlockPart::Layer;
  bool experts = false, windowed = false;
  auto operator<=>(const BlockKind &) const = default;
};

struct BlockOp {
  std::string name; ///< "attention.qkv", "mlp.up", ...
  cost::OpWork forward;
  std::vector<cost::OpWork> backwardInput, backwardWeight;
  double savedBytes = 0;   ///< kept from forward to backward because of this op
  bool core = false;       ///< part of the attention core: selective recompute runs it again
  bool cheap = false;      ///< cheap recompute runs it again
  double rebuiltBytes = 0; ///< of `savedBytes`, what cheap ops make again
  double keptByOp = 0;     ///< bytes of the result that recomputation by operator keeps
  double againByOp = 0;    ///< share of the forward op that it runs again
};

enum class Pass : char { Forward = 'F', Backward = 'B' };

struct BlockCollective {
  std::string name; ///< the op it precedes or follows
  Pass pass = Pass::Forward;
  cost::Collective kind = cost::Collective::AllReduce;
  Axis axis = Axis::Tensor;
  double bytes = 0;    ///< of the full tensor, as `cost::collectiveSeconds` counts
  bool beside = false; ///< cut up, runs beside the compute of its op and is only partly waited for
  bool whole = false;  ///< runs beside a whole product: gather and input gradient, sum and weight's
  cost::Routing routing; ///< of the tokens whose copies the bytes are
};

struct BlockWork {
  BlockKind kind;
  std::vector<BlockOp> ops;
  std::vector<BlockCollective> collectives;
  double inputBytes = 0;       ///< the block's input on this rank: all that full recompute keeps
  double parameters = 0;       ///< local elements, experts excluded
  double expertParameters = 0; ///< local elements of routed experts
  double matrixFlops() const;  ///< forward
  double savedBytes(Recompute mode) const;
  /// Number of the op that a recomputed forward pass need not reach: the last one that keeps
  /// something, if that is only its input (a product). Otherwise the number of all ops.
  size_t lastRead() const;
};

/// Blocks in the order of the model: embedding, layers, extra prediction layers, head.
std::vector<BlockKind> blocksOf(const Workload &workload);
BlockWork expandBlock(const Workload &workload, const Layout &layout, BlockKind kind);

/// Bytes of one micro-batch that cross a stage boundary, per rank.
double boundaryBytes(const Workload &workload, const Layout &layout);

} // namespace gpucc::workload
#endif // GPUCC_WORKLOAD_EXPAND_H
