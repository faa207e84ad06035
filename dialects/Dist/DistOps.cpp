//===- DistOps.cpp - what the dist ops require ----------------------------===//
#include "dialects/Dist/Dist.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::dist;

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.cpp.inc"

//===-- Shared checks -----------------------------------------------------===//

/// C1: the symbol is a dist.mesh.
static FailureOr<Mesh> lookupMesh(Operation *op, FlatSymbolRefAttr name,
                                  SymbolTableCollection &symbols) {
  if (auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(op, name))
    return mesh.getMesh().toMesh();
  InFlightDiagnostic error = op->emitOpError()
                             << "C1: " << name << " is no dist.mesh of this module";
  error.attachNote() << "declare one at module level, for example: dist.mesh " << name
                     << " <[\"dp\" = 2, \"tp\" = 2]>";
  return error;
}

/// C2: different axes of the mesh. Returns the number of members.
static FailureOr<int64_t> checkAxes(Operation *op, const Mesh &mesh, ArrayAttr axes) {
  if (axes.empty())
    return op->emitOpError("C2: no axes; name at least one axis of the mesh (")
           << mesh.dump() << ")";
  Sharding as{{toStrings(axes)}, {}, ReduceKind::Sum};
  if (std::string wrong = as.check(mesh, 1); !wrong.empty())
    return op->emitOpError("C2: ") << wrong;
  return as.parts(mesh, 0);
}

static FailureOr<int64_t> membersOf(Operation *op, FlatSymbolRefAttr name, ArrayAttr axes,
                                    SymbolTableCollection &symbols) {
  FailureOr<Mesh> mesh = lookupMesh(op, name, symbols);
  if (failed(mesh))
    return failure();
  return checkAxes(op, *mesh, axes);
}

/// C2 and C3 of ops on global values.
static LogicalResult checkSharding(Operation *op, const Mesh &mesh, ShardingAttr attr,
                                   RankedTensorType type, StringRef what) {
  Sharding sharding = attr.toSharding();
  if (std::string wrong = sharding.check(mesh, type.getRank()); !wrong.empty())
    return op->emitOpError("C2: ") << what << ": " << wrong;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (int64_t parts = sharding.parts(mesh, d); type.getDimSize(d) % parts)
      return op->emitOpError("C3: ")
             << what << ": dimension " << d << " of size " << type.getDimSize(d)
             << " does not divide into " << parts << " equal parts; keep it whole";
  return success();
}

static LogicalResult checkDim(Operation *op, int64_t dim, RankedTensorType type, StringRef what) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return op->emitOpError("C3: ") << "'" << what << "' is " << dim << ", the tensor has "
                                 << type.getRank() << " dimensions; it must be one of 0 to "
                                 << type.getRank() - 1;
}

/// `type` with dimension `dim` multiplied by `factor`.
static RankedTensorType grown(RankedTensorType type, int64_t dim, int64_t factor) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= factor;
  return type.clone(shape);
}

static LogicalResult checkTypes(Operation *op, Type found, Type expected, int64_t members) {
  if (found == expected)
    return success();
  return op->emitOpError("C4: ") << "the result is " << found << "; with " << members
                                 << " members it must be " << expected;
}

static LogicalResult checkCombiner(Operation *op, StringRef constraint, Combiner combiner,
                                   Type element) {
  bool logical = combiner == Combiner::And || combiner == Combiner::Or;
  bool fine = logical ? element.isInteger() : !element.isInteger(1);
  if (fine)
    return success();
  return op->emitOpError() << constraint << ": '" << stringifyCombiner(combiner)
                           << "' is not defined for " << element << "; "
                           << (logical ? "it needs integers or i1"
                                       : "i1 is combined by 'and' or 'or'");
}

//===-- Ops on global values ----------------------------------------------===//

LogicalResult MeshOp::verify() {
  for (auto [i, axis] : llvm::enumerate(getMesh().getAxes()))
    if (axis.getValue() == stageAxis && i != 0)
      return emitOpError("C1: axis \"pp\" is number ")
             << i << " of the mesh; the pipeline axis must come first, so that the ranks of a "
             << "stage are neighbours";
  return success();
}

