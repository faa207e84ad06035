//===- HostDnn.cpp - Library calls through oneDNN 2
//---------------------------------------------===//
//
// A primitive is made once, at prepare, by the first of these attempts that has a fast path:
//
//   a convolution 3x3 of stride 1 over enough points, by Winograd's algorithm (AVX-512)
//   with the layouts of the plan
//   with layouts of oneDNN's choice and reorders around it
//   the latter two with the post-ops as primitives of their own, behind it
//
// and before these the same ones with weights in the layout that the plan has them in.
//
// ReLU and clip of oneDNN lose NaN: from the first of them on, post-ops run behind the primitive,
// and they by loops of ours (HostBounds.h). So do two of one function with different parameters.
//
// Constant weights are always in the library's layout: taken from the plan's packed blob when
// oneDNN version, ISA and layout agree, else packed here.
//
//   matmul x[4,768] @ W[768,3072] + bias, gelu  ->  brgemm with W packed; bias, gelu as post-ops
//
// 16-bit floats that oneDNN lacks on this CPU (f16; bf16 below AVX-512) are widened to f32 around
// the call; f64 goes to the plain loops of HostReferenceCall.cpp.
//
//===--------------------------------------------------------------------------------------------===//
#include "drivers/HostDnn.h"

#include "drivers/HostDnnCall.h"
#include "drivers/HostDnnLayout.h"

#include <algorithm>
#include <cstring>

using namespace gpucc::rt;
using dnnl::memory;
using Tag = memory::format_tag;

namespace {
using LibKind = plan::LibraryKind;

memory::desc anyLayout(const memory::desc &desc) {
  return memory::desc(desc.dims(), desc.data_type(), Tag::any);
}

/// One way to make a primitive.
struct Attempt {
  bool winograd = false;
  bool any = false;  ///< layouts of oneDNN's choice
  bool fused = true; ///< post-ops inside the primitive, up to one that loses NaN
  bool packed = false; ///< weights in the layout that the plan has them in
};

/// Makes one call; throws dnnl::error when oneDNN cannot.
class Maker {
public:
  Maker(const HostContext &context, const plan::LibraryCall &call, bool widen)
      : context(context), call(call), widen(widen),
        folds(call.kind() == LibKind::matmul && canFold(call)),
        result(std::make_unique<DnnCall>(context)) {}

  /// False when oneDNN has no such element type.
  bool collectSlots();
  std::unique_ptr<HostCommand> make();

private:
  bool describe(const plan::Operand &operand, int64_t groups, DnnOperand &result);
  bool addSlot(const plan::Operand &operand, int argument, int64_t groups, bool output);
  void makeGeometry();
  void makeAttributes();
  void appendPostOp(const plan::PostOp &op, dnnl::post_ops &ops);
  void appendBehind();
  memory::desc layout(int argument) const;
  const DnnOperand *slot(int argument) const;
  std::vector<Attempt> attempts() const;
  uint32_t insideCount() const;
  bool suitsWinograd() const;
  bool accepts(const char *implementation) const;

  bool makeMatmul();
  bool makeReorder();
  bool makeConv();
  bool makeConvBackwardData();
  bool makeConvBackwardWeights();
  bool makePool();
  bool makeKind();
  template <typename Desc>
  void finish(const Desc &desc, std::initializer_list<std::pair<int, memory::desc>> layouts);
  dnnl::convolution_forward::primitive_desc
  forwardHint(const memory::desc &source, const memory::desc &weights, const memory::desc &result);

