//===- VerifyLibrary.cpp - Library calls: operands and shapes agree
//-----------------------------===//
#include "plan/Verify.h"

using namespace gpucc::rt;
using namespace gpucc::rt::verify;

namespace {
using Dims = flatbuffers::Vector<int64_t>;
using Kind = plan::LibraryKind;

Status checkOperand(const plan::Plan &plan, const plan::Program &program,
                    const plan::Operand &operand) {
  GPUCC_RT_REQUIRE(inRange(operand.dtype(), plan::DType::MAX), "unknown element type");
  GPUCC_RT_TRY(view(program, operand.view()));
  uint64_t bytes = 0;
  GPUCC_RT_TRY(spannedBytes(operand.dtype(), operand.dims(), operand.strides(), bytes));
  GPUCC_RT_REQUIRE(bytes <= operand.view()->size(), "covers ", bytes, " bytes, its view has ",
                   operand.view()->size());
  if (operand.packed() != -1) {
    GPUCC_RT_REQUIRE(
        operand.packed() >= 0 && static_cast<uint32_t>(operand.packed()) < length(plan.blobs()) &&
            plan.blobs()->Get(operand.packed())->kind() == plan::BlobKind::packed_weight,
        "packed blob ", operand.packed());
    GPUCC_RT_REQUIRE(operand.constant(), "a packed operand must be constant");
  }
  return {};
}

/// `b` is `a` or 1 (broadcast).
bool broadcasts(int64_t from, int64_t to) { return from == to || from == 1; }

Status checkMatmul(const Dims &a, const Dims &b, const Dims &c) {
  uint32_t r = c.size();
  GPUCC_RT_REQUIRE(r >= 2 && a.size() == r && b.size() == r, "ranks ", a.size(), ", ", b.size(),
                   ", ", r, ": a matmul has equal ranks >= 2");
  for (uint32_t d = 0; d + 2 < r; ++d)
    GPUCC_RT_REQUIRE(broadcasts(a.Get(d), c.Get(d)) && broadcasts(b.Get(d), c.Get(d)),
                     "batch dimension ", d, " differs");
  GPUCC_RT_REQUIRE(a.Get(r - 2) == c.Get(r - 2) && b.Get(r - 1) == c.Get(r - 1) &&
                       a.Get(r - 1) == b.Get(r - 2),
                   "M, N or K differ between the operands");
  return {};
}

/// Spatial attributes: present once per spatial dimension, or absent (default).
int64_t attribute(const Dims *values, uint32_t d, int64_t otherwise) {
  return length(values) ? values->Get(d) : otherwise;
}

Status checkWindow(const plan::LibraryCall &call, uint32_t d, int64_t in, int64_t out,
                   int64_t window) {
  int64_t stride = attribute(call.strides(), d, 1), dilation = attribute(call.dilations(), d, 1);
  int64_t begin = attribute(call.pads_begin(), d, 0), end = attribute(call.pads_end(), d, 0);
  constexpr int64_t limit = int64_t(1) << 30;
  GPUCC_RT_REQUIRE(stride >= 1 && stride < limit && dilation >= 1 && dilation < limit &&
                       begin >= 0 && begin < limit && end >= 0 && end < limit && window >= 1 &&
                       window < limit && in < limit,
                   "spatial dimension ", d, ": stride, dilation, padding or window out of range");
  int64_t covered = in + begin + end - ((window - 1) * dilation + 1);
  GPUCC_RT_REQUIRE(covered >= 0 && covered / stride + 1 == out, "spatial dimension ", d, ": ", in,
                   " with window ", window, ", stride ", stride, ", dilation ", dilation,
                   " and padding ", begin, "+", end, " does not give ", out);
  return {};
}

Status checkAttributeLengths(const plan::LibraryCall &call, uint32_t spatial) {
  for (const Dims *values : {call.strides(), call.dilations(), call.pads_begin(), call.pads_end()})
    GPUCC_RT_REQUIRE(length(values) == 0 || values->size() == spatial, "an attribute has ",
                     length(values), " values for ", spatial, " spatial dimensions");
  return {};
}

Status checkConv(const plan::LibraryCall &call, const Dims &source, const Dims &weights,
                 const Dims &result) {
  uint32_t r = source.size();
  GPUCC_RT_REQUIRE(r >= 3 && r <= 5 && weights.size() == r && result.size() == r,
                   "a convolution has operands of equal rank 3 to 5");
  GPUCC_RT_TRY(checkAttributeLengths(call, r - 2));
  int64_t groups = call.groups();
  GPUCC_RT_REQUIRE(groups >= 1 && weights.Get(0) % groups == 0, groups, " groups, ", weights.Get(0),
                   " output channels");
  int64_t channels = 0;
  bool overflow = __builtin_mul_overflow(weights.Get(1), groups, &channels);
  GPUCC_RT_REQUIRE(!overflow && channels == source.Get(1) && result.Get(1) == weights.Get(0) &&
                       result.Get(0) == source.Get(0),
                   "batch or channels differ between the operands");
  for (uint32_t d = 0; d + 2 < r; ++d)
    GPUCC_RT_TRY(checkWindow(call, d, source.Get(d + 2), result.Get(d + 2), weights.Get(d + 2)));
  return {};
}

Status checkPool(const plan::LibraryCall &call, const Dims &source, const Dims &result) {
  uint32_t r = source.size();
  GPUCC_RT_REQUIRE(r >= 3 && r <= 5 && result.size() == r && length(call.window()) == r - 2,
                   "pooling has operands of equal rank 3 to 5 and a window");
  GPUCC_RT_TRY(checkAttributeLengths(call, r - 2));
  GPUCC_RT_REQUIRE(source.Get(0) == result.Get(0) && source.Get(1) == result.Get(1),
                   "batch or channels differ");
  for (uint32_t d = 0; d + 2 < r; ++d)
    GPUCC_RT_TRY(checkWindow(call, d, source.Get(d + 2), result.Get(d + 2), call.window()->Get(d)));
  return {};
}

Status checkPostOps(const plan::LibraryCall &call, const Dims &result) {
  return forEach(call.post_ops(), "post_ops", [&](const plan::PostOp &op, uint32_t) -> Status {
    GPUCC_RT_REQUIRE(inRange(op.kind(), plan::PostOpKind::MAX), "unknown kind");
    if (op.kind() > plan::PostOpKind::multiply_operand)
      return {};
    GPUCC_RT_REQUIRE(op.operand() >= 0 &&
                         static_cast<uint32_t>(op.operand()) < length(call.extra_operands()),
                     "operand ", op.operand());
    const Dims *dims = call.extra_operands()->Get(op.operand())->dims();
    GPUCC_RT_REQUIRE(length(dims) == result.size(), "its operand has rank ", length(dims),
                     ", the result ", result.size());
    for (uint32_t d = 0; d < result.size(); ++d)
      GPUCC_RT_REQUIRE(broadcasts(dims->Get(d), result.Get(d)), "dimension ", d,
                       " of its operand does not broadcast");
    return {};
  });
}
} // namespace

