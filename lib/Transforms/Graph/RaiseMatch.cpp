//===- RaiseMatch.cpp - parts of a composite that was taken apart ---------===//
#include "lib/Transforms/Graph/RaiseMatch.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using namespace gpucc::graph_passes;

Operation *Match::leak(Operation *root) const {
  for (Operation *op : ops)
    for (Operation *user : op->getUsers())
      if (user != root && !ops.contains(user))
        return op;
  return nullptr;
}

/// The operand's dimensions in terms of the result's, when a reshape only inserts or removes
/// dimensions of size 1.
static std::optional<Dims> placesOfReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Dims large;
  for (auto [d, size] : llvm::enumerate(to))
    if (size != 1)
      large.push_back(d);
  Dims places;
  size_t next = 0;
  for (int64_t size : from) {
    if (size == 1) {
      places.push_back(-1);
      continue;
    }
    if (next == large.size() || to[large[next]] != size)
      return std::nullopt;
    places.push_back(large[next++]);
  }
  return next == large.size() ? std::optional(places) : std::nullopt;
}

static View strip(View view, Match *match) {
  while (Operation *op = view.source.getDefiningOp()) {
    std::optional<Dims> inner;
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      inner = Dims(broadcast.getDims());
      for (auto [i, d] : llvm::enumerate(*inner))
        if (typeOf(broadcast.getX()).getDimSize(i) == 1)
          d = -1;
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      inner = placesOfReshape(typeOf(reshape.getX()).getShape(), reshape.getShape());
    }
    if (!inner)
      break;
    Dims places;
    for (int64_t d : *inner)
      places.push_back(d < 0 ? -1 : view.place[d]);
    if (match)
      match->add(op);
    view = {op->getOperand(0), places};
  }
  return view;
}

View graph_passes::peel(Value value, Match *match) {
  Dims identity;
  for (int64_t d = 0; d < rankOf(value); ++d)
    identity.push_back(typeOf(value).getDimSize(d) == 1 ? -1 : d);
  return strip({value, identity}, match);
}

View graph_passes::peelFurther(const View &view, Value next, Match *match) {
  return strip({next, view.place}, match);
}

UnaryOp graph_passes::unary(Value v, UnaryKind kind) {
  auto op = v.getDefiningOp<UnaryOp>();
  return op && op.getKind() == kind ? op : UnaryOp();
}

BinaryOp graph_passes::binary(Value v, BinaryKind kind) {
  auto op = v.getDefiningOp<BinaryOp>();
  return op && op.getKind() == kind ? op : BinaryOp();
}

double graph_passes::roundedTo(FloatType type, double value) {
  APFloat number(value);
  bool loses;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

bool graph_passes::near(double a, double b, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  double tolerance = width >= 32 ? 2e-6 : type.isBF16() ? 8e-3 : 1e-3;
  return std::fabs(a - b) <= tolerance * std::max(std::fabs(b), 1e-30);
}