  const HostContext &context;
  const plan::LibraryCall &call;
  bool widen; ///< 16-bit floats become f32
  bool folds; ///< matmul: batch and rows are one dimension
  Attempt attempt;
  bool isLast = false; ///< of the attempts: any implementation will do
  std::vector<DnnOperand> slots;
  dnnl::primitive_attr attributes;
  bool accumulates = false;
  std::unique_ptr<DnnCall> result;
  memory::dims strides, dilations, padsBegin, padsEnd;
};

/// Fills in the operand as oneDNN sees it. `groups` > 0 splits the first dimension (grouped
/// weights).
bool Maker::describe(const plan::Operand &operand, int64_t groups, DnnOperand &result) {
  memory::data_type type;
  bool half = operand.dtype() == DType::f16 || operand.dtype() == DType::bf16;
  result.widened = widen && half;
  result.dtype = operand.dtype();
  if (!toDnn(result.widened ? DType::f32 : operand.dtype(), type))
    return false;
  Layout layout = layoutOf(operand);
  result.span = 1;
  for (size_t d = 0; d < layout.shape.size(); ++d)
    result.span += (layout.shape[d] - 1) * layout.strides[d];
  result.gaps = result.span != elementCount(layout.shape);
  if (groups > 0) {
    layout.shape[0] /= groups;
    layout.shape.insert(layout.shape.begin(), groups);
    layout.strides.insert(layout.strides.begin(), layout.strides[0] * layout.shape[1]);
  }
  if (folds && result.argument == DNNL_ARG_WEIGHTS)
    layout = {Extents(layout.shape.end() - 2, layout.shape.end()),
              Extents(layout.strides.end() - 2, layout.strides.end())};
  else if (folds && result.argument != DNNL_ARG_BIAS)
    foldRows(Layout(layout), layout);
  result.user = memory::desc(layout.shape, type, layout.strides);
  return true;
}

bool Maker::addSlot(const plan::Operand &operand, int argument, int64_t groups, bool output) {
  DnnOperand s;
  s.argument = argument;
  s.place = Place(*context.program->addresses, *operand.view());
  s.constant = operand.constant();
  s.output = output;
  s.source = &operand;
  if (!describe(operand, groups, s))
    return false;
  slots.push_back(s);
  return true;
}

bool Maker::collectSlots() {
  auto operand = [&](int i) -> const plan::Operand & { return *call.operands()->Get(i); };
  int64_t groups = call.groups() > 1 ? call.groups() : 0;
  bool ok = true;
  switch (call.kind()) {
  case LibKind::matmul:
    ok = addSlot(operand(0), DNNL_ARG_SRC, 0, false) &&
         addSlot(operand(1), DNNL_ARG_WEIGHTS, 0, false) &&
         addSlot(operand(2), DNNL_ARG_DST, 0, true);
    break;
  case LibKind::conv:
    ok = addSlot(operand(0), DNNL_ARG_SRC, 0, false) &&
         addSlot(operand(1), DNNL_ARG_WEIGHTS, groups, false) &&
         addSlot(operand(2), DNNL_ARG_DST, 0, true);
    break;
  case LibKind::conv_backward_data:
    ok = addSlot(operand(0), DNNL_ARG_DIFF_DST, 0, false) &&
         addSlot(operand(1), DNNL_ARG_WEIGHTS, groups, false) &&
         addSlot(operand(2), DNNL_ARG_DIFF_SRC, 0, true);
    break;
  case LibKind::conv_backward_weights:
    ok = addSlot(operand(0), DNNL_ARG_SRC, 0, false) &&
         addSlot(operand(1), DNNL_ARG_DIFF_DST, 0, false) &&
         addSlot(operand(2), DNNL_ARG_DIFF_WEIGHTS, groups, true);
    break;
  default:
    ok = addSlot(operand(0), DNNL_ARG_SRC, 0, false) && addSlot(operand(1), DNNL_ARG_DST, 0, true);
  }
  if (ok && call.bias()) {
    ok = addSlot(*call.bias(), DNNL_ARG_BIAS, 0, false);
    slots.back().constant = false;              // used as it is
    if (ok && call.kind() == LibKind::matmul) { // [N] -> [1, .., 1, N]
      memory::dims shape(folds ? 2 : operand(2).dims()->size(), 1);
      shape.back() = call.bias()->dims()->Get(0);
      slots.back().user = slots.back().user.reshape(shape);
    }
  }
  return ok;
}

const DnnOperand *Maker::slot(int argument) const {
  for (const DnnOperand &s : slots)
    if (s.argument == argument)
      return &s;
  return nullptr;
}

memory::desc Maker::layout(int argument) const {
  const DnnOperand *s = slot(argument);
  if (!s)
    return memory::desc();
  if (attempt.packed && s->constant)
    if (std::optional<memory::desc> packed = result->packedLayout(*s))
      return *packed;
  bool any = attempt.any && argument != DNNL_ARG_BIAS;
  return any || s->constant ? anyLayout(s->user) : s->user;
}

void Maker::appendPostOp(const plan::PostOp &op, dnnl::post_ops &ops) {
  using Algorithm = dnnl::algorithm;
  auto eltwise = [&](Algorithm a, float alpha, float beta) {
    ops.append_eltwise(1.f, a, alpha, beta);
  };
  switch (op.kind()) {
  case plan::PostOpKind::add_operand:
  case plan::PostOpKind::multiply_operand: {
    const plan::Operand &operand = *call.extra_operands()->Get(op.operand());
    int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1;
    if (!addSlot(operand, argument, 0, false))
      throw dnnl::error(dnnl_unimplemented, "post-op operand");
    slots.back().constant = false;
    ops.append_binary(op.kind() == plan::PostOpKind::add_operand ? Algorithm::binary_add
                                                                 : Algorithm::binary_mul,
                      slots.back().user);
    return;
  }
  case plan::PostOpKind::accumulate:
    accumulates = true;
    ops.append_sum(op.alpha());
    return;
  case plan::PostOpKind::relu:
    return eltwise(Algorithm::eltwise_relu, op.alpha(), 0);
  case plan::PostOpKind::gelu_erf:
    return eltwise(Algorithm::eltwise_gelu_erf, 0, 0);
  case plan::PostOpKind::gelu_tanh:
    return eltwise(Algorithm::eltwise_gelu_tanh, 0, 0);
  case plan::PostOpKind::sigmoid:
    return eltwise(Algorithm::eltwise_logistic, 0, 0);
  case plan::PostOpKind::silu:
    return eltwise(Algorithm::eltwise_swish, 1, 0);
  case plan::PostOpKind::tanh:
    return eltwise(Algorithm::eltwise_tanh, 0, 0);
  case plan::PostOpKind::clip:
    return eltwise(Algorithm::eltwise_clip, op.alpha(), op.beta());
  case plan::PostOpKind::linear:
    return eltwise(Algorithm::eltwise_linear, op.alpha(), op.beta());
  }
}

/// Of two functions of one kind in a primitive, oneDNN 2 gives both the parameters of the first.
static bool clashes(const plan::PostOp &a, const plan::PostOp &b) {
  bool hasOperand = a.kind() == plan::PostOpKind::add_operand ||
                    a.kind() == plan::PostOpKind::multiply_operand;
  return !hasOperand && a.kind() == b.kind() && (a.alpha() != b.alpha() || a.beta() != b.beta());
}

/// How many of the post-ops the primitive is given.
uint32_t Maker::insideCount() const {
  uint32_t count = 0, all = call.post_ops() && attempt.fused ? call.post_ops()->size() : 0;
  auto fits = [&](const plan::PostOp &op) {
    for (uint32_t i = 0; i < count; ++i)
      if (clashes(*call.post_ops()->Get(i), op))
        return false;
    return !losesNaN(op);
  };
  while (count < all && fits(*call.post_ops()->Get(count)))
    ++count;
  return count;
}

void Maker::makeAttributes() {
  attributes = dnnl::primitive_attr();
  accumulates = false;
  dnnl::post_ops ops;
  for (uint32_t i = 0; i < insideCount(); ++i)
    appendPostOp(*call.post_ops()->Get(i), ops);
  attributes.set_post_ops(ops);
  if (call.math() == plan::MathMode::bf16) // tf32 permits f32, which is what CPUs have
    attributes.set_fpmath_mode(dnnl::fpmath_mode::bf16);
}

/// The post-ops that the primitive did not take, as primitives on its result.
void Maker::appendBehind() {
  uint32_t inside = insideCount(), all = call.post_ops() ? call.post_ops()->size() : 0;
  if (inside == all)
    return;
  const DnnOperand &output =
      *std::find_if(slots.begin(), slots.end(), [](const DnnOperand &s) { return s.output; });
  memory::desc layout = output.user;
  for (uint32_t i = inside; i < all; ++i) {
    const plan::PostOp *op = call.post_ops()->Get(i);
    if (losesNaN(*op)) {
      result->append(*op);
      continue;
    }
    dnnl::post_ops ops;
    slots.erase(std::remove_if(slots.begin(), slots.end(),
                               [](const DnnOperand &s) {
                                 return s.argument >= DNNL_ARG_ATTR_MULTIPLE_POST_OP_BASE;
                               }),
                slots.end());
    appendPostOp(*op, ops);
    if (op->kind() == plan::PostOpKind::accumulate)
      throw dnnl::error(dnnl_unimplemented, "a sum with what the result overwrote");
    if (ops.kind(0) == dnnl::primitive::kind::eltwise) {
      float scale, alpha, beta;
      dnnl::algorithm algorithm;
      ops.get_params_eltwise(0, scale, algorithm, alpha, beta);
      dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, layout, alpha,
                                       beta);
      result->append(dnnl::eltwise_forward({desc, result->engine()}), nullptr);
      continue;
    }
    dnnl::algorithm algorithm;
    memory::desc other;
    ops.get_params_binary(0, algorithm, other);
    dnnl::binary::desc desc(algorithm, layout, other, layout);
    result->append(dnnl::binary({desc, result->engine()}), &slots.back());
  }
}

