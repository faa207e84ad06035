//===- EvaluateTest.cpp - values computed by hand -------------------------===//
//
// Each case is the text of one op on constants and the values that its
// description promises, worked out by hand (or by the reference named).
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Evaluate.h"
#include "OpInstances.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
const double quiet = std::nan(""), inf = HUGE_VAL;

class Evaluate : public ::testing::Test {
protected:
  void SetUp() override { loadDialects(context); }

  /// Runs `body`, whose value %y of type `type` is the result.
  HostTensor run(const std::string &body, const std::string &type) {
    std::string text =
        "func.func @f() -> " + type + " {\n" + body + "\nreturn %y : " + type + "\n}";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    auto results = evaluateFunction(*module->getOps<func::FuncOp>().begin(), {}, MapWeights());
    EXPECT_TRUE(succeeded(results));
    return (*results)[0];
  }
  void expect(const std::string &body, const std::string &type, std::vector<double> values) {
    SCOPED_TRACE(body);
    HostTensor y = run(body, type);
    ASSERT_EQ(y.numElements(), static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      double v = y.getFloat(i);
      EXPECT_TRUE(v == values[i] || (std::isnan(v) && std::isnan(values[i])))
          << "element " << i << " is " << v << ", expected " << values[i];
      if (values[i] == 0 && isFloat(y.dtype()))
        EXPECT_EQ(std::signbit(v), std::signbit(values[i])) << "element " << i;
    }
  }
  /// One op on %x and %y... written as `graph.OP` with the constants given.
  void unary(const std::string &op, const std::string &x, const std::string &type,
             std::vector<double> values, std::string result = "") {
    if (result.empty())
      result = type;
    expect("%x = graph.constant dense<" + x + "> : " + type + "\n%y = " + op + " : (" + type +
               ") -> " + result,
           result, std::move(values));
  }
  void binary(const std::string &kind, const std::string &a, const std::string &b,
              const std::string &type, std::vector<double> values) {
    expect("%a = graph.constant dense<" + a + "> : " + type + "\n%b = graph.constant dense<" + b +
               "> : " + type + "\n%y = graph.binary " + kind + " %a, %b : (" + type + ", " + type +
               ") -> " + type,
           type, std::move(values));
  }
  MLIRContext context;
};
} // namespace

TEST_F(Evaluate, UnaryEdges) {
  // 0x7F800000 is +inf, 0x7FC00000 NaN.
  std::string special = "[0x7FC00000, 0xFF800000, -1.5, -0.0, 2.5]", t = "tensor<5xf32>";
  unary("graph.unary relu %x", special, t, {quiet, 0.0, 0.0, 0.0, 2.5});
  unary("graph.unary sign %x", special, t, {quiet, -1, -1, -0.0, 1});
  unary("graph.unary round_even %x", special, t, {quiet, -inf, -2, -0.0, 2});
  unary("graph.unary abs %x", special, t, {quiet, inf, 1.5, 0.0, 2.5});
  unary("graph.unary is_nan %x", special, t, {1, 0, 0, 0, 0}, "tensor<5xi1>");
  unary("graph.unary is_inf %x", special, t, {0, 1, 0, 0, 0}, "tensor<5xi1>");
  unary("graph.unary neg %x", "[-128, 127, 0]", "tensor<3xi8>", {-128, -127, 0});
  unary("graph.unary abs %x", "[-128, 127, 0]", "tensor<3xi8>", {-128, 127, 0});
  unary("graph.unary not %x", "[true, false]", "tensor<2xi1>", {0, 1});
  unary("graph.unary not %x", "[0, -1, 5]", "tensor<3xi32>", {-1, 0, -6});
  // 1 + 2^-8 in bf16 is a tie between 1 and 1 + 2^-7: to even.
  unary("graph.unary neg %x", "1.0", "tensor<1xbf16>", {-1});
}

