//===- WindowEvaluate.cpp - pooling on the CPU ----------------------------===//
//
// The indices inside a window are worked out once and used for every plane
// (sample and channel):
//
//   in 3, window 2, stride 2, low 1: windows {0} and {1, 2}
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Evaluate.h"
#include "dialects/Graph/Geometry.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

namespace {
/// The windows of one plane (sample and channel) of a pool.
class Pool {
public:
  template <typename Op> Pool(Op op, ArrayRef<int64_t> x, ArrayRef<int64_t> y) {
    in = x.drop_front(2);
    out = y.drop_front(2);
    window = op.getWindow();
    high = op.getPadsHigh();
    geometry = {op.getStrides(), op.getPadsLow(), op.getPadsHigh(), op.getDilations()};
    countsPadding = op.getCountIncludePad();
    planes = x[0] * x[1];
    for (size_t d = 0; d < in.size(); ++d) {
      inSize *= in[d];
      outSize *= out[d];
    }
  }

  /// Input indices of window `o` that lie inside, in row-major order; returns the divisor of an
  /// average.
  double elements(int64_t o, SmallVectorImpl<int64_t> &inside) const {
    SmallVector<int64_t> position(in.size());
    for (size_t d = in.size(); d-- > 0; o /= out[d])
      position[d] = o % out[d];
    inside.assign({0});
    double counted = 1;
    for (size_t d = 0; d < in.size(); ++d) {
      SmallVector<int64_t> next;
      SmallVector<int64_t> indices;
      int64_t padded = 0;
      for (int64_t k = 0; k < window[d]; ++k) {
        int64_t i = geometry.inputIndex(d, position[d], k);
        if (i >= 0 && i < in[d])
          indices.push_back(i);
        padded += i < in[d] + high[d]; // extra_high never counts
      }
      counted *= static_cast<double>(countsPadding ? padded : indices.size());
      for (int64_t base : inside)
        for (int64_t i : indices)
          next.push_back(base * in[d] + i);
      inside.assign(next.begin(), next.end());
    }
    return counted;
  }

  /// The first greatest element (first NaN if there is one); -1 of nothing.
  static int64_t greatest(ArrayRef<int64_t> inside, const double *x) {
    int64_t best = -1;
    for (int64_t i : inside) {
      if (std::isnan(x[i]))
        return i;
      if (best < 0 || x[i] > x[best])
        best = i;
    }
    return best;
  }

  int64_t planes, inSize = 1, outSize = 1;

private:
  ArrayRef<int64_t> in, out, window, high;
  WindowGeometry geometry;
  bool countsPadding;
};
} // namespace

LogicalResult PoolOp::evaluate(ArrayRef<HostTensor> operands, MutableArrayRef<HostTensor> results) {
  Pool pool(*this, operands[0].shape(), results[0].shape());
  std::vector<double> x = toDoubles(operands[0]), y(results[0].numElements());
  SmallVector<int64_t> inside;
  for (int64_t o = 0; o < pool.outSize; ++o) {
    double counted = pool.elements(o, inside);
    for (int64_t p = 0; p < pool.planes; ++p) {
      const double *plane = x.data() + p * pool.inSize;
      double &result = y[p * pool.outSize + o];
      if (getKind() == PoolKind::Max) {
        int64_t best = Pool::greatest(inside, plane);
        result = best < 0 ? -HUGE_VAL : plane[best];
      } else {
        for (int64_t i : inside)
          result += plane[i];
        result = counted == 0 ? 0 : result / counted;
      }
    }
  }
  fromDoubles(y, results[0]);
  return success();
}

LogicalResult PoolGradOp::evaluate(ArrayRef<HostTensor> operands,
                                   MutableArrayRef<HostTensor> results) {
  Pool pool(*this, operands[0].shape(), operands[1].shape());
  std::vector<double> x = toDoubles(operands[0]), grad = toDoubles(operands[1]), dx(x.size());
  SmallVector<int64_t> inside;
  for (int64_t o = 0; o < pool.outSize; ++o) {
    double counted = pool.elements(o, inside);
    for (int64_t p = 0; p < pool.planes; ++p) {
      double *plane = dx.data() + p * pool.inSize, g = grad[p * pool.outSize + o];
      if (getKind() == PoolKind::Max) {
        int64_t best = Pool::greatest(inside, x.data() + p * pool.inSize);
        if (best >= 0)
          plane[best] += g;
      } else {
        for (int64_t i : inside)
          plane[i] += g / counted;
      }
    }
  }
  fromDoubles(dx, results[0]);
  return success();
}
