//===- ContractionEvaluate.cpp - contractions on the CPU ------------------===//
//
// A contract becomes one matrix product per batch entry after both operands are
// permuted. A convolution becomes a matrix product per sample and group with
// the matrix of its windows:
//
//   windows[(c, k), o] = x[c, o * stride + k * dilation - low]    (0 outside)
//   y = filter · windows,  dx = windowsᵀ⁻(filterᵀ · g),  df = g · windowsᵀ
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Evaluate.h"
#include "dialects/Graph/Geometry.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

/// The tensor with its dimensions in the given order, contiguous.
static HostTensor permuted(const HostTensor &x, ArrayRef<int64_t> order) {
  std::vector<int64_t> from = HostTensor::stridesOf(x.shape()), shape;
  SmallVector<int64_t> strides;
  for (int64_t d : order) {
    shape.push_back(x.shape()[d]);
    strides.push_back(from[d]);
  }
  HostTensor y(x.dtype(), shape);
  copyStrided(x, 0, strides, y, 0, HostTensor::stridesOf(shape), shape);
  return y;
}

static SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  SmallVector<int64_t> all(a);
  llvm::append_range(all, b);
  llvm::append_range(all, c);
  return all;
}

template <typename T>
static std::vector<T> multiplyBatches(const std::vector<T> &a, const std::vector<T> &b,
                                      int64_t batch, int64_t m, int64_t n, int64_t k) {
  std::vector<T> c(batch * m * n);
  for (int64_t i = 0; i < batch; ++i)
    multiplyAdd(a.data() + i * m * k, b.data() + i * k * n, c.data() + i * m * n, m, n, k);
  return c;
}

LogicalResult ContractOp::evaluate(ArrayRef<HostTensor> operands,
                                   MutableArrayRef<HostTensor> results) {
  HostTensor a = permuted(operands[0], joined(getLhsBatch(), getLhsFree(), getLhsContract()));
  HostTensor b = permuted(operands[1], joined(getRhsBatch(), getRhsContract(), getRhsFree()));
  OpFacts f = getFacts();
  HostTensor &y = results[0];
  if (isFloat(a.dtype())) {
    fromDoubles(multiplyBatches(toDoubles(a), toDoubles(b), f.batch, f.m, f.n, f.k), y);
    return success();
  }
  std::vector<int64_t> c = multiplyBatches(toInts(a), toInts(b), f.batch, f.m, f.n, f.k);
  if (bitWidth(a.dtype()) <= 32) // accumulated in i32, which wraps
    for (int64_t &v : c)
      v = isUnsigned(a.dtype()) ? static_cast<int64_t>(static_cast<uint32_t>(v))
                                : static_cast<int64_t>(static_cast<int32_t>(v));
  fromInts(c, y);
  return success();
}

namespace {
/// One sample and group of a convolution and the matrix of its windows.
class Windows {
public:
  Windows(ArrayRef<int64_t> input, ArrayRef<int64_t> filter, ArrayRef<int64_t> output,
          const WindowGeometry &g, int64_t groups)
      : batch(input[0]), groups(groups), channels(input[1] / groups), outputs(filter[0] / groups),
        in(input.drop_front(2)), window(filter.drop_front(2)), out(output.drop_front(2)),
        geometry(g) {
    for (size_t d = 0; d < in.size(); ++d) {
      inSize *= in[d];
      windowSize *= window[d];
      outSize *= out[d];
    }
  }

  int64_t rows() const { return channels * windowSize; }
  /// First element of channel 0 of the group in the input (the result).
  int64_t inputAt(int64_t n, int64_t group) const {
    return (n * groups + group) * channels * inSize;
  }
  int64_t outputAt(int64_t n, int64_t group) const {
    return (n * groups + group) * outputs * outSize;
  }
  int64_t filterAt(int64_t group) const { return group * outputs * rows(); }

  /// Calls visit(matrix index, input index) for every element of the matrix that lies inside;
  /// `transposed` stores it as [positions, rows].
  template <typename Visit> void forEach(bool transposed, Visit visit) const {
    SmallVector<int64_t> k(in.size(), 0);
    for (int64_t row = 0; row < rows(); ++row) {
      unflatten(row % windowSize, window, k);
      int64_t channel = row / windowSize * inSize;
      SmallVector<int64_t> o(in.size(), 0);
      for (int64_t position = 0; position < outSize; ++position) {
        int64_t at = 0;
        bool inside = true;
        for (size_t d = 0; d < in.size(); ++d) {
          int64_t i = geometry.inputIndex(d, o[d], k[d]);
          inside &= i >= 0 && i < in[d];
          at = at * in[d] + i;
        }
        if (inside)
          visit(transposed ? position * rows() + row : row * outSize + position, channel + at);
        for (size_t d = in.size(); d-- > 0;) {
          if (++o[d] < out[d])
            break;
          o[d] = 0;
        }
      }
    }
  }