void Maker::makeGeometry() {
  size_t spatial = call.operands()->Get(0)->dims()->size() - 2;
  strides = dims(call.strides(), spatial, 1);
  dilations = dims(call.dilations(), spatial, 1);
  for (auto &d : dilations)
    d -= 1; // oneDNN: 0 = dense
  padsBegin = dims(call.pads_begin(), spatial, 0);
  padsEnd = dims(call.pads_end(), spatial, 0);
}

/// A convolution 3x3 that moves by one over many points. The transformed filter is 16/9 as large:
/// where few points use it, reading it costs more than the products that are saved.
bool Maker::suitsWinograd() const {
  constexpr int64_t leastPoints = 128, leastChannels = 32;
  if (call.kind() != LibKind::conv)
    return false;
  auto all = [](const memory::dims &list, int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == value; });
  };
  const Extents weights = toExtents(call.operands()->Get(1)->dims()),
                output = toExtents(call.operands()->Get(2)->dims());
  return call.groups() <= 1 && output.size() == 4 && weights[2] == 3 && weights[3] == 3 &&
         all(strides, 1) && all(dilations, 0) && call.operands()->Get(1)->constant() &&
         weights[0] >= leastChannels && weights[1] >= leastChannels &&
         output[0] * output[2] * output[3] >= leastPoints;
}