TEST_F(Evaluate, BinaryEdges) {
  std::string f = "tensor<4xf32>", i8 = "tensor<4xi8>", i = "tensor<4xi32>", u = "tensor<2xui8>";
  binary("max", "[0x7FC00000, 1.0, -0.0, 0.0]", "[1.0, 0x7FC00000, 0.0, -0.0]", f,
         {quiet, quiet, 0.0, 0.0});
  binary("min", "[0x7FC00000, 1.0, -0.0, 0.0]", "[1.0, 0x7FC00000, 0.0, -0.0]", f,
         {quiet, quiet, -0.0, -0.0});
  binary("rem", "[5.5, -5.5, 5.5, -5.5]", "[2.0, 2.0, -2.0, -2.0]", f, {1.5, -1.5, 1.5, -1.5});
  binary("mod", "[5.5, -5.5, 5.5, -5.5]", "[2.0, 2.0, -2.0, -2.0]", f, {1.5, 0.5, -0.5, -1.5});
  binary("div", "[7, -7, 7, -128]", "[2, 2, 0, -1]", i8, {3, -3, 0, -128});
  binary("rem", "[7, -7, 7, -7]", "[3, 3, 0, -3]", i8, {1, -1, 0, -1});
  binary("mod", "[7, -7, 7, -7]", "[3, 3, -3, -3]", i8, {1, 2, -2, -1});
  binary("add", "[127, -128, 100, 1]", "[1, -1, 100, 1]", i8, {-128, 127, -56, 2});
  binary("mul", "[100, -128, 16, 3]", "[3, -1, 16, 3]", i8, {44, -128, 0, 9});
  binary("pow", "[2, -1, 5, 1]", "[10, -3, -1, -7]", i, {1024, -1, 0, 1});
  binary("shl", "[1, 1, 3, 1]", "[4, 32, 31, -1]", i, {16, 0, -2147483648.0, 0});
  binary("shr", "[-8, -8, 8, -1]", "[1, 40, 40, 3]", i, {-4, -1, 0, -1});
  binary("shr", "[200, 200]", "[1, 8]", u, {100, 0});
  binary("div", "[200, 7]", "[3, 0]", u, {66, 0});
  binary("max", "[200, 7]", "[3, 255]", u, {200, 255});
  binary("and", "[12, 10, -1, 0]", "[10, 6, 7, 5]", i, {8, 2, 7, 0});
}

TEST_F(Evaluate, SixtyFourBitsAreKept) {
  HostTensor y = run("%a = graph.constant dense<9007199254740993> : tensor<i64>\n"
                     "%y = graph.binary add %a, %a : (tensor<i64>, tensor<i64>) -> tensor<i64>",
                     "tensor<i64>");
  EXPECT_EQ(y.getInt(0), 18014398509481986);
}

TEST_F(Evaluate, CompareOfNaN) {
  for (auto [kind, expected] :
       {std::pair("eq", 0.0), {"ne", 1.0}, {"lt", 0.0}, {"le", 0.0}, {"gt", 0.0}, {"ge", 0.0}})
    expect("%a = graph.constant dense<0x7FC00000> : tensor<f32>\n%y = graph.compare " +
               std::string(kind) + " %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>",
           "tensor<i1>", {expected});
}

TEST_F(Evaluate, Convert) {
  std::string x = "[3.99, -3.99, 300.0, -300.0, 0x7FC00000, 0x7F800000]", t = "tensor<6xf32>";
  unary("graph.convert %x to i8", x, t, {3, -3, 127, -128, 0, 127}, "tensor<6xi8>");
  unary("graph.convert %x to ui8", x, t, {3, 0, 255, 0, 0, 255}, "tensor<6xui8>");
  unary("graph.convert %x to i1", "[0.0, -0.0, 0x7FC00000, 0.5]", "tensor<4xf32>", {0, 0, 1, 1},
        "tensor<4xi1>");
  unary("graph.convert %x to i8", "[300, -129, 127]", "tensor<3xi32>", {44, 127, 127},
        "tensor<3xi8>");
  unary("graph.convert %x to f32", "[true, false]", "tensor<2xi1>", {1, 0}, "tensor<2xf32>");
  // 2049 lies between the f16 neighbours 2048 and 2050: to even. 1e6 overflows to inf.
  unary("graph.convert %x to f16", "[2049.0, 2051.0, 1.0e6]", "tensor<3xf32>", {2048, 2052, inf},
        "tensor<3xf16>");
}

TEST_F(Evaluate, Reductions) {
  auto reduce = [&](const std::string &kind, const std::string &x, const std::string &from,
                    const std::string &to, std::vector<double> v) {
    unary("graph.reduce " + kind + " %x {dims = array<i64: 1>}", x, from, v, to);
  };
  reduce("sum", "[[1.0, 2.0], [3.0, 4.0]]", "tensor<2x2xf32>", "tensor<2xf32>", {3, 7});
  reduce("max", "[[1.0, 0x7FC00000], [3.0, 4.0]]", "tensor<2x2xf32>", "tensor<2xf32>", {quiet, 4});
  reduce("prod", "[[2, 3], [4, 5]]", "tensor<2x2xi32>", "tensor<2xi32>", {6, 20});
  reduce("and", "[[true, false], [true, true]]", "tensor<2x2xi1>", "tensor<2xi1>", {0, 1});
  // Of nothing.
  for (auto [kind, v] : {std::pair("sum", 0.0), {"prod", 1.0}, {"max", -inf}, {"min", inf}})
    unary("graph.reduce " + std::string(kind) + " %x {dims = array<i64: 1>}", "", "tensor<2x0xf32>",
          {v, v}, "tensor<2xf32>");
  // Accumulated wide, rounded once: 256 ones and 2048 in f16 make 2304.
  unary("graph.reduce sum %x {dims = array<i64: 0>}", "1.0", "tensor<3000xf16>", {3000},
        "tensor<f16>");
}

