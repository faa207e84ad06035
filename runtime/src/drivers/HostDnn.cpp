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

#include "drivers/HostDnnMaker.h"

#include <algorithm>
#include <cstring>

using namespace gpucc::rt;
using dnnl::memory;
using Tag = memory::format_tag;
using LibKind = plan::LibraryKind;

static memory::desc anyLayout(const memory::desc &desc) {
  return memory::desc(desc.dims(), desc.data_type(), Tag::any);
}

/// Fills in the operand as oneDNN sees it. `groups` > 0 splits the first dimension (grouped
/// weights).
bool DnnMaker::describe(const plan::Operand &operand, int64_t groups, DnnOperand &result) {
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

bool DnnMaker::addSlot(const plan::Operand &operand, int argument, int64_t groups, bool output) {
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

bool DnnMaker::collectSlots() {
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

const DnnOperand *DnnMaker::slot(int argument) const {
  for (const DnnOperand &s : slots)
    if (s.argument == argument)
      return &s;
  return nullptr;
}

memory::desc DnnMaker::layout(int argument) const {
  const DnnOperand *s = slot(argument);
  if (!s)
    return memory::desc();
  if (attempt.packed && s->constant)
    if (std::optional<memory::desc> packed = result->packedLayout(*s))
      return *packed;
  bool any = attempt.any && argument != DNNL_ARG_BIAS;
  return any || s->constant ? anyLayout(s->user) : s->user;
}

void DnnMaker::appendPostOp(const plan::PostOp &op, dnnl::post_ops &ops) {
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
    // A shift of -0 changes nothing, one of 0 makes zeros positive.
    return eltwise(Algorithm::eltwise_linear, op.alpha(), op.beta() == 0 ? -0.f : op.beta());
  }
}

/// Of two functions of one kind in a primitive, oneDNN 2 gives both the parameters of the first.
static bool clashes(const plan::PostOp &a, const plan::PostOp &b) {
  bool hasOperand =
      a.kind() == plan::PostOpKind::add_operand || a.kind() == plan::PostOpKind::multiply_operand;
  return !hasOperand && a.kind() == b.kind() && (a.alpha() != b.alpha() || a.beta() != b.beta());
}

/// How many of the post-ops the primitive is given.
uint32_t DnnMaker::insideCount() const {
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

void DnnMaker::makeAttributes() {
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
void DnnMaker::appendBehind() {
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

void DnnMaker::makeGeometry() {
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
bool DnnMaker::suitsWinograd() const {
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

std::vector<DnnAttempt> DnnMaker::attempts() const {
  std::vector<DnnAttempt> list;
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
    std::vector<DnnAttempt> both = list;
    for (DnnAttempt &a : both)
      a.packed = true;
    both.insert(both.end(), list.begin(), list.end());
    return both;
  }
  return list;
}

std::unique_ptr<HostCommand> DnnMaker::make() {
  makeGeometry();
  const std::vector<DnnOperand> given = slots;
  std::vector<DnnAttempt> list = attempts();
  for (const DnnAttempt &next : list) {
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

Status gpucc::rt::makeDnnCall(const HostContext &context, const plan::LibraryCall &call,
                              std::unique_ptr<HostCommand> &command) {
  for (bool widen : {false, true}) {
    try {
      DnnMaker maker(context, call, widen);
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