std::vector<Attempt> Maker::attempts() const {
  std::vector<Attempt> list;
  if (suitsWinograd())
    list = {{true, true, true}, {true, true, false}};
  bool ownLayouts = call.kind() != LibKind::matmul && call.kind() != LibKind::reorder;
  for (bool fused : {true, false})
    for (bool any : {false, true})
      if ((!any || ownLayouts) && (fused || (call.post_ops() && call.post_ops()->size() > 0)))
        list.push_back({false, any, fused});
  // What oneDNN would choose depends on the number of threads, too; the plan's will do.
  bool packed = std::any_of(slots.begin(), slots.end(), [&](const DnnOperand &s) {
    return s.constant && result->packedLayout(s);
  });
  if (packed) {
    std::vector<Attempt> both = list;
    for (Attempt &a : both)
      a.packed = true;
    both.insert(both.end(), list.begin(), list.end());
    return both;
  }
  return list;
}

/// Whether an implementation is one of the fast ones.
bool Maker::accepts(const char *implementation) const {
  bool ownLayouts = call.kind() != LibKind::matmul && call.kind() != LibKind::reorder;
  bool slow = std::strstr(implementation, "ref") ||
              (ownLayouts && !attempt.any && std::strstr(implementation, "gemm:"));
  return isLast || !slow;
}