TEST_F(Evaluate, ArgReduceAndScan) {
  unary("graph.arg_reduce max %x {dim = 1 : i64}",
        "[[1.0, 3.0, 3.0], [0x7FC00000, 9.0, 0x7FC00000]]", "tensor<2x3xf32>", {1, 0},
        "tensor<2xi64>");
  unary("graph.arg_reduce max %x {dim = 1 : i64, select_last}",
        "[[1.0, 3.0, 3.0], [5.0, 9.0, 2.0]]", "tensor<2x3xf32>", {2, 1}, "tensor<2xi64>");
  unary("graph.arg_reduce min %x {dim = 0 : i64}", "[4, -2, -2]", "tensor<3xi32>", {1},
        "tensor<i64>");
  std::string x = "[1.0, 2.0, 3.0]", t = "tensor<3xf32>";
  unary("graph.scan sum %x {dim = 0 : i64}", x, t, {1, 3, 6});
  unary("graph.scan sum %x {dim = 0 : i64, exclusive}", x, t, {0, 1, 3});
  unary("graph.scan sum %x {dim = 0 : i64, reverse}", x, t, {6, 5, 3});
  unary("graph.scan sum %x {dim = 0 : i64, exclusive, reverse}", x, t, {5, 3, 0});
  unary("graph.scan max %x {dim = 0 : i64}", "[1.0, 0x7FC00000, 3.0]", t, {1, quiet, quiet});
}

TEST_F(Evaluate, Movement) {
  std::string x = "[[1, 2, 3], [4, 5, 6]]", t = "tensor<2x3xi32>";
  unary("graph.transpose %x {permutation = array<i64: 1, 0>}", x, t, {1, 4, 2, 5, 3, 6},
        "tensor<3x2xi32>");
  unary("graph.broadcast %x {shape = array<i64: 2, 2>, dims = array<i64: 0>}", "[1, 2]",
        "tensor<2xi32>", {1, 1, 2, 2}, "tensor<2x2xi32>");
  unary("graph.slice %x {start = array<i64: 1, 2>, sizes = array<i64: 2, 2>, strides = array<i64: "
        "-1, -2>}",
        x, t, {6, 4, 3, 1}, "tensor<2x2xi32>");
  std::string row = "[1.0, 2.0, 3.0]", r = "tensor<3xf32>";
  auto pad = [&](const std::string &mode, int64_t low, int64_t high, std::vector<double> v) {
    unary("graph.pad " + mode + " %x {low = array<i64: " + std::to_string(low) +
              ">, high = array<i64: " + std::to_string(high) + ">, interior = array<i64: 0>}",
          row, r, v, "tensor<" + std::to_string(v.size()) + "xf32>");
  };
  // numpy.pad's modes reflect, edge, wrap.
  pad("reflect", 2, 1, {3, 2, 1, 2, 3, 2});
  pad("edge", 2, 1, {1, 1, 1, 2, 3, 3});
  pad("wrap", 4, 1, {3, 1, 2, 3, 1, 2, 3, 1});
  expect("%x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>\n%v = graph.constant dense<9.0> : "
         "tensor<f32>\n"
         "%y = graph.pad constant %x, %v {low = array<i64: 1>, high = array<i64: 2>, interior = "
         "array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<6xf32>",
         "tensor<6xf32>", {9, 1, 9, 2, 9, 9});
  // Offsets are clamped so that the block stays inside.
  for (auto [offset, first] : {std::pair(-7, 1.0), {1, 2.0}, {50, 2.0}})
    expect(
        "%x = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n%o = graph.constant dense<" +
            std::to_string(offset) +
            "> : tensor<i64>\n"
            "%y = graph.slice %x, %o {start = array<i64: 0>, sizes = array<i64: 2>, strides = "
            "array<i64: 1>} : (tensor<3xf32>, tensor<i64>) -> tensor<2xf32>",
        "tensor<2xf32>", {first, first + 1});
}