LogicalResult ConstraintOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<Mesh> mesh = lookupMesh(*this, getMeshAttr(), symbols);
  if (failed(mesh))
    return failure();
  return checkSharding(*this, *mesh, getSharding(), getX().getType(), "the sharding");
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<Mesh> mesh = lookupMesh(*this, getMeshAttr(), symbols);
  if (failed(mesh) || failed(checkSharding(*this, *mesh, getFrom(), getX().getType(), "'from'")) ||
      failed(checkSharding(*this, *mesh, getTo(), getX().getType(), "'to'")))
    return failure();
  bool fresh = llvm::any_of(getTo().getPartial(), [&](StringAttr axis) {
    return !llvm::is_contained(getFrom().getPartial(), axis);
  });
  if (fresh && getTo().getCombiner() != Combiner::Sum)
    return emitOpError("C4: a whole value becomes a partial '")
           << stringifyCombiner(getTo().getCombiner())
           << "'; only sums have a neutral element to fill the other ranks with";
  return success();
}

LogicalResult AxisIndexOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return membersOf(*this, getMeshAttr(), getAxes(), symbols);
}

//===-- Collectives -------------------------------------------------------===//

void AllReduceOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!getChannel()) // all ranks run the same program: they drop or merge it together
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<Mesh> mesh = lookupMesh(*this, getMeshAttr(), symbols);
  if (failed(mesh) || failed(checkAxes(*this, *mesh, getAxes())))
    return failure();
  bool between = llvm::is_contained(toStrings(getAxes()), stageAxis.str());
  if (between != getChannel().has_value())
    return emitOpError("C3: ")
           << (between ? "it spans \"pp\" but has no channel; number the meeting equally in the "
                         "programs of all stages"
                       : "it has a channel but does not span \"pp\"; drop the channel");
  if (auto stages = getStages()) {
    int64_t count = mesh->axisSize(stageAxis.str());
    bool ordered = llvm::is_sorted(*stages) &&
                   std::adjacent_find(stages->begin(), stages->end()) == stages->end();
    if (!between || !ordered || stages->empty() || stages->front() < 0 || stages->back() >= count)
      return emitOpError("C3: 'stages' is [") << *stages << "]; it lists ascending stages of 0 to "
                                              << count - 1 << " and needs the axis \"pp\"";
  }
  return checkCombiner(*this, "C4", getCombiner(), getX().getType().getElementType());
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<int64_t> members = membersOf(*this, getMeshAttr(), getAxes(), symbols);
  RankedTensorType type = getX().getType();
  if (failed(members) || failed(checkDim(*this, getDim(), type, "dim")))
    return failure();
  return checkTypes(*this, getType(), grown(type, getDim(), *members), *members);
}

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<int64_t> members = membersOf(*this, getMeshAttr(), getAxes(), symbols);
  RankedTensorType type = getX().getType(), result = getType();
  if (failed(members) || failed(checkDim(*this, getDim(), type, "dim")))
    return failure();
  if (result.getRank() != type.getRank() || grown(result, getDim(), *members) != type)
    return emitOpError("C4: the operand is ")
           << type << ", the result " << result << "; with " << *members
           << " members the operand must be " << *members << " times as large in dimension "
           << getDim();
  return checkCombiner(*this, "C5", getCombiner(), type.getElementType());
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<int64_t> members = membersOf(*this, getMeshAttr(), getAxes(), symbols);
  RankedTensorType type = getX().getType();
  if (failed(members) || failed(checkDim(*this, getSplit(), type, "split")) ||
      failed(checkDim(*this, getConcat(), type, "concat")))
    return failure();
  if (type.getDimSize(getSplit()) % *members)
    return emitOpError("C4: dimension ") << getSplit() << " of size " << type.getDimSize(getSplit())
                                         << " does not divide among " << *members << " members";
  SmallVector<int64_t> shape(type.getShape());
  shape[getSplit()] /= *members;
  shape[getConcat()] *= *members;
  return checkTypes(*this, getType(), type.clone(shape), *members);
}

LogicalResult PermuteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return membersOf(*this, getMeshAttr(), getAxes(), symbols);
}

//===-- Between stages ----------------------------------------------------===//

static LogicalResult checkPeer(Operation *op, int64_t stage, int64_t channel) {
  if (stage < 0 || channel < 0)
    return op->emitOpError("C1: stage ")
           << stage << ", channel " << channel << "; neither may be negative";
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto own = function ? function->getAttrOfType<IntegerAttr>(stageAttr) : IntegerAttr();
  if (own && own.getInt() == stage)
    return op->emitOpError("C2: the peer is stage ")
           << stage << ", which is this function's own; use the value itself";
  return success();
}

LogicalResult SendOp::verify() { return checkPeer(*this, getStage(), getChannel()); }
LogicalResult RecvOp::verify() { return checkPeer(*this, getStage(), getChannel()); }
