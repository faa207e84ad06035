//===- HostReferenceCall.cpp - Library calls as plain loops
//-------------------------------------===//
//
// Used where oneDNN is absent or lacks the element types, with a warning. Correct and slow: every
// element is read through its strides and computed in f64, one output element per iteration, so
// that results do not depend on the number of threads.
//
//   matmul:  C[b.., m, n] = post(sum_k A[b.., m, k] * B[b.., k, n] + bias[n])
//
//===--------------------------------------------------------------------------------------------===//
#include "drivers/HostProgram.h"
#include "drivers/ParallelFor.h"
#include "plan/Slices.h"

#include <algorithm>
#include <cmath>

#if GPUCC_RT_HAS_ONEDNN
#include "drivers/HostDnn.h"
#endif

using namespace gpucc::rt;

namespace {
using Kind = plan::LibraryKind;

struct Tensor {
  Place place;
  DType dtype = DType::f32;
  Extents shape, strides;
  char *data = nullptr; ///< of the current run

  explicit Tensor(const AddressTable &addresses, const plan::Operand &operand)
      : place(addresses, *operand.view()), dtype(operand.dtype()), shape(toExtents(operand.dims())),
        strides(operand.strides() && operand.strides()->size() ? toExtents(operand.strides())
                                                               : rowMajorStrides(shape)) {}
  double load(int64_t offset) const {
    double value = 0;
    castElements(dtype, data + offset * (dtypeBits(dtype) / 8), DType::f64, &value, 1);
    return value;
  }
  void store(int64_t offset, double value) const {
    castElements(DType::f64, &value, dtype, data + offset * (dtypeBits(dtype) / 8), 1);
  }
  /// Offset of a point of the result, dimensions of extent 1 broadcast.
  int64_t offsetOf(const Extents &index) const {
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      offset += shape[d] == 1 ? 0 : index[d] * strides[d];
    return offset;
  }
};

class ReferenceCall : public HostCommand {
public:
  ReferenceCall(const HostContext &context, const plan::LibraryCall &call)
      : call(call), threads(context.threads) {
    const AddressTable &addresses = *context.program->addresses;
    for (const plan::Operand *operand : *call.operands())
      operands.emplace_back(addresses, *operand);
    if (call.extra_operands())
      for (const plan::Operand *operand : *call.extra_operands())
        extras.emplace_back(addresses, *operand);
    if (call.bias())
      bias.emplace_back(addresses, *call.bias());
    size_t spatial = operands[0].shape.size() - std::min<size_t>(2, operands[0].shape.size());
    auto attribute = [&](const flatbuffers::Vector<int64_t> *values, int64_t otherwise) {
      return values && values->size() ? toExtents(values) : Extents(spatial, otherwise);
    };
    strides = attribute(call.strides(), 1);
    dilations = attribute(call.dilations(), 1);
    pads = attribute(call.pads_begin(), 0);
    window = attribute(call.window(), 1);
  }

  Status run(const Run &run, uint32_t slot) override {
    for (std::vector<Tensor> *group : {&operands, &extras, &bias})
      for (Tensor &t : *group)
        t.data = t.place.at(run, slot);
    const Tensor &result = operands.back();
    parallelFor(elementCount(result.shape), 16, threads, [&](int64_t begin, int64_t end) {
      Extents index(result.shape.size());
      for (int64_t i = begin; i < end; ++i) {
        int64_t rest = i;
        for (size_t d = index.size(); d-- > 0;) {
          index[d] = rest % result.shape[d];
          rest /= result.shape[d];
        }
        int64_t offset = result.offsetOf(index);
        result.store(offset, finish(element(index), index, offset));
      }
    });
    return {};
  }

private:
  double element(const Extents &index) const {
    switch (call.kind()) {
    case Kind::matmul:
      return matmul(index);
    case Kind::conv:
      return conv(index);
    case Kind::conv_backward_data:
      return convBackwardData(index);
    case Kind::conv_backward_weights:
      return convBackwardWeights(index);
    case Kind::reorder:
      return operands[0].load(operands[0].offsetOf(index));
    default:
      return pool(index);
    }
  }

