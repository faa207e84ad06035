//===- ScalarBodyTest.cpp - scalar bodies mean what evaluate means --------===//
//
// Builds each pointwise op's scalar body on constants and runs it through the
// folders of arith and math, which are written by others: the value must be
// that of the evaluator. Integers in all edge cases, floats to the precision of
// the f32 arithmetic that the body prescribes.
//
//===----------------------------------------------------------------------===//
#include "OpInstances.h"
#include "dialects/Graph/Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
class ScalarBody : public ::testing::Test {
protected:
  void SetUp() override {
    loadDialects(context);
    context.loadDialect<arith::ArithDialect, math::MathDialect>();
  }

  static Type signless(Type t) {
    auto i = dyn_cast<IntegerType>(t);
    return i ? IntegerType::get(t.getContext(), i.getWidth()) : t;
  }

  TypedAttr attribute(const HostTensor &t, int64_t i, Type type) {
    if (isFloat(t.dtype()))
      return FloatAttr::get(type, t.getFloat(i));
    unsigned width = type.getIntOrFloatBitWidth();
    return IntegerAttr::get(type, APInt(width, static_cast<uint64_t>(t.getInt(i)), false, true));
  }

  /// The value of a scalar expression by folding; null where an op has no folder for it.
  Attribute fold(Block &block, Value result) {
    DenseMap<Value, Attribute> known;
    for (Operation &op : block) {
      SmallVector<Attribute> operands;
      for (Value v : op.getOperands())
        operands.push_back(known.lookup(v));
      SmallVector<OpFoldResult> folded;
      Attribute constant;
      if (matchPattern(&op, m_Constant(&constant))) {
        known[op.getResult(0)] = constant;
        continue;
      }
      if (failed(op.fold(operands, folded)) || folded.size() != 1)
        continue; // unknown from here on
      if (auto a = dyn_cast<Attribute>(folded[0]))
        known[op.getResult(0)] = a;
      else
        known[op.getResult(0)] = known.lookup(cast<Value>(folded[0]));
    }
    return known.lookup(result);
  }

  /// Compares the body of `op` with the evaluator on element tuples of its operands. Returns how
  /// many could be folded.
  int compare(Operation *op, ArrayRef<HostTensor> operands) {
    auto results = evaluateOp(op, operands, MapWeights());
    EXPECT_TRUE(succeeded(results));
    int count = 0;
    for (int64_t i = 0; i < operands[0].numElements(); ++i) {
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      SmallVector<Value> args;
      for (auto [t, v] : llvm::zip(operands, op->getOperands())) {
        Type type = signless(graph::tensorOf(v).getElementType());
        args.push_back(arith::ConstantOp::create(builder, op->getLoc(), attribute(t, i, type)));
      }
      SmallVector<Value> body =
          cast<ScalarBodyOpInterface>(op).buildScalarBody(builder, op->getLoc(), args);
      for (Operation &o : block)
        EXPECT_TRUE(succeeded(verify(&o)));
      EXPECT_EQ(body[0].getType(), signless(graph::tensorOf(op->getResult(0)).getElementType()));
      Attribute value = fold(block, body[0]);
      if (!value)
        continue;
      ++count;
      if (auto f = dyn_cast<FloatAttr>(value)) {
        double a = f.getValueAsDouble(), b = (*results)[0].getFloat(i);
        EXPECT_TRUE((std::isnan(a) && std::isnan(b)) || a == b ||
                    std::fabs(a - b) <= 4e-6 * std::max(0.05, std::fabs(b)))
            << "element " << i << ": body " << a << ", evaluator " << b << ", operand "
            << operands[0].getFloat(i);
      } else {
        HostTensor expected = (*results)[0];
        unsigned width = cast<IntegerAttr>(value).getValue().getBitWidth();
        APInt b(width, static_cast<uint64_t>(expected.getInt(i)), false, true);
        EXPECT_EQ(cast<IntegerAttr>(value).getValue(), b) << "element " << i;
      }
    }
    return count;
  }

