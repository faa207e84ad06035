//===- Dist.cpp - registration, attributes on arguments and ops -----------===//
#include "dialects/Dist/Dist.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::dist;

#include "dialects/Dist/DistDialect.cpp.inc"
#include "dialects/Dist/DistEnums.cpp.inc"
#include "dialects/Dist/DistInterfaces.cpp.inc"

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/DistOps.cpp.inc"
      >();
}

std::vector<std::string> dist::toStrings(ArrayAttr strings) {
  std::vector<std::string> out;
  for (Attribute s : strings)
    out.push_back(cast<StringAttr>(s).str());
  return out;
}

ArrayAttr dist::toAttr(MLIRContext *context, ArrayRef<std::string> strings) {
  SmallVector<Attribute> out;
  for (const std::string &s : strings)
    out.push_back(StringAttr::get(context, s));
  return ArrayAttr::get(context, out);
}

MeshOp dist::getMesh(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

//===-- dist.sharding -----------------------------------------------------===//

/// The function whose entry block has `argument`; null for blocks inside ops.
static FunctionOpInterface functionOf(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() ? function : nullptr;
}

std::optional<Sharding> dist::getSharding(Value value) {
  ShardingAttr attr;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function = functionOf(argument))
      attr = function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), shardingAttr);
  } else if (auto list = value.getDefiningOp()->getAttrOfType<ArrayAttr>(shardingAttr)) {
    attr = cast<ShardingAttr>(list[cast<OpResult>(value).getResultNumber()]);
  }
  return attr ? std::optional(attr.toSharding()) : std::nullopt;
}

void dist::setSharding(Value value, const Sharding &sharding) {
  MLIRContext *context = value.getContext();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function = functionOf(argument))
      function.setArgAttr(argument.getArgNumber(), shardingAttr,
                          ShardingAttr::get(context, sharding));
    return;
  }
  Operation *op = value.getDefiningOp();
  SmallVector<Attribute> list;
  if (auto old = op->getAttrOfType<ArrayAttr>(shardingAttr))
    list.assign(old.begin(), old.end());
  else
    for (Type type : op->getResultTypes())
      list.push_back(
          ShardingAttr::get(context, Sharding::replicated(cast<RankedTensorType>(type).getRank())));
  list[cast<OpResult>(value).getResultNumber()] = ShardingAttr::get(context, sharding);
  op->setAttr(shardingAttr, ArrayAttr::get(context, list));
}

//===-- Discardable attributes --------------------------------------------===//

/// A sharding on a value: right kind of attribute and as many dimensions as the tensor.
static LogicalResult verifySharding(Operation *op, Attribute attr, Type type, const Twine &where) {
  auto sharding = dyn_cast<ShardingAttr>(attr);
  if (!sharding)
    return op->emitOpError() << "'" << shardingAttr << "' on " << where << " is " << attr
                             << "; expected a #dist.sharding";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitOpError() << "'" << shardingAttr << "' on " << where << " of type " << type
                             << "; only ranked tensors lie on a mesh";
  if (static_cast<int64_t>(sharding.getDims().size()) != tensor.getRank())
    return op->emitOpError() << "'" << shardingAttr << "' on " << where << " has "
                             << sharding.getDims().size() << " dimensions, the tensor has "
                             << tensor.getRank() << "; give one list of axes per dimension";
  return success();
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == shardingAttr) {
    auto list = dyn_cast<ArrayAttr>(attr.getValue());
    if (!list || list.size() != op->getNumResults())
      return op->emitOpError() << "'" << shardingAttr << "' is " << attr.getValue()
                               << "; expected an array with one #dist.sharding per result ("
                               << op->getNumResults() << ")";
    for (auto [i, entry] : llvm::enumerate(list))
      if (failed(verifySharding(op, entry, op->getResult(i).getType(), "result " + Twine(i))))
        return failure();
    return success();
  }
  if (name == stageAttr || name == originAttr) {
    auto number = dyn_cast<IntegerAttr>(attr.getValue());
    if (!number || number.getInt() < 0)
      return op->emitOpError() << "'" << name << "' is " << attr.getValue()
                               << "; expected a number that is not negative";
  }
  if (name == asyncAttr && !isa<UnitAttr>(attr.getValue()))
    return op->emitOpError() << "'" << asyncAttr << "' is a unit attribute; write it alone";
  if (name == scriptsAttr) {
    auto stages = dyn_cast<ArrayAttr>(attr.getValue());
    bool fine =
        stages && llvm::all_of(stages, [](Attribute stage) {
          auto steps = dyn_cast<ArrayAttr>(stage);
          return steps && llvm::all_of(steps, [](Attribute a) { return isa<ActionAttr>(a); });
        });
    if (!fine)
      return op->emitOpError() << "'" << scriptsAttr
                               << "' must be an array, per stage, of arrays of #dist.action";
  }
  if (name == slotsAttr) {
    auto counts = dyn_cast<ArrayAttr>(attr.getValue());
    bool fine = counts && llvm::all_of(counts, [](Attribute count) {
                  auto number = dyn_cast<IntegerAttr>(count);
                  return number && number.getInt() >= 1;
                });
    if (!fine)
      return op->emitOpError() << "'" << slotsAttr
                               << "' must be an array, per stage, of numbers of at least 1";
  }
  return success();
}

static LogicalResult verifyOnValue(Operation *op, NamedAttribute attr, Type type,
                                   const Twine &where) {
  StringRef name = attr.getName();
  if (name == shardingAttr)
    return verifySharding(op, attr.getValue(), type, where);
  if (name == savedAttr) {
    if (!isa<IntegerAttr>(attr.getValue()))
      return op->emitOpError() << "'" << savedAttr << "' on " << where << " is " << attr.getValue()
                               << "; expected the number of the saved value";
    return success();
  }
  return op->emitOpError() << "'" << name << "' may not stand on " << where
                           << "; allowed are dist.sharding and dist.saved";
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function ? function.getArgumentTypes()[index] : Type();
  return verifyOnValue(op, attr, type, "argument " + Twine(index));
}

LogicalResult DistDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function ? function.getResultTypes()[index] : Type();
  return verifyOnValue(op, attr, type, "result " + Twine(index));
}
