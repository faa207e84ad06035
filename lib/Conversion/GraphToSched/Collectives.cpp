//===- Collectives.cpp - dist ops as commands -----------------------------===//
//
// The plan's collectives join and split blocks one behind the other, that is
// along dimension 0. all_gather and reduce_scatter along another dimension must
// have been brought to that form (gpucc-prepare-collectives).
//
//===----------------------------------------------------------------------===//
#include "SegmentBuilder.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

bool sched::isCollective(Operation *op) {
  return isa<dist::CollectiveOpInterface, dist::SendOp, dist::RecvOp>(op);
}

namespace {
struct CommandMaker {
  OpBuilder &b;
  Operation *op;
  std::optional<Storage> operand, result;

  LogicalResult make(StringRef kind, ArrayAttr axes, StringRef reduce, int64_t count,
                     base::RankValueAttr peer = {}, base::RankValueAttr source = {},
                     IntegerAttr stage = {}, IntegerAttr channel = {}) {
    Type type = op->getNumOperands() ? op->getOperand(0).getType() : op->getResult(0).getType();
    CollectiveOp::create(b, op->getLoc(), b.getStringAttr(kind), axes, b.getStringAttr(reduce),
                         TypeAttr::get(cast<RankedTensorType>(type).getElementType()),
                         b.getI64IntegerAttr(count), operand ? operand->view() : base::ViewAttr(),
                         result ? result->view() : base::ViewAttr(), peer, source, stage, channel,
                         b.getStringAttr(sourceName(op)));
    return success();
  }
};

/// Elements before dimension `dim` are one: blocks along it lie one behind the other.
bool isOutermost(RankedTensorType type, int64_t dim) {
  return llvm::all_of(type.getShape().take_front(dim), [](int64_t d) { return d == 1; });
}

LogicalResult needsOutermost(Operation *op, RankedTensorType type, int64_t dim) {
  if (isOutermost(type, dim))
    return success();
  return op->emitOpError() << "works along dimension " << dim << " of " << type
                           << "; commands join blocks along the outermost dimension only: run "
                              "gpucc-prepare-collectives first";
}

/// Member index of this rank plus `shift`, around.
base::RankValueAttr neighbour(OpBuilder &b, const Mesh &mesh, ArrayAttr axes, int64_t shift) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> strides;
  int64_t members = 1;
  for (Attribute axis : llvm::reverse(axes)) {
    names.push_back(cast<StringAttr>(axis));
    strides.push_back(members);
    members *= mesh.axisSize(cast<StringAttr>(axis).str());
  }
  int64_t base = ((shift % members) + members) % members;
  return base::RankValueAttr::get(b.getContext(), base, names, strides, 0, members);
}
} // namespace

LogicalResult sched::buildCollective(OpBuilder &b, Operation *op, const Mesh &mesh,
                                     std::optional<Storage> operand,
                                     std::optional<Storage> result) {
  CommandMaker make{b, op, operand, result};
  auto elements = [](Value v) { return cast<RankedTensorType>(v.getType()).getNumElements(); };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](dist::AllReduceOp o) {
        return make.make("all_reduce", o.getAxes(), dist::stringifyCombiner(o.getCombiner()),
                         elements(o.getX()));
      })
      .Case([&](dist::AllGatherOp o) -> LogicalResult {
        if (failed(needsOutermost(op, o.getX().getType(), o.getDim())))
          return failure();
        return make.make("all_gather", o.getAxes(), "sum", elements(o.getX()));
      })
      .Case([&](dist::ReduceScatterOp o) -> LogicalResult {
        if (failed(needsOutermost(op, o.getX().getType(), o.getDim())))
          return failure();
        return make.make("reduce_scatter", o.getAxes(), dist::stringifyCombiner(o.getCombiner()),
                         elements(o.getResult()));
      })
      .Case([&](dist::AllToAllOp o) -> LogicalResult {
        if (failed(needsOutermost(op, o.getX().getType(), o.getSplit())) ||
            failed(needsOutermost(op, o.getResult().getType(), o.getConcat())))
          return failure();
        int64_t members = 1;
        for (Attribute axis : o.getAxes())
          members *= mesh.axisSize(cast<StringAttr>(axis).str());
        return make.make("all_to_all", o.getAxes(), "sum", elements(o.getX()) / members);
      })
      .Case([&](dist::PermuteOp o) {
        return make.make("permute", o.getAxes(), "sum", elements(o.getX()),
                         neighbour(b, mesh, o.getAxes(), o.getShift()),
                         neighbour(b, mesh, o.getAxes(), -static_cast<int64_t>(o.getShift())));
      })
      .Case([&](dist::SendOp o) {
        return make.make("send", b.getArrayAttr({}), "sum", elements(o.getX()), {}, {},
                         o.getStageAttr(), o.getChannelAttr());
      })
      .Case([&](dist::RecvOp o) {
        return make.make("recv", b.getArrayAttr({}), "sum", elements(o.getResult()), {}, {},
                         o.getStageAttr(), o.getChannelAttr());
      })
      .Default([](Operation *o) { return o->emitOpError() << "is no collective known here"; });
}
