//===- LibraryCalls.cpp - contract and convolutions as library calls ------===//
#include "SegmentBuilder.h"

#include "dialects/Graph/Geometry.h"
#include "gpucc/Analysis/MatmulForm.h"
#include "gpucc/Analysis/PostOps.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

bool sched::isLibraryOp(Operation *op) {
  if (auto cluster = dyn_cast<graph::ClusterOp>(op))
    return cluster.getKind() == graph::ClusterKind::Library;
  return isa<graph::ContractOp, graph::ConvolutionOp, graph::ConvolutionInputGradOp,
             graph::ConvolutionFilterGradOp>(op);
}

static base::OperandAttr operand(Storage storage, Type element, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> strides = {}) {
  MLIRContext *context = element.getContext();
  return base::OperandAttr::get(context, storage.view(), RankedTensorType::get(shape, element),
                                strides);
}

namespace {
/// One call: the op of the library, where its operands and result lie, and what it does behind.
struct Call {
  Operation *library;
  SmallVector<Storage> operands;
  SmallVector<int64_t> constants;
  Storage result;
  NamedAttrList config;

  void create(OpBuilder &b, StringRef kind, ArrayRef<Attribute> args) {
    if (!constants.empty())
      config.set("constant", b.getDenseI64ArrayAttr(constants));
    LibraryCallOp::create(b, library->getLoc(), b.getStringAttr(kind), b.getArrayAttr(args),
                          config.getDictionary(b.getContext()),
                          b.getStringAttr(sourceName(library)));
  }
};
} // namespace

/// Dimensions of a matrix product's operand or result with these rows and columns.
static SmallVector<int64_t> matrixDims(const MatmulForm &form, int64_t rows, int64_t columns) {
  SmallVector<int64_t> d(form.batch.begin(), form.batch.end());
  d.append({rows, columns});
  return d;
}

static LogicalResult buildMatmul(OpBuilder &b, Call &call) {
  auto op = cast<graph::ContractOp>(call.library);
  std::optional<MatmulForm> form = matmulForm(op);
  if (!form)
    return op.emitOpError() << "is no matrix product over runs of memory; transpose its operands "
                               "first (gpucc-prepare-fusion does)";
  Type in = op.getLhs().getType().getElementType(), out = op.getResult().getType().getElementType();
  SmallVector<Attribute> args = {
      operand(call.operands[0], in, matrixDims(*form, form->m, form->k), form->lhsStrides),
      operand(call.operands[1], in, matrixDims(*form, form->k, form->n), form->rhsStrides),
      operand(call.result, out, matrixDims(*form, form->m, form->n), form->resultStrides)};
  bool tf32 = op.getPrecision() == graph::Precision::Tf32;
  call.config.set("math", b.getStringAttr(tf32 ? "tf32" : "strict"));
  call.create(b, "matmul", args);
  return success();
}

/// A tensor of a convolution as the library wants it, N,C,spatial…; `last`: in memory channels vary
/// fastest.
static base::OperandAttr image(Storage storage, Type type, bool last) {
  auto tensor = cast<RankedTensorType>(type);
  if (!last)
    return operand(storage, tensor.getElementType(), tensor.getShape());
  std::vector<int64_t> strides = HostTensor::stridesOf(toShape(tensor));
  return operand(storage, tensor.getElementType(), graph::channelsFirst(tensor.getShape()),
                 graph::channelsFirst(strides));
}

/// One of the three products of a convolution: the graph's operands are in the library's order.
template <typename Op>
static void buildConvolution(OpBuilder &b, Call &call, Op op, StringRef kind, bool last = false) {
  SmallVector<Attribute> args = {image(call.operands[0], op->getOperand(0).getType(), last),
                                 image(call.operands[1], op->getOperand(1).getType(), false),
                                 image(call.result, op->getResult(0).getType(), last)};
  call.config.set("strides", b.getDenseI64ArrayAttr(op.getStrides()));
  call.config.set("dilations", b.getDenseI64ArrayAttr(op.getDilations()));
  call.config.set("pads_begin", b.getDenseI64ArrayAttr(op.getPadsLow()));
  call.config.set("pads_end", b.getDenseI64ArrayAttr(op.getPadsHigh()));
  call.config.set("groups", b.getI64IntegerAttr(op.getGroups()));
  call.create(b, kind, args);
}