TEST_F(Evaluate, GatherAndScatter) {
  expect("%d = graph.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi4>\n%i = "
         "graph.constant dense<[-1, 9, 1]> : tensor<3xi64>\n"
         "%y = graph.gather %d, %i {dim = 0 : i64} : (tensor<3x2xi4>, tensor<3xi64>) -> "
         "tensor<3x2xi4>",
         "tensor<3x2xi4>", {5, 6, 5, 6, 3, 4});
  auto scatter = [&](const std::string &kind, std::vector<double> v) {
    expect("%d = graph.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>\n%i = graph.constant "
           "dense<[0, 0, -1, 7]> : tensor<4xi64>\n"
           "%u = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
           "%y = graph.scatter %d, %i, %u {dim = 0 : i64" +
               kind + "} : (tensor<3xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<3xf32>",
           "tensor<3xf32>", v);
  };
  scatter("", {2, 20, 3});
  scatter(", kind = #graph<reduction sum>", {13, 20, 33});
  scatter(", kind = #graph<reduction prod>", {20, 20, 90});
  scatter(", kind = #graph<reduction min>", {1, 20, 3});
}

TEST_F(Evaluate, ConvolutionAndPool) {
  // One channel, [1 2 3; 4 5 6; 7 8 9] with [1 0; 0 1]: sums of diagonals 1+5, 2+6, 4+8, 5+9.
  std::string x = "%x = graph.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, "
                  "9.0]]]]> : tensor<1x1x3x3xf32>\n";
  expect(x + "%w = graph.constant dense<[[[[1.0, 0.0], [0.0, 1.0]]]]> : tensor<1x1x2x2xf32>\n"
             "%y = graph.convolution %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, "
             "0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : "
             "(tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>",
         "tensor<1x1x2x2xf32>", {6, 8, 12, 14});
  // Two points of two channels, filter [10, 1]: 10·1 + 2, 10·3 + 4.
  expect("%x = graph.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>\n"
         "%w = graph.constant dense<[[[10.0], [1.0]]]> : tensor<1x2x1xf32>\n"
         "%y = graph.convolution %x, %w {channels_last, strides = array<i64: 1>, pads_low = "
         "array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : "
         "(tensor<1x2x2xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>",
         "tensor<1x2x1xf32>", {12, 34});
  auto pool = [&](const std::string &kind, const std::string &flag, std::vector<double> v) {
    expect(x + "%y = graph.pool " + kind +
               " %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: "
               "1, 1>, pads_high = array<i64: 0, 0>, extra_high = array<i64: 0, 0>, dilations = "
               "array<i64: 1, 1>" +
               flag + "} : (tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>",
           "tensor<1x1x2x2xf32>", v);
  };
  pool("max", "", {1, 3, 7, 9});
  pool("avg", "", {1, 2.5, 5.5, 7});
  pool("avg", ", count_include_pad", {0.25, 1.25, 2.75, 7});
}

