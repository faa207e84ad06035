//===- LibraryCalls.cpp - contract and convolutions as library calls ------===//
#include "SegmentBuilder.h"

#include "gpucc/Analysis/MatmulForm.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

bool sched::isLibraryOp(Operation *op) {
  return isa<graph::ContractOp, graph::ConvolutionOp, graph::ConvolutionInputGradOp,
             graph::ConvolutionFilterGradOp>(op);
}

static base::OperandAttr operand(Storage storage, Type element, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> strides = {}) {
  MLIRContext *context = element.getContext();
  return base::OperandAttr::get(context, storage.view(), RankedTensorType::get(shape, element),
                                strides);
}

static void setConstants(OpBuilder &b, NamedAttrList &config, ArrayRef<int64_t> constants) {
  if (!constants.empty())
    config.set("constant", b.getDenseI64ArrayAttr(constants));
}

static LogicalResult buildMatmul(OpBuilder &b, graph::ContractOp op, ArrayRef<Storage> operands,
                                 ArrayRef<int64_t> constants, Storage result) {
  std::optional<MatmulForm> form = matmulForm(op);
  if (!form)
    return op.emitOpError() << "is no matrix product over runs of memory; transpose its operands "
                               "first (gpucc-prepare-fusion does)";
  auto dims = [&](int64_t rows, int64_t columns) {
    SmallVector<int64_t> d(form->batch.begin(), form->batch.end());
    d.append({rows, columns});
    return d;
  };
  Type in = op.getLhs().getType().getElementType(), out = op.getResult().getType().getElementType();
  SmallVector<Attribute> args = {
      operand(operands[0], in, dims(form->m, form->k), form->lhsStrides),
      operand(operands[1], in, dims(form->k, form->n), form->rhsStrides),
      operand(result, out, dims(form->m, form->n), form->resultStrides)};
  bool tf32 = op.getPrecision() == graph::Precision::Tf32;
  NamedAttrList config;
  config.set("math", b.getStringAttr(tf32 ? "tf32" : "strict"));
  setConstants(b, config, constants);
  LibraryCallOp::create(b, op.getLoc(), b.getStringAttr("matmul"), b.getArrayAttr(args),
                        config.getDictionary(b.getContext()), b.getStringAttr(sourceName(op)));
  return success();
}

/// One of the three products of a convolution; `order` lists the storages in the library's order.
template <typename Op>
static LogicalResult buildConvolution(OpBuilder &b, Op op, StringRef kind,
                                      ArrayRef<std::pair<Storage, Type>> order,
                                      ArrayRef<int64_t> constants) {
  SmallVector<Attribute> args;
  for (auto [storage, type] : order) {
    auto tensor = cast<RankedTensorType>(type);
    args.push_back(operand(storage, tensor.getElementType(), tensor.getShape()));
  }
  NamedAttrList config;
  config.set("strides", b.getDenseI64ArrayAttr(op.getStrides()));
  config.set("dilations", b.getDenseI64ArrayAttr(op.getDilations()));
  config.set("pads_begin", b.getDenseI64ArrayAttr(op.getPadsLow()));
  config.set("pads_end", b.getDenseI64ArrayAttr(op.getPadsHigh()));
  config.set("groups", b.getI64IntegerAttr(op.getGroups()));
  setConstants(b, config, constants);
  LibraryCallOp::create(b, op.getLoc(), b.getStringAttr(kind), b.getArrayAttr(args),
                        config.getDictionary(b.getContext()), b.getStringAttr(sourceName(op)));
  return success();
}

LogicalResult sched::buildLibraryCall(OpBuilder &b, Operation *op, ArrayRef<Storage> operands,
                                      ArrayRef<int64_t> constants, Storage result) {
  if (auto contract = dyn_cast<graph::ContractOp>(op))
    return buildMatmul(b, contract, operands, constants, result);
  Type in0 = op->getOperand(0).getType(), in1 = op->getOperand(1).getType(),
       out = op->getResult(0).getType();
  if (auto conv = dyn_cast<graph::ConvolutionOp>(op))
    return buildConvolution(b, conv, "conv",
                            {{operands[0], in0}, {operands[1], in1}, {result, out}}, constants);
  if (auto grad = dyn_cast<graph::ConvolutionInputGradOp>(op))
    return buildConvolution(b, grad, "conv_backward_data",
                            {{operands[0], in0}, {operands[1], in1}, {result, out}}, constants);
  return buildConvolution(b, cast<graph::ConvolutionFilterGradOp>(op), "conv_backward_weights",
                          {{operands[0], in0}, {operands[1], in1}, {result, out}}, constants);
}
