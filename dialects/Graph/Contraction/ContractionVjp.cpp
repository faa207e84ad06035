//===- ContractionVjp.cpp - derivatives of contractions -------------------===//
//
//   y = x · w:   dx = g · wᵀ,  dw = xᵀ · g     (any batch, free and contracted dimensions)
//
// The three convolutions are each other's derivatives, so the set is closed.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Geometry.h"

using namespace mlir;
using namespace gpucc::graph;

/// Gradient of one operand (`self`): grad contracted with the other one over the other's free
/// dimensions, in the order of self's dimensions. `gradFree` are grad's dimensions that came from
/// self, `gradOther` those from the other.
static Value operandGrad(GraphBuilder &g, Value grad, Value self, Value other,
                         ArrayRef<int64_t> selfBatch, ArrayRef<int64_t> otherBatch,
                         ArrayRef<int64_t> selfContract, ArrayRef<int64_t> otherContract,
                         ArrayRef<int64_t> selfFree, ArrayRef<int64_t> otherFree,
                         ArrayRef<int64_t> gradOther, Precision precision) {
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, selfBatch.size()));
  Value product =
      ContractOp::create(g.builder, g.loc, g.convert(grad, tensorOf(self).getElementType()), other,
                         batch, otherBatch, gradOther, otherFree, TypeAttr(), precision);
  // The product's dimensions, named by self's: batch, free, then contracted in the other's order.
  SmallVector<int64_t> named(selfBatch);
  llvm::append_range(named, selfFree);
  SmallVector<std::pair<int64_t, int64_t>> contracted;
  for (auto [mine, others] : llvm::zip(selfContract, otherContract))
    contracted.push_back({others, mine});
  llvm::sort(contracted);
  for (auto [others, mine] : contracted)
    named.push_back(mine);
  SmallVector<int64_t> permutation(named.size());
  for (auto [position, dim] : llvm::enumerate(named))
    permutation[dim] = position;
  return g.transpose(product, permutation);
}

LogicalResult ContractOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0];
  if (!grad || !isa<FloatType>(tensorOf(getLhs()).getElementType()))
    return success();
  GraphBuilder g(builder, getLoc());
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  int64_t batch = getLhsBatch().size(), fromLhs = lhsFree.size(), fromRhs = rhsFree.size();
  auto lhsDims = llvm::to_vector(llvm::seq<int64_t>(batch, batch + fromLhs));
  auto rhsDims = llvm::to_vector(llvm::seq<int64_t>(batch + fromLhs, batch + fromLhs + fromRhs));
  if (needed[0])
    operandGrads[0] =
        operandGrad(g, grad, getLhs(), getRhs(), getLhsBatch(), getRhsBatch(), getLhsContract(),
                    getRhsContract(), lhsFree, rhsFree, rhsDims, getPrecision());
  if (needed[1])
    operandGrads[1] =
        operandGrad(g, grad, getRhs(), getLhs(), getRhsBatch(), getLhsBatch(), getRhsContract(),
                    getLhsContract(), rhsFree, lhsFree, lhsDims, getPrecision());
  return success();
}

// The attributes that the three convolutions share.
template <typename Op> static Value convolution(OpBuilder &b, Op op, Value input, Value filter) {
  return ConvolutionOp::create(b, op.getLoc(), input, filter, op.getStrides(), op.getPadsLow(),
                               op.getPadsHigh(), op.getDilations(), op.getGroups());
}
template <typename Op>
static Value inputGrad(OpBuilder &b, Op op, Value grad, Value filter, ArrayRef<int64_t> shape) {
  return ConvolutionInputGradOp::create(b, op.getLoc(), grad, filter, shape, op.getStrides(),
                                        op.getPadsLow(), op.getPadsHigh(), op.getDilations(),
                                        op.getGroups());
}
template <typename Op>
static Value filterGrad(OpBuilder &b, Op op, Value input, Value grad, ArrayRef<int64_t> shape) {
  return ConvolutionFilterGradOp::create(b, op.getLoc(), input, grad, shape, op.getStrides(),
                                         op.getPadsLow(), op.getPadsHigh(), op.getDilations(),
                                         op.getGroups());
}

LogicalResult ConvolutionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed, MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0], input = getInput();
  if (!grad)
    return success();
  GraphBuilder g(builder, getLoc());
  int64_t rank = tensorOf(input).getRank();
  if (getChannelsLast()) {
    grad = g.transpose(grad, channelsFirstPermutation(rank));
    input = g.transpose(input, channelsFirstPermutation(rank));
  }
  if (needed[0]) {
    operandGrads[0] = inputGrad(builder, *this, grad, getFilter(), tensorOf(input).getShape());
    if (getChannelsLast())
      operandGrads[0] = g.transpose(operandGrads[0], channelsLastPermutation(rank));
  }
  if (needed[1])
    operandGrads[1] = filterGrad(builder, *this, input, grad, tensorOf(getFilter()).getShape());
  return success();
}

LogicalResult ConvolutionInputGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                               ArrayRef<bool> needed,
                                               MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0]; // of the shape of the convolution's input
  if (grad && needed[0])
    operandGrads[0] = convolution(builder, *this, grad, getFilter());
  if (grad && needed[1])
    operandGrads[1] = filterGrad(builder, *this, grad, getGrad(), tensorOf(getFilter()).getShape());
  return success();
}

LogicalResult ConvolutionFilterGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                                ArrayRef<bool> needed,
                                                MutableArrayRef<Value> operandGrads) {
  Value grad = resultGrads[0]; // of the shape of the filter
  if (grad && needed[0])
    operandGrads[0] = inputGrad(builder, *this, getGrad(), grad, tensorOf(getInput()).getShape());
  if (grad && needed[1])
    operandGrads[1] = convolution(builder, *this, getInput(), grad);
  return success();
}
