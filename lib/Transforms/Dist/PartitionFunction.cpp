//===- PartitionFunction.cpp - global program to the program of a rank ----===//
//
//   @main(%x: tensor<8x16xf32> [{dp},{}], %w: tensor<16x4xf32> [{},{}])
//     %0 = contract %x, %w : ... -> tensor<8x4xf32>    [{dp},{}]
//     %1 = reshard %0 to [{},{}]
//   becomes, dp = 2,
//   @main(%x: tensor<4x16xf32>, %w: tensor<16x4xf32>)
//     %0 = contract %x, %w : ... -> tensor<4x4xf32>
//     %1 = dist.all_gather %0 over dp dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Dist/Partition.h"

#include "LowerReshard.h"
#include "dialects/Base/Base.h"
#include "gpucc/Transforms/Dist/FunctionSharding.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace gpucc;

namespace {
class Partitioner {
public:
  Partitioner(func::FuncOp function, dist::MeshOp mesh, const PartitionSettings &options)
      : global(function), mesh(mesh.getMesh().toMesh()), lowering(mesh), options(options),
        builder(function.getContext()) {}

  FailureOr<func::FuncOp> run();

private:
  func::FuncOp global, local;
  Mesh mesh;
  ReshardLowering lowering;
  const PartitionSettings &options;
  OpBuilder builder;
  IRMapping mapping;

  RankedTensorType localType(Type type, const Sharding &sharding) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.clone(sharding.localShape(mesh, toShape(tensor)));
  }
  void makeSignature();
  void build(Operation &op);
  SmallVector<Value> buildLocal(Operation &op);
  void copyAttributes(Operation &from, Operation *firstMade);
};
} // namespace

/// The function with local argument and result types, and their attributes.
void Partitioner::makeSignature() {
  SmallVector<Type> inputs, outputs;
  for (BlockArgument argument : global.getArguments())
    inputs.push_back(localType(argument.getType(), *dist::getSharding(argument)));
  for (auto [i, type] : llvm::enumerate(global.getResultTypes())) {
    auto attr = global.getResultAttrOfType<dist::ShardingAttr>(i, dist::shardingAttr);
    outputs.push_back(localType(type, attr.toSharding()));
  }
  builder.setInsertionPoint(global);
  local = func::FuncOp::create(builder, global.getLoc(), global.getName(),
                               builder.getFunctionType(inputs, outputs));
  for (NamedAttribute attr : global->getAttrs())
    if (attr.getName() != global.getFunctionTypeAttrName() &&
        attr.getName() != SymbolTable::getSymbolAttrName())
      local->setAttr(attr.getName(), attr.getValue());
  Block *entry = local.addEntryBlock();
  for (auto [from, to] : llvm::zip_equal(global.getArguments(), entry->getArguments())) {
    to.setLoc(from.getLoc());
    mapping.map(from, to);
  }
  builder.setInsertionPointToStart(entry);
}

/// Direction and stage go to every op made; what identifies the op only to the one that makes its
/// results.
void Partitioner::copyAttributes(Operation &from, Operation *firstMade) {
  for (Operation *made = firstMade; made; made = made->getNextNode())
    for (StringRef name : {StringRef(base::backwardAttr), StringRef(dist::stageAttr)})
      if (Attribute attr = from.getAttr(name))
        made->setAttr(name, attr);
      else
        made->removeAttr(name);
}

SmallVector<Value> Partitioner::buildLocal(Operation &op) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(mapping.lookup(operand));
  SmallVector<Type> types;
  SmallVector<Value> offsets;
  for (Value result : op.getResults()) {
    Sharding sharding = *dist::getSharding(result);
    types.push_back(localType(result.getType(), sharding));
    auto shape = cast<RankedTensorType>(result.getType()).getShape();
    if (result == op.getResult(0))
      for (size_t d = 0; d < shape.size(); ++d)
        offsets.push_back(lowering.offset(builder, op.getLoc(), sharding, shape, d));
  }
  if (auto rules = dyn_cast<ShardingRuleOpInterface>(op))
    return rules.buildLocal(builder, operands, types, offsets);
  return cloneWithTypes(builder, &op, operands, types);
}

void Partitioner::build(Operation &op) {
  Block *block = builder.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    builder.clone(op, mapping);
    return;
  }
  SmallVector<Value> results;
  if (auto reshard = dyn_cast<dist::ReshardOp>(op)) {
    results.push_back(lowering.lower(builder, op.getLoc(), mapping.lookup(reshard.getX()),
                                     reshard.getX().getType().getShape(),
                                     reshard.getFrom().toSharding(), reshard.getTo().toSharding()));
  } else {
    results = buildLocal(op);
  }
  copyAttributes(op, before ? before->getNextNode() : block->empty() ? nullptr : &block->front());
  for (auto [from, to] : llvm::zip_equal(op.getResults(), results)) {
    mapping.map(from, to);
    Operation *made = to.getDefiningOp();
    if (!made || made == before || isa<dist::ReshardOp>(op))
      continue;
    made->removeAttr(dist::shardingAttr);
    made->removeAttr(dist::originAttr);
    if (options.keepShardings && op.hasAttr(dist::originAttr) &&
        made->getNumResults() == op.getNumResults()) {
      made->setAttr(dist::shardingAttr, op.getAttr(dist::shardingAttr));
      made->setAttr(dist::originAttr, op.getAttr(dist::originAttr));
    }
  }
}

FailureOr<func::FuncOp> Partitioner::run() {
  for (BlockArgument argument : global.getArguments())
    if (!dist::getSharding(argument)) {
      InFlightDiagnostic error = global.emitError("argument ")
                                 << argument.getArgNumber() << " has no sharding";
      error.attachNote() << "run gpucc-propagate before gpucc-partition";
      return error;
    }
  if (failed(verifyShardings(global, mesh)))
    return failure();
  makeSignature();
  for (Operation &op : global.getBody().front())
    build(op);
  Block &body = local.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (isa<dist::AxisIndexOp>(op) && op.use_empty()) {
      op.erase();
      continue;
    }
    // A whole weight that is cut on each rank stands before what the loop above looked at.
    if (!op.hasAttr(dist::originAttr))
      op.removeAttr(dist::shardingAttr);
  }
  global.erase();
  return local;
}

FailureOr<func::FuncOp> gpucc::partitionFunction(func::FuncOp function, dist::MeshOp mesh,
                                                 const PartitionSettings &options) {
  return Partitioner(function, mesh, options).run();
}

void gpucc::numberOps(func::FuncOp function) {
  Builder builder(function.getContext());
  int64_t next = 0;
  for (Operation &op : function.getBody().front().without_terminator())
    op.setAttr(dist::originAttr, builder.getI64IntegerAttr(next++));
}