TEST_F(Evaluate, Composites) {
  unary("graph.softmax %x {dim = 0 : i64}", "[0.0, 0.0]", "tensor<2xf32>", {0.5, 0.5});
  unary("graph.softmax %x {dim = 0 : i64}", "[0xFF800000, 0xFF800000]", "tensor<2xf32>",
        {quiet, quiet});
  unary("graph.softmax %x {dim = 0 : i64}", "[0xFF800000, 1.0]", "tensor<2xf32>", {0, 1});
  // x = -1, 1: mean 0, variance 1.
  unary("graph.layer_norm %x {begin = 0 : i64, epsilon = 0.0 : f64, operandSegmentSizes = "
        "array<i32: 1, 0, 0>}",
        "[-1.0, 1.0]", "tensor<2xf32>", {-1, 1});
  unary("graph.rms_norm %x {begin = 0 : i64, epsilon = 0.0 : f64}", "[3.0, -3.0]", "tensor<2xf32>",
        {1, -1});
  unary("graph.silu %x", "[0.0, 0x7F800000]", "tensor<2xf32>", {0, inf});
  // 1 * tanh(log(1 + e)) and its limits: x where e^x overflows, 0 where it vanishes.
  unary("graph.mish %x", "[1.0, 100.0]", "tensor<2xf32>", {0.86509838826731035f, 100});
  unary("graph.mish %x", "[0.0, -200.0]", "tensor<2xf32>", {0, -0.0});
  unary("graph.gelu erf %x", "[0.0, 40.0]", "tensor<2xf32>", {0, 40});
  // Rotation by 90 degrees: (a, b) -> (-b, a), pairs (i, i + 1) and (i, i + 2).
  auto rope = [&](const std::string &flag, std::vector<double> v) {
    expect("%x = graph.constant dense<[[[[1.0, 2.0, 3.0, 4.0]]]]> : tensor<1x1x1x4xf32>\n%c = "
           "graph.constant dense<0.0> : tensor<1x2xf32>\n%s = graph.constant dense<1.0> : "
           "tensor<1x2xf32>\n"
           "%y = graph.rope %x, %c, %s {" +
               flag +
               "} : (tensor<1x1x1x4xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x1x1x4xf32>",
           "tensor<1x1x1x4xf32>", v);
  };
  rope("", {-3, -4, 1, 2});
  rope("interleaved", {-2, 1, -4, 3});
  // Equal scores average the visible values; row 0 of three rows and two columns sees nothing.
  expect(
      "%q = graph.constant dense<0.0> : tensor<1x1x3x1xf32>\n%k = graph.constant dense<1.0> : "
      "tensor<1x1x2x1xf32>\n%v = graph.constant dense<[[[[2.0], [4.0]]]]> : tensor<1x1x2x1xf32>\n"
      "%y = graph.attention %q, %k, %v {scale = 1.0 : f64, causal} : (tensor<1x1x3x1xf32>, "
      "tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x3x1xf32>",
      "tensor<1x1x3x1xf32>", {0, 2, 3});
  // Two classes with equal logits: log 2 per label; the ignored one counts neither here nor there.
  auto entropy = [&](const std::string &names) {
    return run("%x = graph.constant dense<0.0> : tensor<3x2xf32>\n"
               "%l = graph.constant dense<[0, 1, -1]> : tensor<3xi64>\n" +
                   names +
                   " = graph.cross_entropy %x, %l {ignore_index = -1 : i64} : (tensor<3x2xf32>, "
                   "tensor<3xi64>) -> (tensor<f32>, tensor<f32>)",
               "tensor<f32>")
        .getFloat(0);
  };
  EXPECT_FLOAT_EQ(entropy("%y, %n"), 2 * std::log(2.0));
  EXPECT_EQ(entropy("%n, %y"), 2);
}

// ONNX BatchNormalization-15: running = momentum * running + (1 - momentum) * batch.
TEST_F(Evaluate, BatchNormStatistics) {
  auto norm = [&](const std::string &result, const std::string &type, std::vector<double> v) {
    expect("%x = graph.constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>\n%o = graph.constant "
           "dense<1.0> : tensor<1xf32>\n%z = graph.constant dense<0.0> : tensor<1xf32>\n"
           "%r:3 = graph.batch_norm %x, %o, %z, %z, %o {epsilon = 0.0 : f64, momentum = 0.75 : "
           "f64, training} : (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, "
           "tensor<1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>)\n"
           "%y = graph.reshape %r#" +
               result + " {shape = array<i64: " + std::to_string(v.size()) + ">} : (" + type +
               ") -> tensor<" + std::to_string(v.size()) + "xf32>",
           "tensor<" + std::to_string(v.size()) + "xf32>", v);
  };
  norm("0", "tensor<2x1xf32>", {-1, 1});
  norm("1", "tensor<1xf32>", {0.5});
  norm("2", "tensor<1xf32>", {1.0});
}

// Known answers of philox4x32-10 from the Random123 distribution (kat_vectors).
TEST_F(Evaluate, PhiloxKnownAnswers) {
  const uint32_t zeros[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(graph::philox(0, 0, 0, i), zeros[i]);
  // Key a4093822 299f31d0, counter 243f6a88 85a308d3 13198a2e 03707344: the index is the low half
  // times 4, which must fit into 64 bits, so only a counter with a small low half can be asked for.
  HostTensor y =
      run("%s = graph.constant dense<5> : tensor<i64>\n%o = graph.constant dense<2> : tensor<i64>\n"
          "%y = graph.rng_uniform %s, %o {type = tensor<4xf32>, seed = 1 : i64, ordinal = 2 : i64, "
          "global_shape = array<i64: 100>} : (tensor<i64>, tensor<i64>) -> tensor<4xf32>",
          "tensor<4xf32>");
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(y.getFloat(i), (graph::philox(1, 2, 5, 2 + i) >> 8) * 0x1p-24);
}

TEST_F(Evaluate, IntegerContractWraps) {
  expect("%a = graph.constant dense<100> : tensor<1x2xi8>\n%b = graph.constant dense<100> : "
         "tensor<2x1xi8>\n"
         "%y = graph.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract "
         "= array<i64: 1>, rhs_contract = array<i64: 0>, out = i32} : (tensor<1x2xi8>, "
         "tensor<2x1xi8>) -> tensor<1x1xi32>",
         "tensor<1x1xi32>", {20000});
}