Status verify::libraryCall(const plan::Plan &plan, const plan::Program &program,
                           const plan::LibraryCall &call) {
  GPUCC_RT_REQUIRE(inRange(call.kind(), Kind::MAX) && inRange(call.math(), plan::MathMode::MAX),
                   "unknown kind of library call");
  for (const Dims *values :
       {call.strides(), call.dilations(), call.pads_begin(), call.pads_end(), call.window()})
    GPUCC_RT_TRY(aligned(values));
  auto operand = [&](const plan::Operand &o, uint32_t) { return checkOperand(plan, program, o); };
  GPUCC_RT_TRY(forEach(call.operands(), "operands", operand));
  GPUCC_RT_TRY(forEach(call.extra_operands(), "extra_operands", operand));
  bool binary = call.kind() <= Kind::conv_backward_weights;
  GPUCC_RT_REQUIRE(length(call.operands()) == (binary ? 3u : 2u), length(call.operands()),
                   " operands");
  const Dims *dims[3] = {};
  for (uint32_t i = 0; i < call.operands()->size(); ++i) {
    dims[i] = call.operands()->Get(i)->dims();
    GPUCC_RT_REQUIRE(length(dims[i]) > 0, "operand ", i, " has no dimensions");
  }
  const Dims *result = binary ? dims[2] : dims[1];
  switch (call.kind()) {
  case Kind::matmul:
    GPUCC_RT_TRY(checkMatmul(*dims[0], *dims[1], *dims[2]));
    break;
  case Kind::conv:
    GPUCC_RT_TRY(checkConv(call, *dims[0], *dims[1], *dims[2]));
    break;
  case Kind::conv_backward_data:
    GPUCC_RT_TRY(checkConv(call, *dims[2], *dims[1], *dims[0]));
    break;
  case Kind::conv_backward_weights:
    GPUCC_RT_TRY(checkConv(call, *dims[0], *dims[2], *dims[1]));
    break;
  case Kind::reorder:
    GPUCC_RT_REQUIRE(std::equal(dims[0]->begin(), dims[0]->end(), dims[1]->begin(), dims[1]->end()),
                     "source and destination of a reorder differ in shape");
    break;
  default:
    GPUCC_RT_TRY(checkPool(call, *dims[0], *dims[1]));
  }
  if (call.bias()) {
    GPUCC_RT_TRY(checkOperand(plan, program, *call.bias()).prefixed("bias"));
    int64_t channels =
        call.kind() == Kind::matmul ? result->Get(result->size() - 1) : result->Get(1);
    GPUCC_RT_REQUIRE((call.kind() == Kind::matmul || call.kind() == Kind::conv) &&
                         length(call.bias()->dims()) == 1 &&
                         call.bias()->dims()->Get(0) == channels,
                     "bias is [N] of a matmul or [O] of a convolution");
  }
  return checkPostOps(call, *result);
}