template <typename Desc>
void Maker::finish(const Desc &desc, std::initializer_list<std::pair<int, memory::desc>> layouts) {
  using Primitive = dnnl::primitive;
  result->setPrimitive(Primitive(desc.get()));
  for (const auto &[argument, wanted] : layouts)
    if (const DnnOperand *s = slot(argument))
      result->bind(*s, wanted, accumulates && s->output);
  for (const DnnOperand &s : slots)
    if (s.argument >= DNNL_ARG_ATTR_MULTIPLE_POST_OP_BASE)
      result->bind(s, s.user, false);
  appendBehind();
}

bool Maker::makeMatmul() {
  dnnl::matmul::desc desc = slot(DNNL_ARG_BIAS)
                                ? dnnl::matmul::desc(layout(DNNL_ARG_SRC), layout(DNNL_ARG_WEIGHTS),
                                                     layout(DNNL_ARG_BIAS), layout(DNNL_ARG_DST))
                                : dnnl::matmul::desc(layout(DNNL_ARG_SRC), layout(DNNL_ARG_WEIGHTS),
                                                     layout(DNNL_ARG_DST));
  dnnl::matmul::primitive_desc pd(desc, attributes, result->engine());
  if (!accepts(pd.impl_info_str()))
    return false;
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()},
              {DNNL_ARG_WEIGHTS, pd.weights_desc()},
              {DNNL_ARG_BIAS, pd.bias_desc()},
              {DNNL_ARG_DST, pd.dst_desc()}});
  return true;
}

bool Maker::makeReorder() {
  dnnl::reorder::primitive_desc pd(result->engine(), layout(DNNL_ARG_SRC), result->engine(),
                                   layout(DNNL_ARG_DST), attributes);
  finish(pd, {{DNNL_ARG_FROM, pd.src_desc()}, {DNNL_ARG_TO, pd.dst_desc()}});
  return true;
}

dnnl::convolution_forward::primitive_desc Maker::forwardHint(const memory::desc &source,
                                                             const memory::desc &weights,
                                                             const memory::desc &destination) {
  return {dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training,
                                          dnnl::algorithm::convolution_direct, source, weights,
                                          destination, strides, dilations, padsBegin, padsEnd),
          result->engine()};
}

bool Maker::makeConv() {
  auto kind = dnnl::prop_kind::forward_inference;
  auto algorithm = attempt.winograd ? dnnl::algorithm::convolution_winograd
                                    : dnnl::algorithm::convolution_direct;
  memory::desc s = layout(DNNL_ARG_SRC), w = layout(DNNL_ARG_WEIGHTS), d = layout(DNNL_ARG_DST),
               b = layout(DNNL_ARG_BIAS);
  using Desc = dnnl::convolution_forward::desc;
  Desc desc = slot(DNNL_ARG_BIAS)
                  ? Desc(kind, algorithm, s, w, b, d, strides, dilations, padsBegin, padsEnd)
                  : Desc(kind, algorithm, s, w, d, strides, dilations, padsBegin, padsEnd);
  dnnl::convolution_forward::primitive_desc pd(desc, attributes, result->engine());
  if (!accepts(pd.impl_info_str()))
    return false;
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()},
              {DNNL_ARG_WEIGHTS, pd.weights_desc()},
              {DNNL_ARG_BIAS, pd.bias_desc()},
              {DNNL_ARG_DST, pd.dst_desc()}});
  return true;
}

