//===- HostDnn.cpp - Library calls through oneDNN 2
//---------------------------------------------===//
//
// A primitive is made once, at prepare, in one of two ways: with the layouts of the plan, or, where
// oneDNN has only its slow paths for those ("ref", "gemm"), with layouts of its own choice and
// reorders around it. Constant weights are always in the library's layout: taken from the plan's
// packed blob when oneDNN version, ISA and layout agree, else packed here.
//
//   matmul x[4,768] @ W[768,3072] + bias, gelu  ->  brgemm with W packed; bias, gelu as post-ops
//
// 16-bit floats that oneDNN lacks on this CPU (f16; bf16 below AVX-512) are widened to f32 around
// the call; f64 goes to the plain loops of HostReferenceCall.cpp.
//
//===--------------------------------------------------------------------------------------------===//
#include "drivers/HostDnn.h"

#include "drivers/HostDnnCall.h"
#include "plan/Slices.h"

#include <cstring>

using namespace gpucc::rt;
using dnnl::memory;
using Tag = memory::format_tag;

namespace {
using LibKind = plan::LibraryKind;

bool toDnn(DType type, memory::data_type &result) {
  switch (type) {
  case DType::f32:
    result = memory::data_type::f32;
    return true;
  case DType::bf16:
    result = memory::data_type::bf16;
    return true;
  case DType::i32:
    result = memory::data_type::s32;
    return true;
  case DType::i8:
    result = memory::data_type::s8;
    return true;
  case DType::u8:
    result = memory::data_type::u8;
    return true;
  default:
    return false;
  }
}

memory::dims dims(const flatbuffers::Vector<int64_t> *values, size_t count, int64_t otherwise) {
  if (values && values->size() > 0)
    return memory::dims(values->begin(), values->end());
  return memory::dims(count, otherwise);
}

struct Layout {
  Extents shape, strides;
};

Layout layoutOf(const plan::Operand &operand) {
  Layout layout = {toExtents(operand.dims()), {}};
  layout.strides = operand.strides() && operand.strides()->size() > 0
                       ? toExtents(operand.strides())
                       : rowMajorStrides(layout.shape);
  return layout;
}

/// [4, 128, 768] -> [512, 768]: all dimensions but the last as one. False where strides forbid it.
bool foldRows(const Layout &layout, Layout &folded) {
  size_t last = layout.shape.size() - 1;
  int64_t rows = 1, stride = layout.strides[last - 1];
  for (size_t d = last; d-- > 0;) {
    if (layout.shape[d] == 1)
      continue;
    if (rows == 1)
      stride = layout.strides[d];
    else if (layout.strides[d] != stride * rows)
      return false;
    rows *= layout.shape[d];
  }
  folded = {{rows, layout.shape[last]}, {stride, layout.strides[last]}};
  return true;
}

/// A batched product with one matrix on the right is one large product, which oneDNN computes up to
/// three times faster.
bool canFold(const plan::LibraryCall &call) {
  Layout a, c, extra, b = layoutOf(*call.operands()->Get(1));
  size_t rank = b.shape.size();
  for (size_t d = 0; d + 2 < rank; ++d)
    if (b.shape[d] != 1)
      return false;
  if (rank == 2 || !foldRows(layoutOf(*call.operands()->Get(0)), a) ||
      !foldRows(layoutOf(*call.operands()->Get(2)), c) || a.shape[0] != c.shape[0])
    return false;
  if (call.extra_operands())
    for (const plan::Operand *operand : *call.extra_operands())
      if (!foldRows(layoutOf(*operand), extra) ||
          (extra.shape[0] != 1 && extra.shape[0] != c.shape[0]))
        return false;
  return true;
}

memory::desc anyLayout(const memory::desc &desc) {
  return memory::desc(desc.dims(), desc.data_type(), Tag::any);
}

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
  void makeAttributes();
  void appendPostOp(const plan::PostOp &op, dnnl::post_ops &ops);
  memory::desc layout(int argument, bool any) const;
  const DnnOperand *slot(int argument) const;
  bool needsOwnLayouts(const char *implementation) const {
    return std::strstr(implementation, "ref") || std::strstr(implementation, "gemm:");
  }