  int64_t batch, groups, channels, outputs, inSize = 1, windowSize = 1, outSize = 1;

private:
  static void unflatten(int64_t index, ArrayRef<int64_t> shape, MutableArrayRef<int64_t> out) {
    for (size_t d = shape.size(); d-- > 0; index /= shape[d])
      out[d] = index % shape[d];
  }
  ArrayRef<int64_t> in, window, out;
  WindowGeometry geometry;
};
} // namespace

template <typename Op> static WindowGeometry geometryOf(Op op) {
  return {op.getStrides(), op.getPadsLow(), op.getPadsHigh(), op.getDilations()};
}

static void convolve(ConvolutionOp op, const HostTensor &input, const HostTensor &filterTensor,
                     HostTensor &result) {
  Windows w(input.shape(), filterTensor.shape(), result.shape(), geometryOf(op), op.getGroups());
  std::vector<double> x = toDoubles(input), filter = toDoubles(filterTensor),
                      y(result.numElements());
  for (int64_t n = 0; n < w.batch; ++n)
    for (int64_t group = 0; group < w.groups; ++group) {
      std::vector<double> matrix(w.rows() * w.outSize);
      const double *from = x.data() + w.inputAt(n, group);
      w.forEach(false, [&](int64_t m, int64_t i) { matrix[m] = from[i]; });
      multiplyAdd(filter.data() + w.filterAt(group), matrix.data(), y.data() + w.outputAt(n, group),
                  w.outputs, w.outSize, w.rows());
    }
  fromDoubles(y, result);
}

/// The elements of `from` with dimension i from dimension permutation[i], in `to`.
static void permute(const HostTensor &from, ArrayRef<int64_t> permutation, HostTensor &to) {
  std::vector<int64_t> all = HostTensor::stridesOf(from.shape());
  SmallVector<int64_t> strides = llvm::map_to_vector(permutation, [&](int64_t d) { return all[d]; });
  copyStrided(from, 0, strides, to, 0, HostTensor::stridesOf(to.shape()), to.shape());
}

LogicalResult ConvolutionOp::evaluate(ArrayRef<HostTensor> operands,
                                      MutableArrayRef<HostTensor> results) {
  if (!getChannelsLast()) {
    convolve(*this, operands[0], operands[1], results[0]);
    return success();
  }
  auto first = [](const HostTensor &t) {
    SmallVector<int64_t> shape = channelsFirst(t.shape());
    return HostTensor(t.dtype(), std::vector<int64_t>(shape.begin(), shape.end()));
  };
  int64_t rank = operands[0].shape().size();
  HostTensor x = first(operands[0]), y = first(results[0]);
  permute(operands[0], channelsFirstPermutation(rank), x);
  convolve(*this, x, operands[1], y);
  permute(y, channelsLastPermutation(rank), results[0]);
  return success();
}

LogicalResult ConvolutionInputGradOp::evaluate(ArrayRef<HostTensor> operands,
                                               MutableArrayRef<HostTensor> results) {
  Windows w(results[0].shape(), operands[1].shape(), operands[0].shape(), geometryOf(*this),
            getGroups());
  std::vector<double> grad = toDoubles(operands[0]), filter = toDoubles(operands[1]),
                      dx(results[0].numElements());
  for (int64_t group = 0; group < w.groups; ++group) {
    std::vector<double> turned(w.rows() * w.outputs); // [rows, outputs]
    const double *f = filter.data() + w.filterAt(group);
    for (int64_t o = 0; o < w.outputs; ++o)
      for (int64_t r = 0; r < w.rows(); ++r)
        turned[r * w.outputs + o] = f[o * w.rows() + r];
    for (int64_t n = 0; n < w.batch; ++n) {
      std::vector<double> matrix(w.rows() * w.outSize);
      multiplyAdd(turned.data(), grad.data() + w.outputAt(n, group), matrix.data(), w.rows(),
                  w.outSize, w.outputs);
      double *to = dx.data() + w.inputAt(n, group);
      w.forEach(false, [&](int64_t m, int64_t i) { to[i] += matrix[m]; });
    }
  }
  fromDoubles(dx, results[0]);
  return success();
}

LogicalResult ConvolutionFilterGradOp::evaluate(ArrayRef<HostTensor> operands,
                                                MutableArrayRef<HostTensor> results) {
  Windows w(operands[0].shape(), results[0].shape(), operands[1].shape(), geometryOf(*this),
            getGroups());
  std::vector<double> x = toDoubles(operands[0]), grad = toDoubles(operands[1]),
                      df(results[0].numElements());
  for (int64_t n = 0; n < w.batch; ++n)
    for (int64_t group = 0; group < w.groups; ++group) {
      std::vector<double> matrix(w.rows() * w.outSize); // [positions, rows]
      const double *from = x.data() + w.inputAt(n, group);
      w.forEach(true, [&](int64_t m, int64_t i) { matrix[m] = from[i]; });
      multiplyAdd(grad.data() + w.outputAt(n, group), matrix.data(), df.data() + w.filterAt(group),
                  w.outputs, w.rows(), w.outSize);
    }
  fromDoubles(df, results[0]);
  return success();
}