static LogicalResult buildCall(OpBuilder &b, Call &call) {
  if (isa<graph::ContractOp>(call.library))
    return buildMatmul(b, call);
  if (auto conv = dyn_cast<graph::ConvolutionOp>(call.library))
    buildConvolution(b, call, conv, "conv", conv.getChannelsLast());
  else if (auto grad = dyn_cast<graph::ConvolutionInputGradOp>(call.library))
    buildConvolution(b, call, grad, "conv_backward_data");
  else
    buildConvolution(b, call, cast<graph::ConvolutionFilterGradOp>(call.library),
                     "conv_backward_weights");
  return success();
}

/// The second operand of a post-op in the library's dimensions.
static base::OperandAttr postOperand(Operation *library, const PostOp &post, Storage storage) {
  auto type = cast<RankedTensorType>(post.operand.getType());
  Type element = type.getElementType();
  if (post.kind == "bias")
    return operand(storage, element, type.getShape());
  if (auto conv = dyn_cast<graph::ConvolutionOp>(library)) {
    if (!post.perChannel)
      return image(storage, type, conv.getChannelsLast());
    SmallVector<int64_t> shape(conv.getResult().getType().getRank(), 1);
    shape[1] = type.getDimSize(0);
    return operand(storage, element, shape);
  }
  MatmulForm form = *matmulForm(cast<graph::ContractOp>(library));
  if (!post.perChannel)
    return operand(storage, element, matrixDims(form, form.m, form.n), form.resultStrides);
  SmallVector<int64_t> shape(form.batch.size() + 2, 1);
  shape.back() = form.n;
  return operand(storage, element, shape);
}

/// A factor and then a shift are one step, a x + b. Nothing else is: two factors may overflow between, and two shifts
/// (x + 12582912 - 12582912, which rounds) mean more than their sum.
static bool mergeLinear(PostOp &last, const PostOp &next) {
  if (last.kind != "linear" || next.kind != "linear" || last.beta != 0 || next.alpha != 1)
    return false;
  last.beta = next.beta;
  return true;
}

static Attribute postOpAttr(OpBuilder &b, const PostOp &post, base::OperandAttr second) {
  NamedAttrList entry;
  entry.set("kind", b.getStringAttr(post.kind));
  if (post.alpha != 0)
    entry.set("alpha", b.getF64FloatAttr(post.alpha));
  if (post.beta != 0)
    entry.set("beta", b.getF64FloatAttr(post.beta));
  if (second)
    entry.set("operand", second);
  return entry.getDictionary(b.getContext());
}

/// The ops of a library cluster behind the call, as its bias and post-ops.
static LogicalResult addPostOps(OpBuilder &b, Call &call, graph::ClusterOp cluster,
                                function_ref<Storage(Value)> placeOf) {
  SmallVector<std::pair<PostOp, base::OperandAttr>> posts;
  Value chain = call.library->getResult(0);
  for (Operation &op : cluster.getBody().front().without_terminator()) {
    if (!llvm::is_contained(op.getOperands(), chain))
      continue; // constants and broadcasts, which asPostOp looks through
    std::optional<PostOp> post = asPostOp(&op, chain, call.library);
    if (!post)
      return op.emitOpError() << "is no work that the library does on its result";
    chain = op.getResult(0);
    base::OperandAttr second;
    if (post->operand)
      second = postOperand(call.library, *post, placeOf(post->operand));
    if (post->kind == "bias") {
      call.config.set("bias", second);
      continue;
    }
    if (posts.empty() || !mergeLinear(posts.back().first, *post))
      posts.push_back({*post, second});
  }
  SmallVector<Attribute> attributes;
  for (auto &[post, second] : posts)
    attributes.push_back(postOpAttr(b, post, second));
  if (!attributes.empty())
    call.config.set("post_ops", b.getArrayAttr(attributes));
  return success();
}

LogicalResult sched::buildLibraryCall(OpBuilder &b, Operation *op, ArrayRef<Storage> operands,
                                      ArrayRef<int64_t> constants, Storage result) {
  auto cluster = dyn_cast<graph::ClusterOp>(op);
  if (!cluster) {
    Call call{op, SmallVector<Storage>(operands), SmallVector<int64_t>(constants), result, {}};
    return buildCall(b, call);
  }
  auto place = [&](Value v) { return operands[cast<BlockArgument>(v).getArgNumber()]; };
  Call call{libraryOpOf(cluster), {}, {}, result, {}};
  for (auto [i, v] : llvm::enumerate(call.library->getOperands())) {
    call.operands.push_back(place(v));
    if (llvm::is_contained(constants, static_cast<int64_t>(cast<BlockArgument>(v).getArgNumber())))
      call.constants.push_back(static_cast<int64_t>(i));
  }
  if (failed(addPostOps(b, call, cluster, place)))
    return failure();
  return buildCall(b, call);
}
