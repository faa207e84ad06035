//===- DistCollectives.cpp - what each member of a group gets -------------===//
//
// Plainly, on host tensors: the meaning that evaluators, communicators and
// tests are held to. Floats are combined in double in the order of the members
// and rounded once.
//
//===----------------------------------------------------------------------===//
#include "dialects/Dist/Dist.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::dist;

//===-- Blocks ------------------------------------------------------------===//

namespace {
/// A tensor seen as [outer, size, inner] around one dimension.
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;
  Lines(const std::vector<int64_t> &shape, int64_t dim) : size(shape[dim]) {
    for (int64_t d = 0; d < dim; ++d)
      outer *= shape[d];
    for (size_t d = dim + 1; d < shape.size(); ++d)
      inner *= shape[d];
  }
  int64_t at(int64_t o, int64_t i, int64_t k) const { return (o * size + i) * inner + k; }
};
} // namespace

static void copyElement(const HostTensor &from, int64_t i, HostTensor &to, int64_t j) {
  if (isFloat(from.dtype()))
    to.setFloat(j, from.getFloat(i));
  else
    to.setInt(j, from.getInt(i));
}

/// Copies `count` indices of dimension `dim` from `source`, starting at `begin`, to `target` at
/// `place`.
static void copyBlock(const HostTensor &source, int64_t begin, HostTensor &target, int64_t place,
                      int64_t count, int64_t dim) {
  Lines from(source.shape(), dim), to(target.shape(), dim);
  for (int64_t o = 0; o < from.outer; ++o)
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < from.inner; ++k)
        copyElement(source, from.at(o, begin + i, k), target, to.at(o, place + i, k));
}

//===-- Combining ---------------------------------------------------------===//

static double combineFloat(Combiner combiner, double a, double b) {
  switch (combiner) {
  case Combiner::Prod:
    return a * b;
  case Combiner::Max:
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  case Combiner::Min:
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
  default:
    return a + b;
  }
}

static int64_t combineInt(Combiner combiner, bool isUnsignedType, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  bool less = isUnsignedType ? ua < ub : a < b;
  switch (combiner) {
  case Combiner::Sum:
    return static_cast<int64_t>(ua + ub);
  case Combiner::Prod:
    return static_cast<int64_t>(ua * ub);
  case Combiner::Max:
    return less ? b : a;
  case Combiner::Min:
    return less ? a : b;
  case Combiner::And:
    return a & b;
  case Combiner::Or:
    return a | b;
  }
  return 0;
}

static HostTensor combineAll(Combiner combiner, ArrayRef<HostTensor> inputs) {
  HostTensor out(inputs[0].dtype(), inputs[0].shape());
  for (int64_t i = 0; i < out.numElements(); ++i) {
    if (isFloat(out.dtype())) {
      double value = inputs[0].getFloat(i);
      for (const HostTensor &input : inputs.drop_front())
        value = combineFloat(combiner, value, input.getFloat(i));
      out.setFloat(i, value);
    } else {
      int64_t value = inputs[0].getInt(i);
      for (const HostTensor &input : inputs.drop_front())
        value = combineInt(combiner, isUnsigned(out.dtype()), value, input.getInt(i));
      out.setInt(i, value);
    }
  }
  return out;
}

void AllReduceOp::evaluateGroup(ArrayRef<HostTensor> inputs, MutableArrayRef<HostTensor> outputs) {
  HostTensor all = combineAll(getCombiner(), inputs);
  for (HostTensor &out : outputs)
    out = all.clone();
}

void AllGatherOp::evaluateGroup(ArrayRef<HostTensor> inputs, MutableArrayRef<HostTensor> outputs) {
  int64_t dim = getDim(), block = inputs[0].shape()[dim];
  for (HostTensor &out : outputs)
    for (auto [i, input] : llvm::enumerate(inputs))
      copyBlock(input, 0, out, static_cast<int64_t>(i) * block, block, dim);
}

void ReduceScatterOp::evaluateGroup(ArrayRef<HostTensor> inputs,
                                    MutableArrayRef<HostTensor> outputs) {
  HostTensor all = combineAll(getCombiner(), inputs);
  int64_t dim = getDim(), block = outputs[0].shape()[dim];
  for (auto [i, out] : llvm::enumerate(outputs))
    copyBlock(all, static_cast<int64_t>(i) * block, out, 0, block, dim);
}

void AllToAllOp::evaluateGroup(ArrayRef<HostTensor> inputs, MutableArrayRef<HostTensor> outputs) {
  auto members = static_cast<int64_t>(inputs.size());
  std::vector<int64_t> shape = inputs[0].shape();
  shape[getSplit()] /= members;
  int64_t block = shape[getSplit()], width = shape[getConcat()];
  for (auto [to, out] : llvm::enumerate(outputs))
    for (auto [from, input] : llvm::enumerate(inputs)) {
      HostTensor piece(input.dtype(), shape);
      copyBlock(input, static_cast<int64_t>(to) * block, piece, 0, block, getSplit());
      copyBlock(piece, 0, out, static_cast<int64_t>(from) * width, width, getConcat());
    }
}

void PermuteOp::evaluateGroup(ArrayRef<HostTensor> inputs, MutableArrayRef<HostTensor> outputs) {
  auto members = static_cast<int64_t>(inputs.size());
  int64_t shift = ((static_cast<int64_t>(getShift()) % members) + members) % members;
  for (int64_t i = 0; i < members; ++i)
    outputs[i] = inputs[(i + members - shift) % members].clone();
}

//===-- Facts -------------------------------------------------------------===//

static double bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto dtype = toDType(tensor.getElementType());
  return dtype ? static_cast<double>(byteSize(*dtype, tensor.getNumElements())) : 0;
}

static double share(int64_t members) {
  return static_cast<double>(members - 1) / static_cast<double>(members);
}

double AllReduceOp::getSentBytes(int64_t members) {
  return 2 * bytesOf(getType()) * share(members);
}
double AllGatherOp::getSentBytes(int64_t members) { return bytesOf(getType()) * share(members); }
double ReduceScatterOp::getSentBytes(int64_t members) {
  return bytesOf(getX().getType()) * share(members);
}
double AllToAllOp::getSentBytes(int64_t members) { return bytesOf(getType()) * share(members); }
double PermuteOp::getSentBytes(int64_t) { return bytesOf(getType()); }

static OpFacts memoryFacts(Operation *op) {
  OpFacts facts;
  facts.bytesRead = bytesOf(op->getOperand(0).getType());
  facts.bytesWritten = bytesOf(op->getResult(0).getType());
  return facts;
}
OpFacts AllReduceOp::getFacts() { return memoryFacts(*this); }
OpFacts AllGatherOp::getFacts() { return memoryFacts(*this); }
OpFacts ReduceScatterOp::getFacts() { return memoryFacts(*this); }
OpFacts AllToAllOp::getFacts() { return memoryFacts(*this); }
OpFacts PermuteOp::getFacts() { return memoryFacts(*this); }
