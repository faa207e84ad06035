//===- ConstantExpressions.cpp - values that depend on no input -----------===//
#include "lib/Transforms/Graph/ConstantExpressions.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

std::optional<SmallVector<HostTensor>> graph_passes::evaluateOp(Operation *op,
                                                                ArrayRef<HostTensor> operands) {
  auto evaluate = dyn_cast<EvaluateOpInterface>(op);
  if (!evaluate || op->getNumRegions())
    return std::nullopt;
  SmallVector<HostTensor> results;
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto dtype = tensor ? toDType(tensor.getElementType()) : std::nullopt;
    if (!dtype)
      return std::nullopt;
    results.emplace_back(*dtype, toShape(tensor));
  }
  if (failed(evaluate.evaluate(operands, results)))
    return std::nullopt;
  return results;
}

namespace {
class Evaluation {
public:
  explicit Evaluation(int64_t maxElements) : maxElements(maxElements) {}

  std::optional<HostTensor> value(Value v, unsigned depth) {
    if (auto it = known.find(v); it != known.end())
      return it->second;
    std::optional<HostTensor> result = compute(v, depth);
    known[v] = result;
    return result;
  }

private:
  std::optional<HostTensor> compute(Value v, unsigned depth) {
    Operation *op = v.getDefiningOp();
    if (!op || depth > 200 || op->getNumResults() != 1 ||
        isa<WeightOp, RngUniformOp, DropoutOp>(op) ||
        cast<RankedTensorType>(v.getType()).getNumElements() > maxElements)
      return std::nullopt;
    if (auto constant = dyn_cast<ConstantOp>(op))
      return toHostTensor(constant.getValue());
    SmallVector<HostTensor> operands;
    for (Value operand : op->getOperands()) {
      auto tensor = value(operand, depth + 1);
      if (!tensor)
        return std::nullopt;
      operands.push_back(*tensor);
    }
    auto results = graph_passes::evaluateOp(op, operands);
    return results ? std::optional((*results)[0]) : std::nullopt;
  }

  int64_t maxElements;
  llvm::DenseMap<Value, std::optional<HostTensor>> known;
};
} // namespace

std::optional<HostTensor> graph_passes::evaluateExpression(Value value, int64_t maxElements) {
  return Evaluation(maxElements).value(value, 0);
}

std::optional<double> graph_passes::splatNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!dense || !dense.isSplat() || dense.getNumElements() == 0)
        return std::nullopt;
      auto one = RankedTensorType::get({}, dense.getElementType());
      auto tensor = toHostTensor(cast<ElementsAttr>(dense.resizeSplat(one)));
      return tensor ? std::optional(tensor->getFloat(0)) : std::nullopt;
    }
    if (!isa<BroadcastOp, ReshapeOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}
