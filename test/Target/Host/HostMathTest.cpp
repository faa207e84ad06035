//===- HostMathTest.cpp - functions against libm in double ----------------===//
#include "HostFixture.h"

#include <cmath>
#include <limits>

using namespace gpucc::test;

namespace {

struct Function {
  const char *op; ///< in MLIR
  double (*reference)(double);
  float low, high;
  double ulps;
};

double ulpsOff(float got, double want) {
  float rounded = float(want);
  if (std::isnan(want))
    return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got ? 0 : 1e9;
  double ulp = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
  ulp = std::max(ulp, 1.1754944e-38 * 1.19e-7);
  return std::abs(got - want) / ulp;
}

std::string unary(const char *op, const char *type, int n) {
  std::string view = "memref<" + std::to_string(n) + "x" + type + ">";
  return "kernel.func @k(%x: " + view + ", %y: " + view +
         ") { kernel.program () in () { kernel.loop (%c) in (" + std::to_string(n) +
         ") { %0 = kernel.load %x[%c] : " + view + "\n %1 = " + op + " %0 : " + type +
         "\n kernel.store %1, %y[%c] : " + view + " } } }";
}

class Math : public testing::TestWithParam<Function> {};

TEST_P(Math, CloseToDouble) {
  const Function &f = GetParam();
  constexpr int n = 4003;
  std::vector<float> x = randomFloats(n, 7, f.low, f.high);
  float inf = std::numeric_limits<float>::infinity();
  float special[] = {0.0f, -0.0f, 1.0f, -1.0f, inf, -inf, NAN, 1e-30f, -1e-30f, 0.5f, 2.0f};
  std::copy(std::begin(special), std::end(special), x.begin());
  std::vector<std::vector<float>> results;
  for (const std::string &level : levels()) {
    Kernels k(unary(f.op, "f32", n), level);
    std::vector<float> y(n);
    k.run("k", {x.data(), y.data()});
    double worst = 0;
    for (int i = 0; i < n; ++i) {
      double off = ulpsOff(y[i], f.reference(x[i]));
      EXPECT_LE(off, f.ulps) << f.op << "(" << x[i] << ") = " << y[i];
      worst = std::max(worst, off);
      if (off > f.ulps)
        break;
    }
    RecordProperty("ulps", std::to_string(worst));
    results.push_back(y);
  }
  for (size_t i = 1; i < results.size(); ++i)
    EXPECT_EQ(0, memcmp(results[0].data(), results[i].data(), n * sizeof(float)))
        << "bits differ between CPU levels";
}

double rsqrt(double x) { return 1 / std::sqrt(x); }

INSTANTIATE_TEST_SUITE_P(Functions, Math,
                         testing::Values(Function{"math.exp", std::exp, -86, 88, 1.5},
                                         Function{"math.log", std::log, 0, 100, 1.5},
                                         Function{"math.tanh", std::tanh, -10, 10, 4},
                                         Function{"math.erf", std::erf, -4, 4, 2},
                                         Function{"math.sin", std::sin, -3, 3, 2},
                                         Function{"math.cos", std::cos, -1.5, 1.5, 2},
                                         Function{"math.rsqrt", rsqrt, 0, 1000, 1.5},
                                         Function{"math.sqrt", std::sqrt, 0, 1000, 0.5},
                                         Function{"math.atan", std::atan, -10, 10, 3},
                                         Function{"math.log1p", std::log1p, -0.9, 10, 8},
                                         Function{"math.expm1", std::expm1, -10, 10, 8},
                                         Function{"math.roundeven", std::nearbyint, -10, 10, 0},
                                         Function{"math.floor", std::floor, -10, 10, 0}),
                         [](const auto &info) { return std::string(info.param.op).substr(5); });

// A few ulps, and 3e-7 where the result is small.
TEST(HostMath, RarelyUsedFunctions) {
  struct {
    const char *op;
    double (*reference)(double);
    float low, high;
  } functions[] = {{"math.tan", std::tan, -1.5, 1.5},   {"math.asin", std::asin, -1, 1},
                   {"math.acos", std::acos, -1, 1},     {"math.sinh", std::sinh, -89, 89},
                   {"math.cosh", std::cosh, -89, 89},   {"math.asinh", std::asinh, -1000, 1000},
                   {"math.acosh", std::acosh, 1, 1000}, {"math.atanh", std::atanh, -1, 1},
                   {"math.ceil", std::ceil, -10, 10}};
  constexpr int n = 3000;
  for (auto &f : functions) {
    Kernels k(unary(f.op, "f32", n), levels().back());
    std::vector<float> x = randomFloats(n, 5, f.low, f.high), y(n);
    k.run("k", {x.data(), y.data()});
    for (int i = 0; i < n; ++i) {
      double want = f.reference(x[i]);
      ASSERT_NEAR(y[i], want, 3e-6 * std::abs(want) + 3e-7) << f.op << " " << x[i];
    }
  }
}

// Far from zero only the absolute error is promised.
TEST(HostMath, SinAndCosOfLargeArguments) {
  constexpr int n = 2000;
  auto x = randomFloats(n, 3, -20000, 20000);
  std::vector<float> y(n);
  for (auto [op, reference] : {std::pair("math.sin", (double (*)(double))std::sin),
                               {"math.cos", (double (*)(double))std::cos}}) {
    Kernels k(unary(op, "f32", n), levels().back());
    k.run("k", {x.data(), y.data()});
    for (int i = 0; i < n; ++i)
      ASSERT_NEAR(y[i], reference(x[i]), 2e-7) << op << " " << x[i];
  }
}

TEST(HostMath, Pow) {
  float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x, y;
  float special[] = {0.0f, -0.0f, 1.0f, -1.0f, inf,   -inf,   NAN,  0.5f, -0.5f,
                     2.0f, -2.0f, 3.0f, -3.0f, 1e30f, 1e-30f, 2.5f, 1e10f};
  for (float a : special)
    for (float b : special)
      x.push_back(a), y.push_back(b);
  auto bases = randomFloats(1000, 1, 0, 50), exponents = randomFloats(1000, 2, -10, 10);
  x.insert(x.end(), bases.begin(), bases.end());
  y.insert(y.end(), exponents.begin(), exponents.end());
  std::string n = std::to_string(x.size()), view = "memref<" + n + "xf32>";
  Kernels k("kernel.func @k(%x: " + view + ", %y: " + view + ", %z: " + view +
                ") { kernel.program () in () { kernel.loop (%c) in (" + n +
                ") { %0 = kernel.load %x[%c] : " + view + "\n %1 = kernel.load %y[%c] : " + view +
                "\n %2 = math.powf %0, %1 : f32\n kernel.store %2, %z[%c] : " + view + " } } }",
            levels().back());
  std::vector<float> z(x.size());
  k.run("k", {x.data(), y.data(), z.data()});
  for (size_t i = 0; i < x.size(); ++i) {
    // The sign of zero and infinity of odd powers of -0 is C's too.
    double want = std::pow(double(x[i]), double(y[i]));
    if (std::abs(want) < 1.2e-38)
      EXPECT_NEAR(z[i], want, 1.2e-38) << x[i] << " ^ " << y[i];
    else
      EXPECT_LE(ulpsOff(z[i], want), 1) << x[i] << " ^ " << y[i] << " = " << z[i];
  }
}

// bf16 and f16 are computed in f32 and rounded after each operation, to nearest even.
TEST(HostMath, SmallFloats) {
  for (const std::string &level : levels()) {
    Kernels k(R"(
      kernel.func @k(%x: memref<300xf32>, %y: memref<300xbf16>, %z: memref<300xf16>) {
        kernel.program () in () {
          kernel.loop (%c) in (300) {
            %0 = kernel.load %x[%c] : memref<300xf32>
            %1 = arith.truncf %0 : f32 to bf16
            %2 = arith.addf %1, %1 : bf16
            %3 = arith.mulf %2, %1 : bf16
            kernel.store %3, %y[%c] : memref<300xbf16>
            %4 = arith.truncf %0 : f32 to f16
            %5 = arith.mulf %4, %4 : f16
            kernel.store %5, %z[%c] : memref<300xf16>
          }
        }
      })",
              level);
    auto x = randomFloats(300, 4, -3, 3);
    x[0] = 1e-39f, x[1] = -0.0f, x[2] = 65504, x[3] = 1e-5f;
    std::vector<uint16_t> y(300), z(300);
    k.run("k", {x.data(), y.data(), z.data()});
    auto bf16 = [](float v) {
      uint32_t u;
      memcpy(&u, &v, 4);
      u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000;
      memcpy(&v, &u, 4);
      return v;
    };
    for (int i = 0; i < 300; ++i) {
      float a = bf16(x[i]), b = bf16(a + a), c = bf16(b * a);
      uint32_t u;
      memcpy(&u, &c, 4);
      ASSERT_EQ(y[i], u >> 16) << x[i];
      _Float16 h = (_Float16)x[i];
      _Float16 p = (_Float16)((float)h * (float)h);
      uint16_t bits;
      memcpy(&bits, &p, 2);
      ASSERT_EQ(z[i], bits) << x[i];
    }
  }
}

