//===- GraphBuilder.h - builds graph ops, folding as it goes ----*- C++ -*-===//
//
// Models are full of shape arithmetic: Shape, Gather, Concat, then a Reshape
// that needs numbers. With static shapes all of it is constant, so an op whose
// operands are small constants is not built but evaluated (by its own
// `evaluate`), and what reads it sees a constant again.
//
//   g.binary(Add, x[2,3], b[3])            broadcasts b, then adds
//   g.gather(constant [2,3], constant 0)   is the constant 2, no op
//
// A model can ask for nonsense (a permutation that is none). Then the op's own
// verifier has emitted its error, `failed()` is true, and the returned value is
// a scalar zero, so that callers need not check after every call.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_GRAPHBUILDER_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_GRAPHBUILDER_H

#include "dialects/Graph/Graph.h"
#include "mlir/IR/Builders.h"

namespace gpucc::frontend_to_graph {

using mlir::ArrayRef;
using mlir::RankedTensorType;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using Dims = SmallVector<int64_t, 4>;

/// Type and shape of a value; every value of the graph dialect is a static ranked tensor.
RankedTensorType typeOf(Value value);
Dims shapeOf(Value value);
Type elementOf(Value value);
int64_t rankOf(Value value);
bool isFloat(Value value);
bool isBool(Value value);
int64_t elementsOf(llvm::ArrayRef<int64_t> shape);
/// More than 2^40 elements (no machine holds them), or a negative size.
bool tooLarge(llvm::ArrayRef<int64_t> shape);
/// Dimensions that a tensor of a plan can have.
inline constexpr int64_t maxRank = 16;

class GraphBuilder {
public:
  explicit GraphBuilder(mlir::OpBuilder &builder)
      : builder(builder), location(builder.getUnknownLoc()) {}

  mlir::OpBuilder &builder;
  mlir::Location location; ///< of the ops that are built

  bool failed() const { return broken; }
  void resetFailure() { broken = false; }

  /// Builds any graph op with one result; types are inferred, the op is verified and folded.
  template <typename Op, typename... Args> Value create(Args &&...args) {
    return createMany<Op>(1, std::forward<Args>(args)...).front();
  }
  template <typename Op, typename... Args>
  SmallVector<Value> createMany(unsigned results, Args &&...args) {
    mlir::OperationState state(location, Op::getOperationName());
    SmallVector<Type> placeholders(results, builder.getNoneType());
    Op::build(builder, state, mlir::TypeRange(placeholders), std::forward<Args>(args)...);
    SmallVector<Type> types;
    if (mlir::failed(Op::inferReturnTypes(builder.getContext(), location, state.operands,
                                          state.attributes.getDictionary(builder.getContext()),
                                          state.getRawProperties(),
                                          mlir::RegionRange(state.regions), types)))
      return poison(results);
    return finish(state, types);
  }

  // Leaves.
  Value constant(const HostTensor &value);
  Value constantInts(ArrayRef<int64_t> values); ///< i64, 1-D
  Value scalar(Type element, double value);     ///< rank 0
  Value splat(RankedTensorType type, double value);
  Value splatLike(Value value, double number) { return splat(typeOf(value), number); }
  Value iota(ArrayRef<int64_t> shape, int64_t dim, Type element);
  /// The value's elements when it is a constant.
  std::optional<HostTensor> constantOf(Value value);

  // Pointwise; operands broadcast against each other as NumPy does.
  Value unary(graph::UnaryKind kind, Value x);
  Value binary(graph::BinaryKind kind, Value lhs, Value rhs);
  Value compare(graph::CompareKind kind, Value lhs, Value rhs);
  Value select(Value condition, Value onTrue, Value onFalse);
  Value convert(Value x, Type element);
  Value add(Value a, Value b) { return binary(graph::BinaryKind::Add, a, b); }
  Value sub(Value a, Value b) { return binary(graph::BinaryKind::Sub, a, b); }
  Value mul(Value a, Value b) { return binary(graph::BinaryKind::Mul, a, b); }
  Value div(Value a, Value b) { return binary(graph::BinaryKind::Div, a, b); }
  Value binary(graph::BinaryKind kind, Value lhs, double rhs) {
    return binary(kind, lhs, splatLike(lhs, rhs));
  }

  // Movement; no op is built when nothing changes.
  Value reshape(Value x, ArrayRef<int64_t> shape);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  /// NumPy's broadcast_to: trailing dimensions are aligned.
  Value broadcastTo(Value x, ArrayRef<int64_t> shape);
  /// Operand dimension i becomes dimension dims[i].
  Value broadcastDims(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims);
  /// Broadcasts all values to their common shape; false (and an error) when there is none.
  bool broadcastTogether(llvm::MutableArrayRef<Value> values);
  Value slice(Value x, int64_t dim, int64_t start, int64_t size, int64_t stride = 1);
  Value slice(Value x, ArrayRef<int64_t> start, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides);
  Value concat(ArrayRef<Value> values, int64_t dim);
  Value gather(Value data, Value indices, int64_t dim);
  Value pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value value);
  Value insertDims(Value x, ArrayRef<int64_t> dims); ///< size-1 dimensions at these result places

  // Reductions and products.
  Value reduce(graph::ReductionKind kind, Value x, ArrayRef<int64_t> dims, bool keep);
  /// In the type of x; the sum in between in that of widenForSums.
  Value mean(Value x, ArrayRef<int64_t> dims, bool keep);
  /// Floats below 32 bits as f32, integers below 64 bits as i64: a sum or square on the way
  /// to a result that fits must not overflow (the mean of 1,024 times 200 is 200 in f16, too).
  Value widenForSums(Value x);
  /// NumPy's matmul.
  Value matmul(Value lhs, Value rhs, Type out = {});
  Value contract(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                 ArrayRef<int64_t> lhsContract, ArrayRef<int64_t> rhsContract, Type out = {});

  /// An error at the current location; sets failed().
  void error(const llvm::Twine &text);

private:
  SmallVector<Value> finish(mlir::OperationState &state, ArrayRef<Type> types);
  /// All are small enough for a plan; else an error.
  bool fits(ValueRange operands, ArrayRef<Type> results);
  bool tryFold(mlir::Operation *op, llvm::SmallVectorImpl<Value> &values);
  SmallVector<Value> poison(unsigned results);
  bool broken = false;
};

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_GRAPHBUILDER_H
