//===- HostDnnPrimitives.cpp - One attempt for each kind of primitive
//-------------------------------===//
//
//   matmul, layouts of the plan, bias and gelu inside  ->  a primitive, or "not a fast one"
//
//===--------------------------------------------------------------------------------------------===//
#include "drivers/HostDnnMaker.h"

#include <cstring>

using namespace gpucc::rt;
using dnnl::memory;
using LibKind = plan::LibraryKind;

/// Whether an implementation is one of the fast ones.
bool DnnMaker::accepts(const char *implementation) const {
  bool ownLayouts = call.kind() != LibKind::matmul && call.kind() != LibKind::reorder;
  bool slow = std::strstr(implementation, "ref") ||
              (ownLayouts && !attempt.any && std::strstr(implementation, "gemm:"));
  return isLast || !slow;
}

template <typename Desc>
void DnnMaker::finish(const Desc &desc,
                      std::initializer_list<std::pair<int, memory::desc>> layouts) {
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

bool DnnMaker::makeMatmul() {
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

bool DnnMaker::makeReorder() {
  dnnl::reorder::primitive_desc pd(result->engine(), layout(DNNL_ARG_SRC), result->engine(),
                                   layout(DNNL_ARG_DST), attributes);
  finish(pd, {{DNNL_ARG_FROM, pd.src_desc()}, {DNNL_ARG_TO, pd.dst_desc()}});
  return true;
}

dnnl::convolution_forward::primitive_desc DnnMaker::forwardHint(const memory::desc &source,
                                                                const memory::desc &weights,
                                                                const memory::desc &destination) {
  return {dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training,
                                          dnnl::algorithm::convolution_direct, source, weights,
                                          destination, strides, dilations, padsBegin, padsEnd),
          result->engine()};
}

bool DnnMaker::makeConv() {
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

bool DnnMaker::makeConvBackwardData() {
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

bool DnnMaker::makeConvBackwardWeights() {
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

bool DnnMaker::makePool() {
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

bool DnnMaker::makeKind() {
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
