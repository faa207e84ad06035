//===- CompositesInfer.cpp - types and constraints of composites ----------===//
//
//   attention q[2,8,16,64], k[2,2,16,64], v[2,2,16,64] yields [2,8,16,64]
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Infer.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Composites/CompositesOps.cpp.inc"

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (failed(c.checkDim("C1", "dim", adaptor.getDim(), x.getRank())))
    return failure();
  if (x.getDimSize(adaptor.getDim()) == 0)
    return c.fail("(C1) dimension " + Twine(adaptor.getDim()) + " of " + str(x) + " is empty",
                  "softmax needs at least one element per row");
  types.push_back(x);
  return success();
}

/// The constraints that layer_norm and rms_norm share; `affine` are scale and bias or null.
static LogicalResult checkNorm(const InferContext &c, RankedTensorType x, int64_t begin,
                               double epsilon, ArrayRef<std::pair<StringRef, Value>> affine,
                               bool sameElement) {
  if (failed(c.checkDim("C1", "begin", begin, x.getRank())))
    return failure();
  for (auto [name, v] : affine) {
    if (!v)
      continue;
    RankedTensorType t = tensorOf(v);
    if (t.getShape() != x.getShape().drop_front(begin) ||
        (sameElement && t.getElementType() != x.getElementType()))
      return c.fail(
          "(C2) " + name + " is " + str(t) + " for x " + str(x) + " and `begin` = " + Twine(begin),
          "it has the shape of the normalized dimensions, " + str(x.getShape().drop_front(begin)) +
              (sameElement ? ", and the element type of x" : ""));
  }
  if (!(epsilon >= 0))
    return c.fail("(C3) `epsilon` is " + Twine(std::to_string(epsilon)), "it is not negative");
  return success();
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (failed(checkNorm(c, x, adaptor.getBegin(), adaptor.getEpsilon().convertToDouble(),
                       {{"scale", adaptor.getScale()}, {"bias", adaptor.getBias()}}, true)))
    return failure();
  types.push_back(x);
  return success();
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (failed(checkNorm(c, x, adaptor.getBegin(), adaptor.getEpsilon().convertToDouble(),
                       {{"scale", adaptor.getScale()}}, false)))
    return failure();
  types.push_back(x);
  return success();
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  if (x.getRank() < 2)
    return c.fail("(C1) x is " + str(x), "its rank is at least 2: N, C, …");
  std::pair<StringRef, Value> others[] = {{"scale", adaptor.getScale()},
                                          {"bias", adaptor.getBias()},
                                          {"mean", adaptor.getMean()},
                                          {"variance", adaptor.getVariance()}};
  for (auto [name, v] : others)
    if (tensorOf(v).getShape() != x.getShape().slice(1, 1))
      return c.fail("(C1) " + name + " is " + str(v.getType()) + " for x " + str(x),
                    "it has one entry per channel, [" + Twine(x.getDimSize(1)) + "]");
  types.assign({x, adaptor.getMean().getType(), adaptor.getVariance().getType()});
  return success();
}

LogicalResult GeluOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult SiluOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType q = tensorOf(adaptor.getQ()), k = tensorOf(adaptor.getK()),
                   v = tensorOf(adaptor.getV());
  bool fits = q.getRank() == 4 && k.getRank() == 4 && v.getRank() == 4 &&
              q.getDimSize(0) == k.getDimSize(0) && q.getDimSize(0) == v.getDimSize(0) &&
              k.getDimSize(1) == v.getDimSize(1) && k.getDimSize(2) == v.getDimSize(2) &&
              q.getDimSize(3) == k.getDimSize(3) && q.getElementType() == k.getElementType() &&
              q.getElementType() == v.getElementType();
  if (!fits)
    return c.fail("(C1) q is " + str(q) + ", k " + str(k) + ", v " + str(v),
                  "expected q [B,H,S,D], k [B,K,T,D], v [B,K,T,E] of one element type");
  int64_t heads = q.getDimSize(1), kvHeads = k.getDimSize(1);
  if (kvHeads == 0 || heads % kvHeads)
    return c.fail("(C2) q has " + Twine(heads) + " heads, k and v have " + Twine(kvHeads),
                  "the number of query heads is a multiple of that of key heads");
  int64_t scores[] = {q.getDimSize(0), heads, q.getDimSize(2), k.getDimSize(2)};
  if (Value bias = adaptor.getBias()) {
    RankedTensorType b = tensorOf(bias);
    bool broadcasts = b.getRank() == 4;
    for (int64_t d = 0; broadcasts && d < 4; ++d)
      broadcasts = b.getDimSize(d) == 1 || b.getDimSize(d) == scores[d];
    if (!broadcasts)
      return c.fail("(C3) bias is " + str(b) + ", the scores have shape " + str(scores),
                    "rank is 4 and each dimension is equal or 1; reshape the bias");
  }
  types.push_back(
      tensorOf({q.getDimSize(0), heads, q.getDimSize(2), v.getDimSize(3)}, q.getElementType()));
  return success();
}

LogicalResult RopeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX()), cos = tensorOf(adaptor.getCos());
  bool fits = x.getRank() == 4 && cos == adaptor.getSin().getType() &&
              (cos.getRank() == 2 || cos.getRank() == 3);
  if (fits) {
    int64_t r = cos.getRank();
    fits = cos.getDimSize(r - 2) == x.getDimSize(2) &&
           2 * cos.getDimSize(r - 1) <= x.getDimSize(3) &&
           (r == 2 || cos.getDimSize(0) == x.getDimSize(0));
  }
  if (!fits)
    return c.fail("(C1) x is " + str(x) + ", cos " + str(cos) + ", sin " +
                      str(adaptor.getSin().getType()),
                  "expected x [B,H,S,D] and cos, sin both [S,R/2] or [B,S,R/2] with R ≤ D");
  types.push_back(x);
  return success();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getLogits()), labels = tensorOf(adaptor.getLabels());
  if (x.getRank() < 1 || x.getShape().back() == 0 || labels.getShape() != x.getShape().drop_back())
    return c.fail("(C1) logits are " + str(x) + ", labels " + str(labels),
                  "labels have the shape of logits without the last dimension, the classes, of "
                  "which there is at least one");
  Type element = x.getElementType().isF64() ? x.getElementType() : Float32Type::get(context);
  types.assign({tensorOf({}, element), tensorOf({}, element)});
  return success();
}

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  RankedTensorType x = tensorOf(adaptor.getX());
  double ratio = adaptor.getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio < 1))
    return c.fail("(C1) `ratio` is " + Twine(std::to_string(ratio)),
                  "it is the probability of zeroing an element: at least 0 and less than 1");
  ArrayRef<int64_t> global = adaptor.getGlobalShape();
  bool fits = x.getRank() == static_cast<int64_t>(global.size()) &&
              adaptor.getOffsets().size() == global.size();
  for (size_t d = 0; fits && d < global.size(); ++d)
    fits = x.getDimSize(d) <= global[d];
  if (!fits)
    return c.fail("(C2) x is " + str(x) + ", `global_shape` = " + str(global) + ", there are " +
                      Twine(adaptor.getOffsets().size()) + " offsets",
                  "`global_shape` has x's rank and is no smaller, with one offset per dimension");
  types.push_back(x);
  return success();
}
