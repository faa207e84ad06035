//===- RandomNumbers.cpp - steps with other numbers than f32 --------------===//
//
// Narrow floats, integers and functions that jump. All begin at arguments of their own and use only
// ops whose bits every target promises (docs/bits.md), so that nothing but the end result mixes
// with the f32 values, whose last bits may differ:
//
//   %a : tensor<4x6xbf16>, %b : tensor<4x6xbf16>    two arguments
//   %c = binary mul %a, %b                          one rounding of an exact product
//   %d = reduce max %c over 1
//   %e = convert %d to f32                          goes on as any f32 value
//
//===----------------------------------------------------------------------===//
#include "RandomSteps.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;
using gpucc::detail::RandomSteps;

/// Moves elements, whatever they are.
Value RandomSteps::moved(Value x, Value y) {
  ArrayRef<int64_t> s = tensorOf(x).getShape();
  auto d = static_cast<int64_t>(below(s.size()));
  switch (below(5)) {
  case 0:
    return g.concat({x, y}, d);
  case 1: {
    Shape order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, tensorOf(x).getRank())));
    return g.transpose(x, order);
  }
  case 2: { // every dimension cut, some backwards
    Shape start, sizes, strides;
    for (int64_t n : s) {
      int64_t stride = 1 + static_cast<int64_t>(below(3)), size = (n + stride - 1) / stride;
      bool back = coin();
      sizes.push_back(size);
      strides.push_back(back ? -stride : stride);
      start.push_back(back ? (size - 1) * stride : 0);
    }
    return g.slice(x, start, sizes, strides);
  }
  case 3:
    return GatherOp::create(
        builder, g.loc, x, argument({1 + static_cast<int64_t>(below(4))}, builder.getI64Type()), d);
  default:
    return g.reshape(x, {elements(s)});
  }
}

/// f32 holds sums, products and quotients of two numbers of at most 11 bits so well that rounding
/// its result again gives the rounding of the exact one (Figueroa 1995: 24 >= 2 * 11 + 2).
void RandomSteps::narrow() {
  if (options.smooth)
    return unary();
  Type type = coin() ? Type(builder.getBF16Type()) : Type(builder.getF16Type());
  Value x = argument(shape(1 + below(3)), type), y = argument(tensorOf(x).getShape(), type);
  constexpr BinaryKind pairs[] = {BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul,
                                  BinaryKind::Max, BinaryKind::Min};
  constexpr UnaryKind single[] = {UnaryKind::Neg, UnaryKind::Abs, UnaryKind::Relu, UnaryKind::Sqrt};
  Value z;
  switch (below(5)) {
  case 0:
    z = g.div(x, g.add(g.unary(UnaryKind::Abs, y), 0.5));
    break;
  case 1:
    z = g.select(g.compare(coin() ? CompareKind::Lt : CompareKind::Ne, x, y), y, x);
    break;
  case 2:
    z = g.unary(single[below(4)], g.unary(UnaryKind::Abs, x));
    break;
  default:
    z = g.binary(pairs[below(5)], x, y);
  }
  if (coin())
    z = moved(z, y.getType() == z.getType() ? y : z);
  if (coin())
    z = g.reduce(coin() ? ReductionKind::Max : ReductionKind::Min, z, {0});
  if (below(4) == 0)
    made.push_back(z); // a result as it is
  else
    done(g.convert(z, element), 3);
}

/// Wrapping arithmetic and everything that moves integers.
void RandomSteps::arithmetic() {
  if (options.smooth)
    return binary();
  constexpr DType types[] = {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8, DType::U32};
  Type type = toType(builder.getContext(), types[below(std::size(types))]);
  Value x = argument(shape(1 + below(3)), type), y = argument(tensorOf(x).getShape(), type);
  constexpr BinaryKind pairs[] = {BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul,
                                  BinaryKind::Max, BinaryKind::Min, BinaryKind::Div,
                                  BinaryKind::Rem, BinaryKind::Mod, BinaryKind::And,
                                  BinaryKind::Or,  BinaryKind::Xor};
  for (uint64_t i = 1 + below(3); i > 0; --i)
    x = g.binary(pairs[below(std::size(pairs))], x, y);
  auto dim = static_cast<int64_t>(below(tensorOf(x).getRank()));
  switch (below(7)) {
  case 0:
    x = moved(x, y);
    break;
  case 1: {
    constexpr ReductionKind kinds[] = {ReductionKind::Sum, ReductionKind::Prod, ReductionKind::Max,
                                       ReductionKind::Min};
    x = g.reduce(kinds[below(4)], x, {dim});
    break;
  }
  case 2:
    x = ScanOp::create(builder, g.loc, ReductionKind::Sum, x, dim, coin(), coin());
    break;
  case 3:
    x = ArgReduceOp::create(builder, g.loc, coin() ? ReductionKind::Max : ReductionKind::Min, x,
                            dim, coin());
    break;
  case 4: { // whether any, or all, of a row
    Value mask = g.compare(coin() ? CompareKind::Gt : CompareKind::Eq, x, y);
    mask = g.reduce(coin() ? ReductionKind::And : ReductionKind::Or, mask, {dim});
    x = g.convert(coin() ? g.unary(UnaryKind::Not, mask) : mask, type);
    break;
  }
  case 5:
    x = g.binary(coin() ? BinaryKind::Shl : BinaryKind::Shr, x,
                 g.binary(BinaryKind::And, y, g.like(y, 7)));
    break;
  default:
    x = g.select(g.compare(CompareKind::Le, x, y), x, g.unary(UnaryKind::Not, y));
  }
  if (coin())
    made.push_back(x);
  else // wide integers as something of moderate size
    done(g.convert(g.binary(BinaryKind::And, x, g.like(x, 15)), element), 15);
}

/// Functions that jump, of values whose bits are certain, and those with a bounded domain.
void RandomSteps::special() {
  if (options.smooth)
    return unary();
  Value x = argument(shape(1 + below(3)));
  switch (below(5)) {
  case 0: {
    constexpr UnaryKind kinds[] = {UnaryKind::Floor, UnaryKind::Ceil, UnaryKind::RoundEven};
    return done(g.unary(kinds[below(3)], g.mul(x, 3.5)), 4);
  }
  case 1: {
    constexpr BinaryKind kinds[] = {BinaryKind::Rem, BinaryKind::Mod};
    return done(g.binary(kinds[below(2)], g.mul(x, 4), g.like(x, coin() ? 0.75 : -0.75)), 1);
  }
  case 2: {
    constexpr UnaryKind kinds[] = {UnaryKind::Tan, UnaryKind::Sinh, UnaryKind::Cosh};
    return done(g.unary(kinds[below(3)], x), 1.6);
  }
  case 3: {
    constexpr UnaryKind kinds[] = {UnaryKind::Asin, UnaryKind::Acos, UnaryKind::Atanh};
    return done(g.unary(kinds[below(3)], g.mul(x, 0.75)), 2.5);
  }
  default: {
    Value odd = g.unary(coin() ? UnaryKind::IsNan : UnaryKind::IsInf,
                        g.div(x, argument(tensorOf(x).getShape())));
    return done(g.select(odd, g.like(x, 0.5), x), 1);
  }
  }
}
