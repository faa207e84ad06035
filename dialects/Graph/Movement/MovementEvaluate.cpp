//===- MovementEvaluate.cpp - movement on the CPU -------------------------===//
//
// Transpose, broadcast, slice, constant pad and concat are one strided copy:
//
//   slice [2,3] of rows 1, 0: offset 3, strides (-3, 1)
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Evaluate.h"
#include "dialects/Graph/Movement/PadIndex.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

LogicalResult ReshapeOp::evaluate(ArrayRef<HostTensor> operands,
                                  MutableArrayRef<HostTensor> results) {
  copyElements(operands[0], 0, results[0], 0, operands[0].numElements());
  return success();
}

LogicalResult TransposeOp::evaluate(ArrayRef<HostTensor> operands,
                                    MutableArrayRef<HostTensor> results) {
  std::vector<int64_t> from = HostTensor::stridesOf(operands[0].shape());
  SmallVector<int64_t> strides;
  for (int64_t p : getPermutation())
    strides.push_back(from[p]);
  copyStrided(operands[0], 0, strides, results[0], 0, HostTensor::stridesOf(results[0].shape()),
              results[0].shape());
  return success();
}

LogicalResult BroadcastOp::evaluate(ArrayRef<HostTensor> operands,
                                    MutableArrayRef<HostTensor> results) {
  std::vector<int64_t> from = HostTensor::stridesOf(operands[0].shape());
  SmallVector<int64_t> strides(getShape().size(), 0);
  for (auto [d, to] : llvm::enumerate(getDims()))
    strides[to] = operands[0].shape()[d] == 1 ? 0 : from[d];
  copyStrided(operands[0], 0, strides, results[0], 0, HostTensor::stridesOf(results[0].shape()),
              results[0].shape());
  return success();
}

LogicalResult SliceOp::evaluate(ArrayRef<HostTensor> operands,
                                MutableArrayRef<HostTensor> results) {
  const HostTensor &x = operands[0];
  std::vector<int64_t> strides = HostTensor::stridesOf(x.shape());
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    int64_t start = getStart()[d], size = getSizes()[d], step = getStrides()[d];
    if (operands.size() > 1 && size > 0) { // clamp so that the block stays inside
      int64_t reach = (size - 1) * step;
      int64_t least = std::max<int64_t>(0, -reach);
      int64_t most = x.shape()[d] - 1 - std::max<int64_t>(0, reach);
      start = std::clamp(start + operands[1 + d].getInt(0), least, most);
    }
    offset += start * strides[d];
    strides[d] *= step;
  }
  copyStrided(x, offset, strides, results[0], 0, HostTensor::stridesOf(results[0].shape()),
              results[0].shape());
  return success();
}

/// Pads one dimension after the other by copying slabs.
static HostTensor padAround(const HostTensor &x, PadKind mode, int64_t dim, int64_t low,
                            int64_t high) {
  std::vector<int64_t> shape = x.shape();
  int64_t size = shape[dim];
  shape[dim] += low + high;
  HostTensor y(x.dtype(), shape);
  Around a(shape, dim);
  for (int64_t o = 0; o < a.outer; ++o)
    for (int64_t j = 0; j < a.n; ++j)
      copyElements(x, (o * size + paddedIndex(mode, j - low, size)) * a.inner, y,
                   (o * a.n + j) * a.inner, a.inner);
  return y;
}

LogicalResult PadOp::evaluate(ArrayRef<HostTensor> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = operands[0];
  HostTensor &y = results[0];
  if (getMode() != PadKind::Constant) {
    HostTensor padded = x;
    for (size_t d = 0; d < x.shape().size(); ++d)
      if (getLow()[d] || getHigh()[d])
        padded = padAround(padded, getMode(), d, getLow()[d], getHigh()[d]);
    copyElements(padded, 0, y, 0, y.numElements());
    return success();
  }
  copyStrided(operands[1], 0, {0}, y, 0, {1}, {y.numElements()});
  std::vector<int64_t> strides = HostTensor::stridesOf(y.shape());
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    offset += getLow()[d] * strides[d];
    strides[d] *= getInterior()[d] + 1;
  }
  copyStrided(x, 0, HostTensor::stridesOf(x.shape()), y, offset, strides, x.shape());
  return success();
}

LogicalResult ConcatOp::evaluate(ArrayRef<HostTensor> operands,
                                 MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  std::vector<int64_t> strides = HostTensor::stridesOf(y.shape());
  int64_t at = 0, dim = getDim();
  for (const HostTensor &x : operands) {
    copyStrided(x, 0, HostTensor::stridesOf(x.shape()), y, at * strides[dim], strides, x.shape());
    at += x.shape()[dim];
  }
  return success();
}

LogicalResult GatherOp::evaluate(ArrayRef<HostTensor> operands,
                                 MutableArrayRef<HostTensor> results) {
  Around a(operands[0].shape(), getDim());
  int64_t count = operands[1].numElements();
  for (int64_t o = 0; o < a.outer; ++o)
    for (int64_t j = 0; j < count; ++j) {
      int64_t i = operands[1].getInt(j);
      i = std::clamp<int64_t>(i < 0 ? i + a.n : i, 0, a.n - 1);
      copyElements(operands[0], (o * a.n + i) * a.inner, results[0], (o * count + j) * a.inner,
                   a.inner);
    }
  return success();
}

/// Combines every slice of the updates into its place.
template <typename T, typename Combine>
static void scatterInto(std::vector<T> &y, const HostTensor &indices, const std::vector<T> &updates,
                        const Around &a, Combine combine) {
  int64_t count = indices.numElements();
  for (int64_t o = 0; o < a.outer; ++o)
    for (int64_t j = 0; j < count; ++j) {
      int64_t i = indices.getInt(j);
      i = i < 0 ? i + a.n : i;
      if (i < 0 || i >= a.n)
        continue; // out of range: dropped
      for (int64_t k = 0; k < a.inner; ++k) {
        T &to = y[(o * a.n + i) * a.inner + k];
        to = combine(to, updates[(o * count + j) * a.inner + k]);
      }
    }
}

LogicalResult ScatterOp::evaluate(ArrayRef<HostTensor> operands,
                                  MutableArrayRef<HostTensor> results) {
  Around a(operands[0].shape(), getDim());
  std::optional<ReductionKind> kind = getKind();
  if (isFloat(operands[0].dtype())) {
    std::vector<double> y = toDoubles(operands[0]);
    scatterInto(y, operands[1], toDoubles(operands[2]), a,
                [&](double p, double v) { return kind ? combineFloat(*kind, p, v) : v; });
    fromDoubles(y, results[0]);
    return success();
  }
  std::vector<int64_t> y = toInts(operands[0]);
  scatterInto(y, operands[1], toInts(operands[2]), a, [&](int64_t p, int64_t v) {
    return kind ? combineInt(*kind, operands[0].dtype(), p, v) : v;
  });
  fromInts(y, results[0]);
  return success();
}