  /// All pairs of edge values of an integer type.
  static std::vector<int64_t> edges(DType type) {
    if (type == DType::I1)
      return {0, 1};
    unsigned width = bitWidth(type);
    std::vector<int64_t> v = {0, 1, 2, 3, 5, 7};
    if (isUnsigned(type)) {
      auto most = static_cast<int64_t>(~uint64_t(0) >> (64 - width));
      v.insert(v.end(), {most, most - 1, static_cast<int64_t>(width)});
    } else {
      auto most = static_cast<int64_t>(~uint64_t(0) >> (65 - width));
      v.insert(v.end(), {-1, -2, -3, most, -most - 1, -most});
      if (width > 4)
        v.push_back(width);
    }
    return v;
  }
  static std::vector<double> floatEdges() {
    return {0.0,    -0.0,  0.5, -0.5, 1.5,  -2.5,         3.0,      127.0,
            -128.5, 300.0, 1e9, -1e9, 3e19, std::nan(""), HUGE_VAL, -HUGE_VAL};
  }

  Value argument(Block &block, DType type, int64_t n) {
    return block.addArgument(toTensorType(&context, type, {n}), UnknownLoc::get(&context));
  }
  HostTensor ints(DType type, ArrayRef<int64_t> v) {
    HostTensor t(type, {static_cast<int64_t>(v.size())});
    for (size_t i = 0; i < v.size(); ++i)
      t.setInt(i, v[i]);
    return t;
  }
  HostTensor floats(DType type, ArrayRef<double> v) {
    HostTensor t(type, {static_cast<int64_t>(v.size())});
    for (size_t i = 0; i < v.size(); ++i)
      t.setFloat(i, v[i]);
    return t;
  }

  MLIRContext context;
};
} // namespace

TEST_F(ScalarBody, IntegerBinary) {
  int folded = 0;
  for (DType type : {DType::I8, DType::U8, DType::I32, DType::I64, DType::U64, DType::I4}) {
    std::vector<int64_t> v = edges(type), a, b;
    for (int64_t x : v)
      for (int64_t y : v) {
        a.push_back(x);
        b.push_back(y);
      }
    for (uint32_t k = 0; k <= graph::getMaxEnumValForBinaryKind(); ++k) {
      auto kind = *graph::symbolizeBinaryKind(k);
      SCOPED_TRACE(std::string(name(type)) + " " + graph::stringifyBinaryKind(kind).str());
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      int64_t n = a.size();
      Value x = argument(block, type, n), y = argument(block, type, n);
      auto op = graph::BinaryOp::create(builder, UnknownLoc::get(&context), kind, x, y);
      int count = compare(op, {ints(type, a), ints(type, b)});
      EXPECT_EQ(count, n);
      folded += count;
    }
  }
  EXPECT_GT(folded, 5000);
}

TEST_F(ScalarBody, IntegerUnaryAndCompare) {
  for (DType type : {DType::I8, DType::U8, DType::I64, DType::I1}) {
    std::vector<int64_t> v = edges(type);
    int64_t n = v.size();
    for (auto kind : {graph::UnaryKind::Neg, graph::UnaryKind::Abs, graph::UnaryKind::Sign,
                      graph::UnaryKind::Relu, graph::UnaryKind::Not}) {
      if (type == DType::I1 && kind != graph::UnaryKind::Not)
        continue;
      SCOPED_TRACE(std::string(name(type)) + " " + graph::stringifyUnaryKind(kind).str());
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      auto op = graph::UnaryOp::create(builder, UnknownLoc::get(&context), kind,
                                       argument(block, type, n));
      EXPECT_EQ(compare(op, {ints(type, v)}), n);
    }
    std::vector<int64_t> reversed(v.rbegin(), v.rend());
    for (uint32_t k = 0; k <= graph::getMaxEnumValForCompareKind(); ++k) {
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      Value x = argument(block, type, n), y = argument(block, type, n);
      auto op = graph::CompareOp::create(builder, UnknownLoc::get(&context),
                                         *graph::symbolizeCompareKind(k), x, y);
      EXPECT_EQ(compare(op, {ints(type, v), ints(type, reversed)}), n);
    }
  }
}

