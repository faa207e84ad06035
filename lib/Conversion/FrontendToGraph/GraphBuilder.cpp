//===- GraphBuilder.cpp - builds graph ops, folding as it goes ------------===//
#include "lib/Conversion/FrontendToGraph/GraphBuilder.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// What is evaluated while converting: shape arithmetic and small tables, not weights.
static constexpr int64_t maxFoldedElements = 4096;
static constexpr int64_t maxFoldOperandElements = 1 << 16;
/// A table that is repeated stays small: its broadcast is evaluated only up to this size.
static constexpr int64_t maxRepeatedElements = 64;

RankedTensorType frontend_to_graph::typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
Dims frontend_to_graph::shapeOf(Value value) { return Dims(typeOf(value).getShape()); }
Type frontend_to_graph::elementOf(Value value) { return typeOf(value).getElementType(); }
int64_t frontend_to_graph::rankOf(Value value) { return typeOf(value).getRank(); }
bool frontend_to_graph::isFloat(Value value) { return isa<FloatType>(elementOf(value)); }
bool frontend_to_graph::isBool(Value value) { return elementOf(value).isInteger(1); }
int64_t frontend_to_graph::elementsOf(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

bool frontend_to_graph::tooLarge(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t d : shape)
    if (d < 0 || llvm::MulOverflow(count, std::max<int64_t>(d, 1), count) ||
        count > (int64_t(1) << 40))
      return true;
  return false;
}

void GraphBuilder::error(const Twine &text) {
  if (!broken)
    emitError(location) << text;
  broken = true;
}

SmallVector<Value> GraphBuilder::poison(unsigned results) {
  broken = true;
  return SmallVector<Value>(results, scalar(builder.getF32Type(), 0));
}

bool GraphBuilder::fits(ValueRange operands, ArrayRef<Type> results) {
  SmallVector<Type> types(operands.getTypes());
  llvm::append_range(types, results);
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tooLarge(tensor.getShape()))
      return error("a tensor would have more than 2^40 elements"), false;
    if (tensor && tensor.getRank() > maxRank)
      return error("a tensor would have " + Twine(tensor.getRank()) + " dimensions; at most " +
                   Twine(maxRank) + " are allowed"),
             false;
  }
  return true;
}

SmallVector<Value> GraphBuilder::finish(OperationState &state, ArrayRef<Type> types) {
  unsigned results = state.types.size();
  if (types.size() != results)
    return poison(results);
  if (!fits(state.operands, types))
    return poison(results);
  state.types.assign(types.begin(), types.end());
  Operation *op = builder.create(state);
  if (mlir::failed(op->getName().verifyInvariants(op))) {
    op->erase();
    return poison(results);
  }
  SmallVector<Value> values;
  if (tryFold(op, values)) {
    op->erase();
    return values;
  }
  return SmallVector<Value>(op->getResults());
}

bool GraphBuilder::tryFold(Operation *op, SmallVectorImpl<Value> &values) {
  auto evaluate = dyn_cast<EvaluateOpInterface>(op);
  if (!evaluate || isa<ConstantOp, WeightOp, RngUniformOp, DropoutOp>(op))
    return false;
  for (Type type : op->getResultTypes())
    if (cast<RankedTensorType>(type).getNumElements() > maxFoldedElements)
      return false;
  if (isa<BroadcastOp>(op) && typeOf(op->getResult(0)).getNumElements() > maxRepeatedElements)
    return false;
  for (Value operand : op->getOperands())
    if (typeOf(operand).getNumElements() > maxFoldOperandElements ||
        !operand.getDefiningOp<ConstantOp>())
      return false;
  SmallVector<HostTensor> operands, results;
  for (Value operand : op->getOperands()) {
    auto tensor = constantOf(operand);
    if (!tensor)
      return false;
    operands.push_back(*tensor);
  }
  for (Type type : op->getResultTypes()) {
    auto dtype = toDType(cast<RankedTensorType>(type).getElementType());
    if (!dtype)
      return false;
    results.emplace_back(*dtype, toShape(type));
  }
  if (mlir::failed(evaluate.evaluate(operands, results)))
    return false;
  for (const HostTensor &result : results)
    values.push_back(constant(result));
  return true;
}