  double matmul(const Extents &index) const {
    const Tensor &a = operands[0], &b = operands[1];
    size_t r = index.size();
    Extents left = index, right = index;
    left[r - 1] = 0, right[r - 2] = 0;
    int64_t p = a.offsetOf(left), q = b.offsetOf(right);
    double sum = 0;
    for (int64_t k = 0; k < a.shape[r - 1]; ++k)
      sum += a.load(p + k * a.strides[r - 1]) * b.load(q + k * b.strides[r - 2]);
    return sum;
  }

  /// Calls visit(point) for all points of a box.
  template <typename Fn> static void forEachPoint(const Extents &extents, Fn visit) {
    Extents point(extents.size(), 0);
    for (int64_t n = elementCount(extents); n > 0; --n) {
      visit(point);
      for (size_t d = point.size(); d-- > 0;) {
        if (++point[d] < extents[d])
          break;
        point[d] = 0;
      }
    }
  }

  /// Source position of output position `out` under kernel position `k` in spatial dimension d.
  int64_t sourceAt(size_t d, int64_t out, int64_t k) const {
    return out * strides[d] - pads[d] + k * dilations[d];
  }

  double conv(const Extents &index) const {
    const Tensor &x = operands[0], &w = operands[1];
    int64_t group = index[1] / (w.shape[0] / call.groups());
    double sum = 0;
    forEachPoint(Extents(w.shape.begin() + 1, w.shape.end()), [&](const Extents &p) {
      int64_t s = index[0] * x.strides[0] + (group * w.shape[1] + p[0]) * x.strides[1];
      int64_t t = index[1] * w.strides[0] + p[0] * w.strides[1];
      for (size_t d = 0; d + 1 < p.size(); ++d) {
        int64_t at = sourceAt(d, index[d + 2], p[d + 1]);
        if (at < 0 || at >= x.shape[d + 2])
          return;
        s += at * x.strides[d + 2], t += p[d + 1] * w.strides[d + 2];
      }
      sum += x.load(s) * w.load(t);
    });
    return sum;
  }

  double convBackwardData(const Extents &index) const {
    const Tensor &g = operands[0], &w = operands[1];
    int64_t perGroup = w.shape[0] / call.groups(), group = index[1] / w.shape[1];
    Extents box(w.shape);
    box[0] = perGroup, box[1] = 1;
    double sum = 0;
    forEachPoint(box, [&](const Extents &p) {
      int64_t o = group * perGroup + p[0];
      int64_t s = index[0] * g.strides[0] + o * g.strides[1];
      int64_t t = o * w.strides[0] + (index[1] % w.shape[1]) * w.strides[1];
      for (size_t d = 0; d + 2 < p.size(); ++d) {
        int64_t scaled = index[d + 2] + pads[d] - p[d + 2] * dilations[d];
        if (scaled < 0 || scaled % strides[d] != 0 || scaled / strides[d] >= g.shape[d + 2])
          return;
        s += scaled / strides[d] * g.strides[d + 2], t += p[d + 2] * w.strides[d + 2];
      }
      sum += g.load(s) * w.load(t);
    });
    return sum;
  }

  double convBackwardWeights(const Extents &index) const {
    const Tensor &x = operands[0], &g = operands[1], &w = operands[2];
    int64_t group = index[0] / (w.shape[0] / call.groups());
    Extents box(g.shape);
    box[1] = 1;
    double sum = 0;
    forEachPoint(box, [&](const Extents &p) {
      int64_t s = p[0] * x.strides[0] + (group * w.shape[1] + index[1]) * x.strides[1];
      int64_t t = p[0] * g.strides[0] + index[0] * g.strides[1];
      for (size_t d = 0; d + 2 < p.size(); ++d) {
        int64_t at = sourceAt(d, p[d + 2], index[d + 2]);
        if (at < 0 || at >= x.shape[d + 2])
          return;
        s += at * x.strides[d + 2], t += p[d + 2] * g.strides[d + 2];
      }
      sum += x.load(s) * g.load(t);
    });
    return sum;
  }