TEST_F(ScalarBody, Conversions) {
  std::vector<DType> all = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32,
                            DType::I8,  DType::U64, DType::U8,  DType::I4,   DType::I1};
  for (DType from : all)
    for (DType to : all) {
      SCOPED_TRACE(std::string(name(from)) + " to " + std::string(name(to)));
      HostTensor x = isFloat(from) ? floats(from, floatEdges()) : ints(from, edges(from));
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      auto op =
          graph::ConvertOp::create(builder, UnknownLoc::get(&context),
                                   argument(block, from, x.numElements()), toType(&context, to));
      compare(op, {x});
    }
}

TEST_F(ScalarBody, Floats) {
  int folded = 0;
  std::vector<double> v = floatEdges(), a, b;
  for (double x : v)
    for (double y : v) {
      a.push_back(x);
      b.push_back(y);
    }
  for (DType type : {DType::F32, DType::BF16}) {
    for (uint32_t k = 0; k <= graph::getMaxEnumValForUnaryKind(); ++k) {
      auto kind = *graph::symbolizeUnaryKind(k);
      if (kind == graph::UnaryKind::Not)
        continue;
      SCOPED_TRACE(graph::stringifyUnaryKind(kind).str());
      // Tame arguments: f32 folders of periodic functions differ for huge ones.
      std::vector<double> x = {0.0, -0.0, 0.5, -0.5, 0.75, 1.5, -1.5, 3.0, std::nan("")};
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      auto op = graph::UnaryOp::create(builder, UnknownLoc::get(&context), kind,
                                       argument(block, type, x.size()));
      folded += compare(op, {floats(type, x)});
    }
    for (auto kind : {graph::BinaryKind::Add, graph::BinaryKind::Sub, graph::BinaryKind::Mul,
                      graph::BinaryKind::Div, graph::BinaryKind::Max, graph::BinaryKind::Min,
                      graph::BinaryKind::Rem, graph::BinaryKind::Mod}) {
      SCOPED_TRACE(graph::stringifyBinaryKind(kind).str());
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      int64_t n = a.size();
      Value x = argument(block, type, n), y = argument(block, type, n);
      auto op = graph::BinaryOp::create(builder, UnknownLoc::get(&context), kind, x, y);
      folded += compare(op, {floats(type, a), floats(type, b)});
    }
    for (uint32_t k = 0; k <= graph::getMaxEnumValForCompareKind(); ++k) {
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      int64_t n = a.size();
      Value x = argument(block, type, n), y = argument(block, type, n);
      auto op = graph::CompareOp::create(builder, UnknownLoc::get(&context),
                                         *graph::symbolizeCompareKind(k), x, y);
      folded += compare(op, {floats(type, a), floats(type, b)});
    }
    std::vector<double> x = {0.0, 0.5, -1.0, 2.0, -3.0, 5.0};
    for (int which = 0; which < 4; ++which) {
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      Value arg = argument(block, type, x.size());
      Operation *op =
          which == 3 ? graph::MishOp::create(builder, UnknownLoc::get(&context), arg).getOperation()
          : which == 2
              ? graph::SiluOp::create(builder, UnknownLoc::get(&context), arg).getOperation()
              : graph::GeluOp::create(builder, UnknownLoc::get(&context),
                                      which ? graph::GeluKind::Tanh : graph::GeluKind::Erf, arg)
                    .getOperation();
      folded += compare(op, {floats(type, x)});
    }
  }
  EXPECT_GT(folded, 2000);
}