Value GraphBuilder::constant(const HostTensor &value) {
  return ConstantOp::create(builder, location, toElementsAttr(builder.getContext(), value));
}

Value GraphBuilder::constantInts(ArrayRef<int64_t> values) {
  HostTensor tensor(DType::I64, {static_cast<int64_t>(values.size())});
  for (auto [i, v] : llvm::enumerate(values))
    tensor.setInt(i, v);
  return constant(tensor);
}

Value GraphBuilder::scalar(Type element, double value) {
  return splat(RankedTensorType::get({}, element), value);
}

/// Toward zero, to the nearest 64-bit integer where there is none.
static int64_t toInteger(double value) {
  if (!(value > -0x1p63))
    return std::isnan(value) ? 0 : INT64_MIN;
  return value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MAX;
}

Value GraphBuilder::splat(RankedTensorType type, double value) {
  auto dtype = toDType(type.getElementType());
  if (!dtype || tooLarge(type.getShape())) {
    error("a tensor would have more than 2^40 elements");
    return poison(1).front();
  }
  HostTensor one = gpucc::isFloat(*dtype) ? HostTensor::scalarFloat(*dtype, value)
                                          : HostTensor::scalarInt(*dtype, toInteger(value));
  ElementsAttr attr = toElementsAttr(builder.getContext(), one);
  if (auto dense = dyn_cast<DenseElementsAttr>(attr); dense && type.getNumElements() > 0)
    return ConstantOp::create(builder, location, dense.resizeSplat(type));
  return constant(HostTensor(*dtype, toShape(type)));
}

Value GraphBuilder::iota(ArrayRef<int64_t> shape, int64_t dim, Type element) {
  if (tooLarge(shape)) {
    error("a tensor would have more than 2^40 elements");
    return poison(1).front();
  }
  return create<IotaOp>(Value(), RankedTensorType::get(shape, element), dim);
}

std::optional<HostTensor> GraphBuilder::constantOf(Value value) {
  auto op = value ? value.getDefiningOp<ConstantOp>() : ConstantOp();
  return op ? toHostTensor(op.getValue()) : std::nullopt;
}

Value GraphBuilder::unary(UnaryKind kind, Value x) { return create<UnaryOp>(kind, x); }

Value GraphBuilder::binary(BinaryKind kind, Value lhs, Value rhs) {
  Value both[] = {lhs, rhs};
  if (!broadcastTogether(both))
    return poison(1).front();
  return create<BinaryOp>(kind, both[0], both[1]);
}

Value GraphBuilder::compare(CompareKind kind, Value lhs, Value rhs) {
  Value both[] = {lhs, rhs};
  if (!broadcastTogether(both))
    return poison(1).front();
  return create<CompareOp>(kind, both[0], both[1]);
}

Value GraphBuilder::select(Value condition, Value onTrue, Value onFalse) {
  Value all[] = {condition, onTrue, onFalse};
  if (!broadcastTogether(all))
    return poison(1).front();
  return create<SelectOp>(all[0], all[1], all[2]);
}

Value GraphBuilder::convert(Value x, Type element) {
  return elementOf(x) == element ? x : create<ConvertOp>(x, element);
}

Value GraphBuilder::reduce(ReductionKind kind, Value x, ArrayRef<int64_t> dims, bool keep) {
  Dims sorted(dims);
  llvm::sort(sorted);
  Dims shape = shapeOf(x);
  Value result = sorted.empty() ? x : create<ReduceOp>(kind, x, sorted);
  if (!keep || failed())
    return result;
  for (int64_t d : sorted)
    shape[d] = 1;
  return reshape(result, shape);
}

Value GraphBuilder::widenForSums(Value x) {
  Type type = elementOf(x);
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    return width < 32 ? convert(x, builder.getF32Type()) : x;
  return width < 64 && width > 1 ? convert(x, builder.getI64Type()) : x;
}

Value GraphBuilder::mean(Value x, ArrayRef<int64_t> dims, bool keep) {
  Value sum = reduce(ReductionKind::Sum, widenForSums(x), dims, keep);
  if (failed())
    return sum;
  double count = 1;
  for (int64_t d : dims)
    count *= typeOf(x).getDimSize(d);
  return convert(binary(BinaryKind::Div, sum, count), elementOf(x));
}