  void makeMatmul();
  void makeReorder();
  bool makeConv(bool any);
  bool makeConvBackwardData(bool any);
  bool makeConvBackwardWeights(bool any);
  bool makePool(bool any);
  template <typename Desc>
  void finish(const Desc &desc, std::initializer_list<std::pair<int, memory::desc>> layouts);
  dnnl::convolution_forward::primitive_desc
  forwardHint(const memory::desc &source, const memory::desc &weights, const memory::desc &result);

  const HostContext &context;
  const plan::LibraryCall &call;
  bool widen; ///< 16-bit floats become f32
  bool folds; ///< matmul: batch and rows are one dimension
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
  s.packed = operand.packed();
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

memory::desc Maker::layout(int argument, bool any) const {
  const DnnOperand *s = slot(argument);
  if (!s)
    return memory::desc();
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

void Maker::makeAttributes() {
  dnnl::post_ops ops;
  if (call.post_ops())
    for (const plan::PostOp *op : *call.post_ops())
      appendPostOp(*op, ops);
  attributes.set_post_ops(ops);
  if (call.math() == plan::MathMode::bf16) // tf32 permits f32, which is what CPUs have
    attributes.set_fpmath_mode(dnnl::fpmath_mode::bf16);
  size_t spatial = call.operands()->Get(0)->dims()->size() - 2;
  strides = dims(call.strides(), spatial, 1);
  dilations = dims(call.dilations(), spatial, 1);
  for (auto &d : dilations)
    d -= 1; // oneDNN: 0 = dense
  padsBegin = dims(call.pads_begin(), spatial, 0);
  padsEnd = dims(call.pads_end(), spatial, 0);
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
}

void Maker::makeMatmul() {
  dnnl::matmul::desc desc =
      slot(DNNL_ARG_BIAS)
          ? dnnl::matmul::desc(layout(DNNL_ARG_SRC, false), layout(DNNL_ARG_WEIGHTS, false),
                               layout(DNNL_ARG_BIAS, false), layout(DNNL_ARG_DST, false))
          : dnnl::matmul::desc(layout(DNNL_ARG_SRC, false), layout(DNNL_ARG_WEIGHTS, false),
                               layout(DNNL_ARG_DST, false));
  dnnl::matmul::primitive_desc pd(desc, attributes, result->engine());
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()},
              {DNNL_ARG_WEIGHTS, pd.weights_desc()},
              {DNNL_ARG_BIAS, pd.bias_desc()},
              {DNNL_ARG_DST, pd.dst_desc()}});
}

void Maker::makeReorder() {
  dnnl::reorder::primitive_desc pd(result->engine(), layout(DNNL_ARG_SRC, false), result->engine(),
                                   layout(DNNL_ARG_DST, false), attributes);
  finish(pd, {{DNNL_ARG_FROM, pd.src_desc()}, {DNNL_ARG_TO, pd.dst_desc()}});
}

dnnl::convolution_forward::primitive_desc Maker::forwardHint(const memory::desc &source,
                                                             const memory::desc &weights,
                                                             const memory::desc &destination) {
  return {dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training,
                                          dnnl::algorithm::convolution_direct, source, weights,
                                          destination, strides, dilations, padsBegin, padsEnd),
          result->engine()};
}

bool Maker::makeConv(bool any) {
  auto kind = dnnl::prop_kind::forward_inference;
  auto direct = dnnl::algorithm::convolution_direct;
  memory::desc s = layout(DNNL_ARG_SRC, any), w = layout(DNNL_ARG_WEIGHTS, any),
               d = layout(DNNL_ARG_DST, any), b = layout(DNNL_ARG_BIAS, false);
  using Desc = dnnl::convolution_forward::desc;
  Desc desc = slot(DNNL_ARG_BIAS)
                  ? Desc(kind, direct, s, w, b, d, strides, dilations, padsBegin, padsEnd)
                  : Desc(kind, direct, s, w, d, strides, dilations, padsBegin, padsEnd);
  dnnl::convolution_forward::primitive_desc pd(desc, attributes, result->engine());
  if (!any && needsOwnLayouts(pd.impl_info_str()))
    return false;
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()},
              {DNNL_ARG_WEIGHTS, pd.weights_desc()},
              {DNNL_ARG_BIAS, pd.bias_desc()},
              {DNNL_ARG_DST, pd.dst_desc()}});
  return true;
}