  double pool(const Extents &index) const {
    const Tensor &x = operands[0];
    bool max = call.kind() == Kind::pool_max;
    double result = max ? -INFINITY : 0;
    int64_t inside = 0;
    forEachPoint(window, [&](const Extents &p) {
      int64_t s = index[0] * x.strides[0] + index[1] * x.strides[1];
      for (size_t d = 0; d < p.size(); ++d) {
        int64_t at = sourceAt(d, index[d + 2], p[d]);
        if (at < 0 || at >= x.shape[d + 2])
          return;
        s += at * x.strides[d + 2];
      }
      double value = x.load(s);
      // A NaN stays: no comparison with it is true.
      result = !max ? result + value : std::isnan(value) || value > result ? value : result;
      ++inside;
    });
    if (max)
      return result;
    return result / (call.kind() == Kind::pool_average ? inside : elementCount(window));
  }

  double finish(double value, const Extents &index, int64_t offset) const {
    if (!bias.empty())
      value += bias[0].load(index[call.kind() == Kind::matmul ? index.size() - 1 : 1] *
                            bias[0].strides[0]);
    if (!call.post_ops())
      return value;
    for (const plan::PostOp *op : *call.post_ops()) {
      double alpha = op->alpha(), beta = op->beta();
      switch (op->kind()) {
      case plan::PostOpKind::add_operand:
        value += extras[op->operand()].load(extras[op->operand()].offsetOf(index));
        break;
      case plan::PostOpKind::multiply_operand:
        value *= extras[op->operand()].load(extras[op->operand()].offsetOf(index));
        break;
      case plan::PostOpKind::accumulate:
        value += alpha * operands.back().load(offset);
        break;
      case plan::PostOpKind::relu:
        value = value > 0 ? value : value <= 0 && alpha == 0 ? 0 : alpha * value;
        break;
      case plan::PostOpKind::gelu_erf:
        value *= 0.5 * (1 + std::erf(value * M_SQRT1_2));
        break;
      case plan::PostOpKind::gelu_tanh:
        value *=
            0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (value + 0.044715 * value * value * value)));
        break;
      case plan::PostOpKind::sigmoid:
        value = 1 / (1 + std::exp(-value));
        break;
      case plan::PostOpKind::silu:
        value = value / (1 + std::exp(-value));
        break;
      case plan::PostOpKind::tanh:
        value = std::tanh(value);
        break;
      case plan::PostOpKind::clip:
        value = std::min(std::max(value, alpha), beta);
        break;
      case plan::PostOpKind::linear:
        value = alpha * value + (beta == 0 ? -0.0 : beta);
        break;
      }
    }
    return value;
  }

  const plan::LibraryCall &call;
  int threads;
  std::vector<Tensor> operands, extras, bias;
  Extents strides, dilations, pads, window;
};

class NoCommand : public HostCommand {
public:
  Status run(const Run &, uint32_t) override { return {}; }
};
} // namespace

Status gpucc::rt::makeReferenceCall(const HostContext &context, const plan::LibraryCall &call,
                                    std::unique_ptr<HostCommand> &command) {
  auto usable = [](const auto *operands) {
    if (operands)
      for (const plan::Operand *operand : *operands)
        if (!canCast(operand->dtype(), DType::f64))
          return false;
    return true;
  };
  if (!usable(call.operands()) || !usable(call.extra_operands()) ||
      (call.bias() && !canCast(call.bias()->dtype(), DType::f64)))
    return GPUCC_RT_FAIL(Code::unsupported, "the host has no ",
                         plan::EnumNameLibraryKind(call.kind()), " for ",
                         dtypeName(call.operands()->Get(0)->dtype()));
  command = std::make_unique<ReferenceCall>(context, call);
  return {};
}

Status gpucc::rt::makeLibraryCall(const HostContext &context, const plan::LibraryCall &call,
                                  std::unique_ptr<HostCommand> &command) {
  const plan::Operand &result = *call.operands()->Get(call.operands()->size() - 1);
  if (elementCount(toExtents(result.dims())) == 0) {
    command = std::make_unique<NoCommand>();
    return {};
  }
#if GPUCC_RT_HAS_ONEDNN
  GPUCC_RT_TRY(makeDnnCall(context, call, command));
  if (command)
    return {};
#endif
  context.program->warnings->push_back(
      concat(plan::EnumNameLibraryKind(call.kind()), " on ", dtypeName(result.dtype()),
             " runs as plain loops: oneDNN ",
             GPUCC_RT_HAS_ONEDNN ? "has none for this CPU" : "is not in this build"));
  return makeReferenceCall(context, call, command);
}
