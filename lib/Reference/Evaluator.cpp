//===- Evaluator.cpp - runs a function of graph ops on the CPU ------------===//
#include "gpucc/Reference/Evaluator.h"
#include "dialects/Base/Base.h"
#include "dialects/Base/VaryingAttrs.h"
#include "dialects/Graph/Evaluate.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace gpucc;

FailureOr<HostTensor> FileWeights::read(graph::WeightDataOp data) const {
  auto module = data->getParentOfType<ModuleOp>();
  auto names = module->getAttrOfType<ArrayAttr>(graph::filesAttr);
  auto name = cast<StringAttr>(names[data.getFile()]);
  auto type = cast<RankedTensorType>(data.getType());
  std::string error;
  std::optional<HostTensor> tensor = files.get(
      name.str(), data.getOffset(), *toDType(type.getElementType()), toShape(type), error);
  if (!tensor)
    return data.emitOpError("cannot be read: ") << error;
  return *tensor;
}

FailureOr<HostTensor> MapWeights::read(graph::WeightDataOp data) const {
  auto found = tensors.find(data.getSymName().str());
  if (found == tensors.end())
    return data.emitOpError("has no value in the map of weights given to the evaluator");
  return found->second;
}

/// The block of a stored weight that the op names.
static FailureOr<HostTensor> readWeight(graph::WeightOp op, const WeightSource &weights) {
  auto data = SymbolTable::lookupNearestSymbolFrom<graph::WeightDataOp>(op, op.getKeyAttr());
  if (!data)
    return op.emitOpError("names no graph.weight_data");
  FailureOr<HostTensor> whole = weights.read(data);
  auto type = cast<RankedTensorType>(op.getType());
  if (failed(whole) || type == data.getType())
    return whole;
  HostTensor block(whole->dtype(), toShape(type));
  std::vector<int64_t> strides = HostTensor::stridesOf(whole->shape());
  int64_t offset = 0;
  if (!op.getStart().empty())
    for (auto [start, stride] : llvm::zip(op.getStart(), strides))
      offset += start * stride;
  graph::copyStrided(*whole, offset, strides, block, 0, HostTensor::stridesOf(block.shape()),
                     block.shape());
  DType wanted = *toDType(type.getElementType());
  if (wanted == block.dtype())
    return block;
  HostTensor rounded(wanted, block.shape());
  graph::fromDoubles(graph::toDoubles(block), rounded);
  return rounded;
}

FailureOr<SmallVector<HostTensor>> gpucc::evaluateOp(Operation *op, ArrayRef<HostTensor> operands,
                                                     const WeightSource &weights) {
  if (auto weight = dyn_cast<graph::WeightOp>(op)) {
    FailureOr<HostTensor> block = readWeight(weight, weights);
    if (failed(block))
      return failure();
    return SmallVector<HostTensor>{*block};
  }
  auto evaluable = dyn_cast<EvaluateOpInterface>(op);
  if (!evaluable) {
    InFlightDiagnostic d = op->emitOpError("cannot be evaluated");
    d.attachNote(op->getLoc()) << "the evaluator runs functions of graph ops, as they are before "
                                  "partition and outlining";
    return d;
  }
  SmallVector<HostTensor> results;
  for (Type type : op->getResultTypes())
    results.emplace_back(*toDType(cast<RankedTensorType>(type).getElementType()), toShape(type));
  if (failed(evaluable.evaluate(operands, results)))
    return failure();
  return results;
}

/// Checks that the arguments have the function's types.
static LogicalResult checkArguments(func::FuncOp function, ArrayRef<HostTensor> arguments) {
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError("takes ")
           << function.getNumArguments() << " arguments, " << arguments.size() << " were given";
  for (auto [i, tensor] : llvm::enumerate(arguments)) {
    Type given = toTensorType(function.getContext(), tensor.dtype(), tensor.shape());
    if (given != function.getArgumentTypes()[i])
      return function.emitOpError("takes ") << function.getArgumentTypes()[i] << " as argument "
                                            << i << ", " << given << " was given";
  }
  return success();
}

FailureOr<SmallVector<HostTensor>> gpucc::evaluateFunction(func::FuncOp function,
                                                           ArrayRef<HostTensor> arguments,
                                                           const WeightSource &weights, Tap tap) {
  if (failed(checkArguments(function, arguments)))
    return failure();
  Block &body = function.getBody().front();
  DenseMap<Value, HostTensor> values;
  DenseMap<Value, unsigned> uses; // not yet made
  auto define = [&](Value value, const HostTensor &tensor) {
    if (unsigned count = std::distance(value.use_begin(), value.use_end())) {
      values[value] = tensor;
      uses[value] = count;
    }
  };
  for (auto [argument, tensor] : llvm::zip_equal(body.getArguments(), arguments))
    define(argument, tensor);
  for (Operation &op : body) {
    SmallVector<HostTensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    for (Value operand : op.getOperands())
      if (--uses[operand] == 0)
        values.erase(operand);
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    FailureOr<SmallVector<HostTensor>> results = evaluateOp(&op, operands, weights);
    if (failed(results))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      define(value, tensor);
    if (tap)
      tap(&op, *results);
  }
  return function.emitOpError("has no terminator");
}

LogicalResult gpucc::cutToSize(func::FuncOp function, MutableArrayRef<HostTensor> results) {
  for (unsigned i = 0; i < results.size(); ++i) {
    auto dim = function.getResultAttrOfType<IntegerAttr>(i, base::varyingDimAttr);
    auto count = function.getResultAttrOfType<StringAttr>(i, base::countAttr);
    if (!dim || !count)
      continue;
    std::vector<int64_t> shape = results[i].shape();
    int64_t &size = shape[static_cast<size_t>(dim.getInt())], bound = size;
    for (unsigned c = 0; c < results.size(); ++c)
      if (function.getResultAttrOfType<StringAttr>(c, base::nameAttr) == count)
        size = results[c].getInt(0);
    if (size < 0 || size > bound)
      return function.emitOpError() << "result " << i << " has " << size
                                    << " entries along dimension " << dim.getInt()
                                    << "; allowed are 0 to " << bound;
    HostTensor real(results[i].dtype(), shape);
    graph::copyStrided(results[i], 0, HostTensor::stridesOf(results[i].shape()), real, 0,
                       HostTensor::stridesOf(shape), shape);
    results[i] = real;
  }
  return success();
}
