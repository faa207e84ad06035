//===- Casts.cpp - Cast, CastLike -----------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"
#include "lib/Conversion/FrontendToGraph/Rules/ElementTypes.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

/// Float8 conversions saturate by default: what is too large becomes the largest finite number
/// (attribute saturate, opset 19), except NaN; infinities too.
static Value castTo(Node &n, Value x, Type type) {
  bool toSmall = isa<Float8E4M3FNType, Float8E5M2Type>(type);
  if (toSmall && n.getInt("saturate", 1) != 0 && isFloat(x)) {
    double most = isa<Float8E4M3FNType>(type) ? 448.0 : 57344.0;
    Value low = n.g.binary(BinaryKind::Max, x, n.g.splatLike(x, -most));
    x = n.g.binary(BinaryKind::Min, low, n.g.splatLike(x, most));
  }
  // Floats to 4-bit integers drop the upper bits of the integer; integers wrap by themselves.
  if (isFloat(x) && type.isInteger(4))
    x = n.g.convert(x, n.g.builder.getI32Type());
  return n.g.convert(x, type);
}

static LogicalResult cast(Node &n) {
  int64_t to = n.getInt("to", 0);
  Type type = elementTypeOfOnnx(n.g.builder.getContext(), to);
  if (!type)
    return n.unsupported("casts to " + elementNameOfOnnx(to) + ", which gpucc does not have");
  return n.yield(castTo(n, n[0], type));
}

static LogicalResult castLike(Node &n) { return n.yield(castTo(n, n[0], elementOf(n[1]))); }

ArrayRef<Entry> gpucc::frontend_to_graph::castRules() {
  static const Entry rules[] = {
      {"Cast", 6, latest, 1, cast},
      {"CastLike", 15, latest, 2, castLike},
  };
  return rules;
}
