//===- LowerReshard.cpp - reshard steps as ops of one rank ----------------===//
//
//   slice tp of tensor<4x8>, dim 1:
//     %i = dist.axis_index on @mesh over ["tp"] scale 4
//     %1 = graph.slice %0, (0, %i) {sizes = 4x4}
//   mask (whole becomes a partial sum):
//     %1 = graph.select (axis index == 0), %0, 0
//
//===----------------------------------------------------------------------===//
#include "LowerReshard.h"

#include "dialects/Graph/Build.h"
#include "dialects/Graph/Rules.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpucc;

ReshardLowering::ReshardLowering(dist::MeshOp mesh)
    : mesh(mesh.getMesh().toMesh()), meshName(FlatSymbolRefAttr::get(mesh.getSymNameAttr())) {}

/// One op per function for each position and scale, at its start.
Value ReshardLowering::axisIndex(OpBuilder &builder, Location loc, ArrayRef<std::string> axes,
                                 int64_t scale) {
  Block *block = builder.getInsertionBlock();
  auto key = std::pair(dist::toAttr(builder.getContext(), axes), scale);
  Value &known = indices[block][key];
  if (!known) {
    OpBuilder start = OpBuilder::atBlockBegin(block);
    known = dist::AxisIndexOp::create(start, UnknownLoc::get(builder.getContext()),
                                      RankedTensorType::get({}, builder.getI64Type()), meshName,
                                      key.first, builder.getI64IntegerAttr(scale));
  }
  return known;
}

Value ReshardLowering::offset(OpBuilder &builder, Location loc, const Sharding &sharding,
                              ArrayRef<int64_t> globalShape, size_t dim) {
  if (sharding.parts(mesh, dim) == 1)
    return {};
  std::vector<int64_t> shape(globalShape);
  return axisIndex(builder, loc, sharding.dims[dim], sharding.localShape(mesh, shape)[dim]);
}

/// The own block along one dimension. Of a splat constant only a smaller one is made.
Value ReshardLowering::slice(OpBuilder &builder, Location loc, Value x, const ReshardStep &step,
                             RankedTensorType to) {
  DenseElementsAttr constant;
  if (matchPattern(x, m_Constant(&constant)) && constant.isSplat())
    return graph::ConstantOp::create(builder, loc, constant.resizeSplat(to));
  SmallVector<Value> offsets(to.getRank());
  offsets[step.dim] = axisIndex(builder, loc, step.axes, to.getDimSize(step.dim));
  graph::GraphBuilder g(builder, loc);
  return graph::localBlock(g, x, to, offsets);
}

Value ReshardLowering::mask(OpBuilder &builder, Location loc, Value x, const ReshardStep &step) {
  if (graph::isZero(x))
    return x;
  graph::GraphBuilder g(builder, loc);
  auto type = cast<RankedTensorType>(x.getType());
  Value index = axisIndex(builder, loc, step.axes, 1);
  Value first = g.compare(graph::CompareKind::Eq, index, g.scalarI64(0));
  return g.select(g.broadcastScalar(first, type.getShape()), x, g.like(x, 0));
}

Value ReshardLowering::lower(OpBuilder &builder, Location loc, Value x,
                             ArrayRef<int64_t> globalShape, const Sharding &from,
                             const Sharding &to) {
  auto type = cast<RankedTensorType>(x.getType());
  std::vector<int64_t> shape(globalShape);
  double elementBytes = static_cast<double>(type.getElementTypeBitWidth()) / 8;
  Sharding before = from;
  for (const ReshardStep &step : planReshard(mesh, shape, elementBytes, from, to)) {
    RankedTensorType after = type.clone(step.after.localShape(mesh, shape));
    ArrayAttr axes = dist::toAttr(builder.getContext(), step.axes);
    auto combiner = static_cast<dist::Combiner>(before.partialKind);
    switch (step.kind) {
    case ReshardStep::Slice:
      x = slice(builder, loc, x, step, after);
      break;
    case ReshardStep::Mask:
      x = mask(builder, loc, x, step);
      break;
    case ReshardStep::ReduceScatter:
      x = dist::ReduceScatterOp::create(builder, loc, after, combiner, x, meshName.getValue(), axes,
                                        step.dim);
      break;
    case ReshardStep::AllToAll:
      x = dist::AllToAllOp::create(builder, loc, after, x, meshName.getValue(), axes, step.dim,
                                   step.from);
      break;
    case ReshardStep::AllReduce:
      x = dist::AllReduceOp::create(builder, loc, after, combiner, x, meshName.getValue(), axes,
                                    IntegerAttr(), DenseI64ArrayAttr());
      break;
    case ReshardStep::AllGather:
      x = dist::AllGatherOp::create(builder, loc, after, x, meshName.getValue(), axes, step.dim);
      break;
    }
    before = step.after;
  }
  return x;
}
