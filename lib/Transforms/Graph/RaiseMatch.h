//===- RaiseMatch.h - parts of a composite that was taken apart -*- C++ -*-===//
//
// A matcher looks at one op as the last of a group and collects the ops of the
// group. The group may be replaced when nothing outside reads a value inside.
//
//   mean -> sub -> mul -> mean -> add eps -> sqrt -> div      div is the last op
//
// Values are compared through views: reshape by dimensions of size 1 and
// broadcast do not change what an element is, only where it stands.
//
//   %m [B,S] -> [B,S,1] -> broadcast [B,S,H]    View{source %m, place [0, 1]}
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_GRAPH_RAISEMATCH_H
#define GPUCC_TRANSFORMS_GRAPH_RAISEMATCH_H

#include "dialects/Graph/Graph.h"
#include "llvm/ADT/SetVector.h"

namespace gpucc::graph_passes {

using Dims = llvm::SmallVector<int64_t>;

class Match {
public:
  /// Notes ops of the group; the last op (the root) is not one of them.
  void add(mlir::Operation *op) { ops.insert(op); }
  /// A value inside that something outside the group reads; null when there is none.
  mlir::Operation *leak(mlir::Operation *root) const;
  llvm::ArrayRef<mlir::Operation *> inside() const { return ops.getArrayRef(); }

private:
  llvm::SetVector<mlir::Operation *> ops;
};

/// What a matcher found: how to build the composite in place of the root.
struct Found {
  llvm::StringRef name;
  std::string whyNot; ///< when it came close and something forbids it
  Match match;
  std::function<mlir::Value(mlir::OpBuilder &)> build;
};
using Matcher = bool (*)(mlir::Operation *root, Found &found);

// One file each; tried in this order.
bool matchSoftmax(mlir::Operation *root, Found &found);
bool matchLayerNorm(mlir::Operation *root, Found &found);
bool matchRmsNorm(mlir::Operation *root, Found &found);
bool matchNormScale(mlir::Operation *root, Found &found);
bool matchNormBias(mlir::Operation *root, Found &found);
bool matchGelu(mlir::Operation *root, Found &found);
bool matchSilu(mlir::Operation *root, Found &found);
bool matchRotary(mlir::Operation *root, Found &found);
bool matchAttention(mlir::Operation *root, Found &found);

/// A value seen through reshapes by ones and broadcasts; place[i] is the dimension of the outer
/// value that source dimension i is, or -1 when it has size 1.
struct View {
  mlir::Value source;
  Dims place;
};
/// Strips as far as possible; stripped ops are added to `match` when given.
View peel(mlir::Value value, Match *match = nullptr);
/// Goes on from a view whose source is computed from `next` elementwise.
View peelFurther(const View &view, mlir::Value next, Match *match = nullptr);

inline mlir::RankedTensorType typeOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}
inline int64_t rankOf(mlir::Value v) { return typeOf(v).getRank(); }

/// The op that defines `v`, when it is a unary (binary) of that kind.
graph::UnaryOp unary(mlir::Value v, graph::UnaryKind kind);
graph::BinaryOp binary(mlir::Value v, graph::BinaryKind kind);
/// The number as an element of that type holds it.
double roundedTo(mlir::FloatType type, double value);
/// |a - b| small against the precision of `type`.
bool near(double a, double b, mlir::Type type);

} // namespace gpucc::graph_passes

#endif // GPUCC_TRANSFORMS_GRAPH_RAISEMATCH_H