// All 256 codes decode as the formats' definitions say; encoding rounds to the nearest code, halves
// to even, found by search.
TEST(HostMath, EightBitFloats) {
  struct {
    const char *type;
    int mantissaBits, bias, infinity; ///< code of infinity, 0 = none
  } formats[] = {{"f8E4M3FN", 3, 7, 0}, {"f8E5M2", 2, 15, 0x7c}};
  for (auto &f : formats) {
    auto value = [&](int code) -> double {
      int m = code & ((1 << f.mantissaBits) - 1), e = (code & 0x7f) >> f.mantissaBits;
      double sign = code & 0x80 ? -1 : 1;
      if (f.infinity ? (code & 0x7f) > f.infinity : (code & 0x7f) == 0x7f)
        return NAN;
      if (f.infinity && (code & 0x7f) == f.infinity)
        return sign * INFINITY;
      return sign * (e ? std::ldexp(1 + std::ldexp(m, -f.mantissaBits), e - f.bias)
                       : std::ldexp(m, 1 - f.bias - f.mantissaBits));
    };
    std::string text = R"(
      kernel.func @decode(%x: memref<256xT>, %y: memref<256xf32>) {
        kernel.program () in () { kernel.loop (%c) in (256) {
          %0 = kernel.load %x[%c] : memref<256xT>
          %1 = arith.extf %0 : T to f32
          kernel.store %1, %y[%c] : memref<256xf32>
        } }
      }
      kernel.func @encode(%x: memref<2000xf32>, %y: memref<2000xT>) {
        kernel.program () in () { kernel.loop (%c) in (2000) {
          %0 = kernel.load %x[%c] : memref<2000xf32>
          %1 = arith.truncf %0 : f32 to T
          kernel.store %1, %y[%c] : memref<2000xT>
        } }
      })";
    for (size_t at; (at = text.find("T to")) != std::string::npos;)
      text.replace(at, 1, f.type);
    for (size_t at; (at = text.find("xT>")) != std::string::npos;)
      text.replace(at, 3, std::string("x") + f.type + ">");
    for (size_t at; (at = text.find("to T\n")) != std::string::npos;)
      text.replace(at, 5, std::string("to ") + f.type + "\n");
    Kernels k(text, levels().back());
    std::vector<uint8_t> codes(256);
    for (int i = 0; i < 256; ++i)
      codes[i] = i;
    std::vector<float> decoded(256);
    k.run("decode", {codes.data(), decoded.data()});
    for (int i = 0; i < 256; ++i)
      ASSERT_TRUE(std::isnan(value(i)) ? std::isnan(decoded[i]) : decoded[i] == float(value(i)))
          << f.type << " " << i << " " << decoded[i];
    int largest = f.infinity ? f.infinity - 1 : 0x7e;
    std::vector<float> x = randomFloats(2000, 3, -600, 600);
    for (int i = 0; i < 1000; ++i)
      x[i] = std::ldexp(x[i], -(i % 24));
    for (int i = 0; i < largest; ++i) // halfway between neighbours, and a little beside
      x[i] = float((value(i) + value(i + 1)) / 2) * (i % 3 == 0   ? 1
                                                     : i % 3 == 1 ? 1.0001f
                                                                  : 0.9999f);
    x[500] = NAN, x[501] = INFINITY, x[502] = 1e9f, x[503] = -0.0f, x[504] = float(value(largest));
    std::vector<uint8_t> encoded(2000);
    k.run("encode", {x.data(), encoded.data()});
    double step = value(largest) - value(largest - 1);
    for (int i = 0; i < 2000; ++i) {
      float a = std::abs(x[i]);
      int want = 0;
      if (std::isnan(a))
        want = f.infinity ? 0x7e : 0x7f;
      else if (a >= value(largest) + step / 2)
        want = f.infinity ? f.infinity : 0x7f;
      else
        for (int c = 0; c <= largest; ++c) {
          double d = std::abs(value(c) - a), best = std::abs(value(want) - a);
          if (d < best || (d == best && c % 2 == 0))
            want = c;
        }
      if (std::signbit(x[i]))
        want |= 0x80;
      ASSERT_EQ(int(encoded[i]), want) << f.type << " " << x[i];
    }
  }
}

TEST(HostMath, DoubleUsesTheLibrary) {
  for (auto [op, reference] : {std::pair("math.exp", (double (*)(double))std::exp),
                               {"math.expm1", (double (*)(double))std::expm1},
                               {"math.log1p", (double (*)(double))std::log1p},
                               {"math.sin", (double (*)(double))std::sin},
                               {"math.erf", (double (*)(double))std::erf},
                               {"math.asinh", (double (*)(double))std::asinh}}) {
    Kernels k(unary(op, "f64", 21), levels().back());
    std::vector<double> x(21), y(21);
    for (int i = 0; i < 21; ++i)
      x[i] = (i - 10) * 1e-3;
    k.run("k", {x.data(), y.data()});
    for (int i = 0; i < 21; ++i)
      ASSERT_EQ(y[i], reference(x[i])) << op << " " << x[i];
  }
}

} // namespace
