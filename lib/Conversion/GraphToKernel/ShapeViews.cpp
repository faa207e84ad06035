//===- ShapeViews.cpp - views under shapes that keep indices simple -------===//
//
// Emitters write offsets into one-dimensional views. A tensor is contiguous,
// so the kernel may see it under any shape; this gives each view the
// dimensions of its tensor, joined wherever an index runs over them as one:
//
//   tensor<8x128x768>, offset %p * 3072 + %c * 768 + %d, %p < 256, %c < 4, %d < 768
//     memref<1024x768>[%p * 4 + %c, %d]
//
//===----------------------------------------------------------------------===//
#include "ClusterEmitter.h"

using namespace mlir;
using namespace gpucc;

namespace {
/// One map into a view and the extents of its inputs (0 = unknown).
struct Access {
  AffineMap map;
  SmallVector<int64_t> extents;
  std::function<void(AffineMap)> set;
};
} // namespace

/// Extent of an index that is a variable of a program, loop or epilogue.
static int64_t extentOf(Value index) {
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument)
    return 0;
  Operation *op = argument.getOwner()->getParentOp();
  unsigned n = argument.getArgNumber();
  if (auto program = dyn_cast<kernel::ProgramOp>(op))
    return program.getExtents()[n];
  if (auto loop = dyn_cast<kernel::LoopOp>(op))
    return loop.getExtents()[n];
  if (auto contract = dyn_cast<kernel::ContractOp>(op))
    return contract.getExtents()[n - 1];
  if (auto convolution = dyn_cast<kernel::ConvolutionOp>(op))
    return convolution.getResultShape()[n - 1];
  if (auto attention = dyn_cast<kernel::AttentionOp>(op)) {
    ArrayRef<int64_t> e = attention.getExtents(); // B H K S T D E
    return SmallVector<int64_t>{e[0], e[1], e[3], e[6]}[n - 1];
  }
  return 0;
}

template <typename Op> static Access accessOf(Op op) {
  Access a{op.getMap(), {}, [op](AffineMap map) mutable { op.setMap(map); }};
  for (Value index : op.getIndices())
    a.extents.push_back(extentOf(index));
  return a;
}

/// Maps of a skeleton into its operand number `operand`.
static std::optional<Access> skeletonAccess(OpOperand &use) {
  if (auto op = dyn_cast<kernel::ContractOp>(use.getOwner())) {
    ArrayRef<int64_t> e = op.getExtents();
    if (use.getOperandNumber() == 0)
      return Access{
          op.getLhsMap(), {e[0], e[1], e[3]}, [op](AffineMap m) mutable { op.setLhsMap(m); }};
    return Access{
        op.getRhsMap(), {e[0], e[3], e[2]}, [op](AffineMap m) mutable { op.setRhsMap(m); }};
  }
  if (auto op = dyn_cast<kernel::AttentionOp>(use.getOwner())) {
    ArrayRef<int64_t> e = op.getExtents(); // B H K S T D E
    if (use.get() == op.getQ() && use.getOperandNumber() == 0)
      return Access{
          op.getQMap(), {e[0], e[1], e[3], e[5]}, [op](AffineMap m) mutable { op.setQMap(m); }};
    if (use.getOperandNumber() == 1)
      return Access{
          op.getKMap(), {e[0], e[2], e[4], e[5]}, [op](AffineMap m) mutable { op.setKMap(m); }};
    if (use.getOperandNumber() == 2)
      return Access{
          op.getVMap(), {e[0], e[2], e[4], e[6]}, [op](AffineMap m) mutable { op.setVMap(m); }};
    return Access{*op.getBiasMap(), {e[0], e[1], e[3], e[4]}, [op](AffineMap m) mutable {
                    op.setBiasMap(m);
                  }};
  }
  return std::nullopt;
}

/// The offset of an access with symbols for inputs of unknown extent.
static AffineExpr offsetOf(const Access &a, IndexMath &math) {
  SmallVector<AffineExpr> dims;
  for (auto [i, e] : llvm::enumerate(a.extents))
    dims.push_back(e ? math.dim(i) : getAffineSymbolExpr(i, math.getContext()));
  return math.simplify(a.map.getResult(0).replaceDims(dims));
}

/// offset = stride * q + rest with 0 <= rest < stride, without quotients.
static bool splitsAt(const Access &a, MLIRContext *context, int64_t stride) {
  IndexMath math(context, a.extents);
  math.floordiv(offsetOf(a, math), stride);
  return !math.isInexact();
}

static AffineMap shapedMap(const Access &a, MLIRContext *context, ArrayRef<int64_t> shape) {
  IndexMath math(context, a.extents);
  Index index = math.delinearize(offsetOf(a, math), shape);
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < a.extents.size(); ++i)
    symbols.push_back(math.dim(i)); // symbol i stands for input i
  SmallVector<AffineExpr> results;
  for (AffineExpr e : index)
    results.push_back(e.replaceSymbols(symbols));
  return AffineMap::get(a.extents.size(), 0, results, context);
}

static SmallVector<int64_t> chooseShape(ArrayRef<Access> accesses, MLIRContext *context,
                                        ArrayRef<int64_t> tensor) {
  SmallVector<int64_t> shape; // from the innermost dimension
  int64_t stride = 1, joined = 1;
  for (int64_t d = tensor.size() - 1; d >= 0; --d) {
    joined *= tensor[d];
    stride *= tensor[d];
    bool last = d == 0;
    if (last || (joined != 1 && llvm::all_of(accesses, [&](const Access &a) {
                   return splitsAt(a, context, stride);
                 }))) {
      if (joined != 1 || (last && shape.empty()))
        shape.push_back(joined);
      joined = 1;
    }
  }
  if (shape.empty())
    shape.push_back(1);
  std::reverse(shape.begin(), shape.end());
  return shape;
}

void gpucc::shapeViews(kernel::FuncOp func, TypeRange tensors) {
  MLIRContext *context = func.getContext();
  Block &body = func.getBody().front();
  for (auto [view, tensor] : llvm::zip_equal(body.getArguments(), tensors)) {
    auto type = cast<MemRefType>(view.getType());
    SmallVector<Access> accesses;
    for (OpOperand &use : view.getUses()) {
      if (auto load = dyn_cast<kernel::LoadOp>(use.getOwner()))
        accesses.push_back(accessOf(load));
      else if (auto store = dyn_cast<kernel::StoreOp>(use.getOwner()))
        accesses.push_back(accessOf(store));
      else if (std::optional<Access> a = skeletonAccess(use))
        accesses.push_back(*a);
    }
    // A convolution's operand has its shape already.
    SmallVector<int64_t> shape(type.getShape());
    if (type.getRank() == 1)
      shape = chooseShape(accesses, context, cast<RankedTensorType>(tensor).getShape());
    for (Access &a : accesses)
      a.set(shapedMap(a, context, shape));
    view.setType(MemRefType::get(shape, type.getElementType()));
  }
  func.setFunctionType(FunctionType::get(context, body.getArgumentTypes(), {}));
}