bool Maker::makeConvBackwardData(bool any) {
  memory::desc g = layout(DNNL_ARG_DIFF_DST, any), w = layout(DNNL_ARG_WEIGHTS, any),
               d = layout(DNNL_ARG_DIFF_SRC, any);
  dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, d, w, g, strides,
                                             dilations, padsBegin, padsEnd);
  dnnl::convolution_backward_data::primitive_desc pd(desc, attributes, result->engine(),
                                                     forwardHint(d, w, g));
  if (!any && needsOwnLayouts(pd.impl_info_str()))
    return false;
  finish(pd, {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
              {DNNL_ARG_WEIGHTS, pd.weights_desc()},
              {DNNL_ARG_DIFF_SRC, pd.diff_src_desc()}});
  return true;
}

bool Maker::makeConvBackwardWeights(bool any) {
  memory::desc s = layout(DNNL_ARG_SRC, any), g = layout(DNNL_ARG_DIFF_DST, any),
               d = layout(DNNL_ARG_DIFF_WEIGHTS, any);
  dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, s, d, g,
                                                strides, dilations, padsBegin, padsEnd);
  dnnl::convolution_backward_weights::primitive_desc pd(desc, attributes, result->engine(),
                                                        forwardHint(s, d, g));
  if (!any && needsOwnLayouts(pd.impl_info_str()))
    return false;
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()},
              {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
              {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()}});
  return true;
}

bool Maker::makePool(bool any) {
  auto algorithm = call.kind() == LibKind::pool_max ? dnnl::algorithm::pooling_max
                   : call.kind() == LibKind::pool_average
                       ? dnnl::algorithm::pooling_avg_exclude_padding
                       : dnnl::algorithm::pooling_avg_include_padding;
  memory::dims window = dims(call.window(), strides.size(), 1);
  dnnl::pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm,
                                      layout(DNNL_ARG_SRC, false), layout(DNNL_ARG_DST, any),
                                      strides, window, dilations, padsBegin, padsEnd);
  dnnl::pooling_v2_forward::primitive_desc pd(desc, attributes, result->engine());
  finish(pd, {{DNNL_ARG_SRC, pd.src_desc()}, {DNNL_ARG_DST, pd.dst_desc()}});
  return true;
}

std::unique_ptr<HostCommand> Maker::make() {
  makeAttributes();
  auto either = [&](bool (Maker::*make)(bool)) {
    bool made = false;
    try {
      made = (this->*make)(/*any=*/false);
    } catch (const dnnl::error &e) {
      if (e.status != dnnl_unimplemented)
        throw;
    }
    if (!made)
      (this->*make)(/*any=*/true);
  };
  switch (call.kind()) {
  case LibKind::matmul:
    makeMatmul();
    break;
  case LibKind::reorder:
    makeReorder();
    break;
  case LibKind::conv:
    either(&Maker::makeConv);
    break;
  case LibKind::conv_backward_data:
    either(&Maker::makeConvBackwardData);
    break;
  case LibKind::conv_backward_weights:
    either(&Maker::makeConvBackwardWeights);
    break;
  default:
    either(&Maker::makePool);
    break;
  }
  return std::move(result);
}
} // namespace

std::string gpucc::rt::onednnVersion() {
  const dnnl_version_t *v = dnnl_version();
  return concat("oneDNN ", v->major, ".", v->minor, ".", v->patch);
}

std::string gpucc::rt::onednnIsa() {
  switch (dnnl::get_effective_cpu_isa()) {
  case dnnl::cpu_isa::avx512_core_amx:
    return "avx512_core_amx";
  case dnnl::cpu_isa::avx512_core_bf16:
    return "avx512_core_bf16";
  case dnnl::cpu_isa::avx512_core_vnni:
    return "avx512_core_vnni";
  case dnnl::cpu_isa::avx512_core:
    return "avx512_core";
  case dnnl::cpu_isa::avx2_vnni:
    return "avx2_vnni";
  case dnnl::cpu_isa::avx2:
    return "avx2";
  case dnnl::cpu_isa::avx:
    return "avx";
  case dnnl::cpu_isa::sse41:
    return "sse41";
  default:
    return "other";
  }
}

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
