//===- EmitSkeleton.cpp - products with their epilogue --------------------===//
//
// The product itself is one op of the kernel dialect; the rest of the cluster
// is asked for at the product's element and becomes its epilogue.
//
//   %0 = graph.contract %x, %w …           kernel.contract %x, %w … epilogue {
//   %1 = graph.broadcast %b …              ^bb0(%acc: f32, %z: index, %i: index, %j: index):
//   %2 = graph.binary add %0, %1             %0 = kernel.load %b[%j]
//                                            %1 = arith.addf %acc, %0
//                                            kernel.store %1, %y[%i, %j] }
//
//===----------------------------------------------------------------------===//
#include "ClusterEmitter.h"

#include "gpucc/Analysis/MatmulForm.h"

using namespace mlir;
using namespace gpucc;

/// The accumulator of a product of such elements.
static Type accumulatorOf(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<FloatType>(element))
    return element.isF64() ? element : Type(Float32Type::get(context));
  return IntegerType::get(context, cast<IntegerType>(element).getWidth() > 32 ? 64 : 32);
}

static kernel::MathMode mathOf(graph::Precision precision) {
  return precision == graph::Precision::Tf32 ? kernel::MathMode::Tf32 : kernel::MathMode::Strict;
}

/// The epilogue: what the cluster makes of the accumulator, at indices over `extents`, which
/// number the product's elements row-major.
static auto epilogue(KernelContext &k, const ClusterDomain &domain, Value product,
                     ArrayRef<int64_t> extents) {
  return [&k, &domain, product, extents](OpBuilder &b, Location loc, ValueRange args) {
    PointEmitter point(k.context(), domain, k.views);
    point.setLoc(loc);
    SmallVector<unsigned> numbers = point.pushScope(b, args.drop_front(), extents);
    point.bindDigits(numbers);
    Type type = scalarType(getElementTypeOrSelf(product.getType()));
    point.define(product, fromAccumulator(b, loc, args.front(), type));
    SmallVector<Value> scalars;
    for (Value v : k.outputs)
      scalars.push_back(point.get(v, domain.positions.lookup(v)));
    for (auto [v, s, view] : llvm::zip_equal(k.outputs, scalars, k.outputViews))
      point.store(s, view, domain.positions.lookup(v), shapeOf(v));
    point.popScope();
  };
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Offset of (b, x, y) with `strides` = batch..., x, y; b numbers the batch dimensions row-major.
static AffineMap operandMap(MLIRContext *context, ArrayRef<int64_t> batch,
                            ArrayRef<int64_t> strides) {
  int64_t batches = 1;
  for (int64_t e : batch)
    batches *= e;
  IndexMath math(context, {batches, INT64_MAX, INT64_MAX});
  Index at = math.delinearize(math.dim(0), batch);
  AffineExpr offset = math.constant(0);
  for (auto [e, s] : llvm::zip(at, strides))
    offset = offset + e * s;
  offset = offset + math.dim(1) * strides[batch.size()] + math.dim(2) * strides[batch.size() + 1];
  return AffineMap::get(3, 0, math.simplify(offset));
}

static LogicalResult emitContract(KernelContext &k, const ClusterDomain &domain,
                                  graph::ContractOp op) {
  std::optional<MatmulForm> form = matmulForm(op);
  if (!form)
    return k.cluster.emitOpError("holds a contract whose dimensions are no runs of memory; run "
                                 "gpucc-prepare-fusion first");
  int64_t batch = 1;
  for (int64_t e : form->batch)
    batch *= e;
  SmallVector<int64_t> elements{batch, form->m, form->n};
  OpBuilder b = k.builder();
  kernel::ContractOp::create(
      b, op.getLoc(), k.views.lookup(op.getLhs()), k.views.lookup(op.getRhs()),
      {batch, form->m, form->n, form->k}, operandMap(k.context(), form->batch, form->lhsStrides),
      operandMap(k.context(), form->batch, form->rhsStrides), mathOf(op.getPrecision()),
      accumulatorOf(scalarType(getElementTypeOrSelf(op.getLhs().getType()))),
      epilogue(k, domain, op.getResult(), elements));
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult emitConvolution(KernelContext &k, const ClusterDomain &domain, Op op,
                                     kernel::ConvolutionKind kind) {
  OpBuilder b = k.builder();
  SmallVector<int64_t> shape(shapeOf(op.getResult()));
  Value lhs = k.views.lookup(op->getOperand(0)), rhs = k.views.lookup(op->getOperand(1));
  for (auto [view, tensor] : {std::pair(lhs, op->getOperand(0)), std::pair(rhs, op->getOperand(1))})
    view.setType(
        MemRefType::get(shapeOf(tensor), scalarType(getElementTypeOrSelf(tensor.getType()))));
  kernel::ConvolutionOp::create(b, op.getLoc(), kind, lhs, rhs, shape, op.getStrides(),
                                op.getPadsLow(), op.getPadsHigh(), op.getDilations(),
                                op.getGroups(), kernel::MathMode::Strict,
                                accumulatorOf(getElementTypeOrSelf(op->getOperand(0).getType())),
                                epilogue(k, domain, op.getResult(), shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Row-major offset of four indices; dimensions of size 1 are broadcast.
static AffineMap rowMajorMap(MLIRContext *context, ArrayRef<int64_t> shape) {
  AffineExpr offset = getAffineConstantExpr(0, context);
  int64_t stride = 1;
  for (unsigned d = shape.size(); d-- > 0; stride *= shape[d])
    if (shape[d] != 1)
      offset = getAffineDimExpr(d, context) * stride + offset;
  return AffineMap::get(shape.size(), 0, offset);
}

static LogicalResult emitAttention(KernelContext &k, const ClusterDomain &domain,
                                   graph::AttentionOp op) {
  ArrayRef<int64_t> q = shapeOf(op.getQ()), key = shapeOf(op.getK()), v = shapeOf(op.getV());
  Value bias = op.getBias() ? k.views.lookup(op.getBias()) : Value();
  AffineMap biasMap = op.getBias() ? rowMajorMap(k.context(), shapeOf(op.getBias())) : AffineMap();
  SmallVector<int64_t> shape(shapeOf(op.getResult()));
  OpBuilder b = k.builder();
  kernel::AttentionOp::create(
      b, op.getLoc(), k.views.lookup(op.getQ()), k.views.lookup(op.getK()),
      k.views.lookup(op.getV()), bias, {q[0], q[1], key[1], q[2], key[2], q[3], v[3]},
      rowMajorMap(k.context(), q), rowMajorMap(k.context(), key), rowMajorMap(k.context(), v),
      biasMap, op.getScale().convertToDouble(), op.getCausal(),
      accumulatorOf(getElementTypeOrSelf(op.getQ().getType())),
      epilogue(k, domain, op.getResult(), shape));
  return success();
}

LogicalResult gpucc::emitSkeleton(KernelContext &k, const ClusterDomain &domain) {
  for (Operation *op : k.ops) {
    if (roleOf(op) != OpRole::Skeleton)
      continue;
    if (auto contract = dyn_cast<graph::ContractOp>(op))
      return emitContract(k, domain, contract);
    if (auto attention = dyn_cast<graph::AttentionOp>(op))
      return emitAttention(k, domain, attention);
    if (auto forward = dyn_cast<graph::ConvolutionOp>(op))
      return emitConvolution(k, domain, forward, kernel::ConvolutionKind::Forward);
    if (auto grad = dyn_cast<graph::ConvolutionInputGradOp>(op))
      return emitConvolution(k, domain, grad, kernel::ConvolutionKind::InputGrad);
    return emitConvolution(k, domain, cast<graph::ConvolutionFilterGradOp>(op),
                           kernel::ConvolutionKind::FilterGrad);
  }
  return failure();
}
