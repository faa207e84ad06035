//===- InputLimits.cpp - below which numbers integer inputs lie -----------===//
#include "lib/Conversion/FrontendToGraph/InputLimits.h"

#include "dialects/Base/Base.h"
#include "dialects/Base/ModuleAttrs.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Support/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include <limits>

using namespace mlir;
using namespace gpucc;

/// One more than the greatest number of a constant or iota, also behind a reshape or broadcast; 0: not known.
static int64_t numbersOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_present<graph::ReshapeOp, graph::BroadcastOp, graph::ConvertOp>(op))
    op = op->getOperand(0).getDefiningOp();
  if (auto iota = dyn_cast_or_null<graph::IotaOp>(op))
    return cast<RankedTensorType>(iota.getType()).getDimSize(iota.getDim());
  auto constant = dyn_cast_or_null<graph::ConstantOp>(op);
  auto tensor = constant ? toHostTensor(constant.getValue()) : std::nullopt;
  if (!tensor || isFloat(tensor->dtype()))
    return 0;
  int64_t greatest = -1;
  for (int64_t i = 0; i < tensor->numElements(); ++i)
    greatest = std::max(greatest, tensor->getInt(i));
  bool says = tensor->numElements() > 2 && greatest < std::numeric_limits<int64_t>::max();
  return says ? greatest + 1 : 0; // `x == 0` and `x == pad` say little
}

/// What one use says; 0: nothing.
static int64_t limitOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto gather = dyn_cast<graph::GatherOp>(op); gather && use.get() == gather.getIndices())
    return cast<RankedTensorType>(gather.getData().getType()).getDimSize(gather.getDim());
  if (auto compare = dyn_cast<graph::CompareOp>(op); compare && compare.getKind() == graph::CompareKind::Eq)
    return numbersOf(use.getOperandNumber() == 0 ? compare.getRhs() : compare.getLhs());
  return 0;
}

/// The least that any reader of the input says.
static int64_t limitOf(BlockArgument input) {
  llvm::SmallSetVector<Value, 8> same; // the input's numbers in other shapes and types
  same.insert(input);
  int64_t limit = 0;
  for (size_t i = 0; i < same.size(); ++i)
    for (OpOperand &use : same[i].getUses()) {
      Operation *op = use.getOwner();
      // `select(x < 0, x + n, x)` counts from the end: of numbers that are not negative it gives them.
      if (isa<graph::ReshapeOp, graph::BroadcastOp, graph::TransposeOp, graph::SliceOp, graph::SelectOp>(op) ||
          (isa<graph::ConvertOp>(op) && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0)))))
        same.insert(op->getResult(0));
      if (int64_t said = limitOf(use); said > 0)
        limit = limit ? std::min(limit, said) : said;
    }
  return limit;
}

void frontend_to_graph::noteInputLimits(ModuleOp module) {
  Builder b(module.getContext());
  NamedAttrList limits;
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getBody().getArguments()) {
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), base::nameAttr);
      Type element = getElementTypeOrSelf(argument.getType());
      if (!name || !element.isInteger() || element.isInteger(1) || limits.get(name))
        continue;
      if (int64_t limit = limitOf(argument))
        limits.set(name, b.getI64IntegerAttr(limit));
    }
  if (!limits.empty())
    module->setAttr(base::inputLimitsAttr, limits.getDictionary(module.getContext()));
}