bool Maker::makeConvBackwardData() {
  memory::desc g = layout(DNNL_ARG_DIFF_DST), w = layout(DNNL_ARG_WEIGHTS),
               d = layout(DNNL_ARG_DIFF_SRC);
  dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, d, w, g, strides,
                                             dilations, padsBegin, padsEnd);
  dnnl::convolution_backward_data::primitive_desc pd(desc, attributes, result->engine(),
                                                     forwardHint(d, w, g));
  if (!accepts(pd.impl_info_str()))
    return false;
  finish(pd, {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
              {DNNL_ARG_WEIGHTS, pd.weights_desc()},
              {DNNL_ARG_DIFF_SRC, pd.diff_src_desc()}});
  return true;
}

bool Maker::makeConvBackwardWeights() {
  memory::desc s = layout(DNNL_ARG_SRC), g = layout(DNNL_ARG_DIFF_DST),
               d = layout(DNNL_ARG_DIFF_WEIGHTS);
  dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, s, d, g,
                                                strides, dilations, padsBegin, padsEnd);
  dnnl::convolution_backward_weights::primitive_desc pd(desc, attributes, result->engine(),
                                                        forwardHint(s, d, g));
  if (!accepts(pd.impl_info_str()))
    return false;
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()},
              {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
              {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()}});
  return true;
}

bool Maker::makePool() {
  auto algorithm = call.kind() == LibKind::pool_max ? dnnl::algorithm::pooling_max
                   : call.kind() == LibKind::pool_average
                       ? dnnl::algorithm::pooling_avg_exclude_padding
                       : dnnl::algorithm::pooling_avg_include_padding;
  memory::dims window = dims(call.window(), strides.size(), 1);
  dnnl::pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm,
                                      layout(DNNL_ARG_SRC), layout(DNNL_ARG_DST), strides, window,
                                      dilations, padsBegin, padsEnd);
  dnnl::pooling_v2_forward::primitive_desc pd(desc, attributes, result->engine());
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()}, {DNNL_ARG_DST, pd.dst_desc()}});
  return true;
}

bool Maker::makeKind() {
  switch (call.kind()) {
  case LibKind::matmul:
    return makeMatmul();
  case LibKind::reorder:
    return makeReorder();
  case LibKind::conv:
    return makeConv();
  case LibKind::conv_backward_data:
    return makeConvBackwardData();
  case LibKind::conv_backward_weights:
    return makeConvBackwardWeights();
  default:
    return makePool();
  }
}

std::unique_ptr<HostCommand> Maker::make() {
  makeGeometry();
  const std::vector<DnnOperand> given = slots;
  std::vector<Attempt> list = attempts();
  for (const Attempt &next : list) {
    attempt = next;
    isLast = &next == &list.back();
    slots = given;
    result = std::make_unique<DnnCall>(context);
    try {
      makeAttributes();
      if (makeKind())
        return std::move(result);
    } catch (const dnnl::error &e) {
      if (e.status != dnnl_unimplemented || isLast)
        throw;
    }
  }
  return nullptr; // the last attempt returns or throws
}
} // namespace

Status gpucc::rt::makeDnnCall(const HostContext &context, const plan::LibraryCall &call,
                              std::unique_ptr<HostCommand> &command) {
  for (bool widen : {false, true}) {
    try {
      Maker maker(context, call, widen);
      if (maker.collectSlots())
        command = maker.make();
    } catch (const dnnl::error &e) {
      if (e.status != dnnl_unimplemented)
        return GPUCC_RT_FAIL(Code::device, "oneDNN: ", e.what());
    }
    if (command)
      break;
  }
  return {};
}
