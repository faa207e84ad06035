//===- GkTest.cpp - Conversions and reductions of gk.cuh ------------------===//
//
// Conversions: all 65,536 16-bit patterns and a sweep of floats around every rounding boundary
// against the formats' definitions (Numbers.h). Reductions: the fixed tree written down as a plain
// loop, for every shape of group, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"
#include "Numbers.h"

#include <functional>

using namespace gpucc::test;
using namespace gpucc::rt::simt;

namespace {
const char *convert = R"(#include "gk.cuh"
extern "C" __global__ void widen(const gk_f16 *h, const gk_bf16 *b, float *fromH, float *fromB) {
  int i = blockIdx.x * 256 + threadIdx.x;
  fromH[i] = gk_float(h[i]);
  fromB[i] = gk_float(b[i]);
}
extern "C" __global__ void narrow(const float *x, gk_f16 *h, gk_bf16 *b, float *t, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    h[i] = gk_cast<gk_f16>(x[i]);
    b[i] = gk_cast<gk_bf16>(x[i]);
    t[i] = gk_to_tf32(x[i]);
  }
}
extern "C" __global__ void integers(const float *x, int *s, unsigned *u, long long *l,
                                    signed char *c, int n) {
  int i = threadIdx.x;
  if (i < n) {
    s[i] = gk_fptoint<int>(x[i]);
    u[i] = gk_fptoint<unsigned>(x[i]);
    l[i] = gk_fptoint<long long>(x[i]);
    c[i] = gk_fptoint<signed char>(x[i]);
  }
}
)";

/// The tree of design: per residue mod P in ascending order, then residue bits 4, 5, ..., then 3,
/// 2, 1, 0.
float tree(std::vector<float> lane, const std::function<float(float, float)> &op) {
  const size_t p = lane.size();
  for (size_t bit = 16; bit < p; bit *= 2)
    for (size_t i = 0; i < p; ++i)
      if (!(i & bit) && i + bit < p && (i & (bit - 1) & ~size_t(15)) == 0)
        lane[i] = op(lane[i], lane[i + bit]);
  for (size_t bit = 8; bit; bit /= 2)
    for (size_t i = 0; i < bit; ++i)
      lane[i] = op(lane[i], lane[i + bit]);
  return lane[0];
}

struct Group {
  int t, g, v;
};
void PrintTo(const Group &s, std::ostream *os) { *os << s.t << "x" << s.g << "x" << s.v; }
class Reduce : public testing::TestWithParam<Group> {};
} // namespace

TEST(GkConversions, WidenAllPatterns) {
  SimtProgram program(convert, "widen");
  MemoryMap memory;
  Buffer<uint16_t> h(memory, "h", 65536), b(memory, "b", 65536);
  Buffer<float> fromH(memory, "fromH", 65536), fromB(memory, "fromB", 65536);
  for (unsigned i = 0; i < 65536; ++i)
    h[i] = b[i] = static_cast<uint16_t>(i);
  ASSERT_EQ(textOf(program.launch({256}, {256}, memory, {.races = false}, h.data, b.data,
                                  fromH.data, fromB.data)),
            "");
  for (unsigned i = 0; i < 65536; ++i) {
    const double expect = f16ToDouble(static_cast<uint16_t>(i));
    if (expect != expect) {
      uint32_t bits;
      memcpy(&bits, &fromH[i], 4);
      ASSERT_EQ(bits, 0x7fffffffu) << i; // the PTX ISA's canonical NaN
    } else {
      ASSERT_EQ(double(fromH[i]), expect) << i;
      ASSERT_EQ(std::signbit(fromH[i]), i >> 15 == 1) << i;
    }
    ASSERT_EQ(memcmp(&fromB[i], std::vector<uint16_t>{0, static_cast<uint16_t>(i)}.data(), 4), 0)
        << i;
  }
}

TEST(GkConversions, NarrowAroundEveryBoundary) {
  std::vector<float> values = {NAN,    -NAN,    INFINITY, -INFINITY, 0.0f,    -0.0f,
                               1e-45f, -1e-45f, 3.4e38f,  65519.9f,  65520.0f};
  for (unsigned i = 0; i < 65536; i += 7)
    for (double x :
         {f16ToDouble(static_cast<uint16_t>(i)), double(bf16ToFloat(static_cast<uint16_t>(i)))}) {
      const auto f = static_cast<float>(x);
      uint32_t bits;
      memcpy(&bits, &f, 4);
      for (uint32_t step : {0u, 1u, 0x1000u, 0x0fffu, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) {
        const uint32_t moved = bits + step;
        float g;
        memcpy(&g, &moved, 4);
        values.push_back(g);
      }
    }
  SimtProgram program(convert, "narrow");
  MemoryMap memory;
  const size_t n = values.size();
  Buffer<float> x(memory, "x", n), t(memory, "t", n);
  Buffer<uint16_t> h(memory, "h", n), b(memory, "b", n);
  std::copy(values.begin(), values.end(), x.data);
  ASSERT_EQ(textOf(program.launch({unsigned(n + 255) / 256}, {256}, memory, {.races = false},
                                  x.data, h.data, b.data, t.data, int(n))),
            "");
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(h[i], doubleToF16(values[i])) << values[i];
    ASSERT_EQ(b[i], doubleToBf16(values[i])) << values[i];
    if (!std::isfinite(values[i]))
      continue;
    // tf32: 10 bits of mantissa, nearest, ties away from zero, denormals on the grid of the
    // smallest normal.
    int exponent = 0;
    std::frexp(double(values[i]), &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - 11);
    const double q = double(values[i]) / unit,
                 away = std::copysign(std::floor(std::fabs(q) + 0.5), q);
    const auto expect = static_cast<float>(away * unit);
    ASSERT_EQ(t[i], expect) << values[i];
  }
}

TEST(GkConversions, FloatToIntegerSaturates) {
  const float values[] = {
      0.0f,           -0.9f,         1.9f,  -1.9f, 127.5f, 128.0f,   -129.0f,   2147483648.0f,
      -2147483904.0f, 4294967296.0f, -1.0f, 1e20f, -1e20f, INFINITY, -INFINITY, NAN};
  const int s[] = {0,         0,         1,  -1,        127,       128,       -129,      INT32_MAX,
                   INT32_MIN, INT32_MAX, -1, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0};
  const unsigned u[] = {0, 0,          1, 0,          127, 128,        0, 2147483648u,
                        0, UINT32_MAX, 0, UINT32_MAX, 0,   UINT32_MAX, 0, 0};
  const long long l[] = {0,
                         0,
                         1,
                         -1,
                         127,
                         128,
                         -129,
                         2147483648LL,
                         -2147483904LL,
                         4294967296LL,
                         -1,
                         INT64_MAX,
                         INT64_MIN,
                         INT64_MAX,
                         INT64_MIN,
                         0};
  const int c[] = {0, 0, 1, -1, 127, 127, -128, 127, -128, 127, -1, 127, -128, 127, -128, 0};
  SimtProgram program(convert, "integers");
  MemoryMap memory;
  Buffer<float> x(memory, "x", 16);
  Buffer<int> gotS(memory, "s", 16);
  Buffer<unsigned> gotU(memory, "u", 16);
  Buffer<long long> gotL(memory, "l", 16);
  Buffer<signed char> gotC(memory, "c", 16);
  std::copy(std::begin(values), std::end(values), x.data);
  ASSERT_EQ(textOf(program.launch({1}, {32}, memory, {}, x.data, gotS.data, gotU.data, gotL.data,
                                  gotC.data, 16)),
            "");
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(gotS[i], s[i]) << values[i];
    EXPECT_EQ(gotU[i], u[i]) << values[i];
    EXPECT_EQ(gotL[i], l[i]) << values[i];
    EXPECT_EQ(gotC[i], c[i]) << values[i];
  }
}

TEST_P(Reduce, IsTheFixedTree) {
  const Group s = GetParam();
  auto text = [&](const char *op) {
    auto n = [](int x) { return std::to_string(x); };
    return "#include \"gk.cuh\"\nextern \"C\" __global__ void reduce(const float *x, float *y) {\n "
           " float a[" +
           n(s.v) + "];\n  for (int v = 0; v < " + n(s.v) + "; ++v) a[v] = x[threadIdx.x * " +
           n(s.v) + " + v];\n  y[threadIdx.x] = gk_reduce<" + op + ", " + n(s.t) + ", " + n(s.g) +
           ">(a);\n}\n";
  };
  const int threads = s.t * s.g, p = s.t * s.v;
  MemoryMap memory;
  Values x(memory, "x", "float", size_t(threads) * s.v, 9);
  Buffer<float> y(memory, "y", size_t(threads));
  struct Operation {
    const char *name;
    std::function<float(float, float)> op;
  } operations[] = {{"gk_add", [](float a, float b) { return a + b; }},
                    {"gk_maxnum", [](float a, float b) { return b > a ? b : a; }}};
  for (const Operation &operation : operations) {
    SimtProgram program(text(operation.name), "reduce");
    ASSERT_EQ(
        textOf(program.launch({1}, {unsigned(threads)}, memory, {.seed = 3}, x.data(), y.data)),
        "");
    for (int g = 0; g < s.g; ++g) {
      std::vector<float> lanes;
      for (int i = 0; i < p; ++i)
        lanes.push_back(x[size_t(g) * p + i]);
      const float expect = tree(lanes, operation.op);
      for (int t = 0; t < s.t; ++t)
        ASSERT_EQ(y[size_t(g) * s.t + t], expect)
            << operation.name << " group " << g << " thread " << t;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Groups, Reduce,
                         testing::Values(Group{32, 1, 1}, Group{32, 4, 2}, Group{32, 2, 4},
                                         Group{32, 1, 8}, Group{32, 1, 16}, Group{64, 2, 4},
                                         Group{128, 1, 1}, Group{256, 1, 4}, Group{128, 2, 8},
                                         Group{64, 1, 16}, Group{1024, 1, 1}, Group{512, 2, 2},
                                         Group{8, 8, 4}, Group{16, 4, 2}, Group{4, 32, 8},
                                         Group{2, 64, 16}));

TEST(ReduceTo, ColumnsByTheFixedTree) {
  struct {
    int t, b, v, u;
  } shapes[] = {{256, 32, 4, 1}, {256, 256, 4, 1}, {64, 8, 4, 1}, {128, 1, 8, 2},
                {256, 4, 4, 1},  {256, 64, 8, 2},  {32, 32, 4, 4}};
  for (auto s : shapes) {
    auto n = [](int x) { return std::to_string(x); };
    const int each = s.v / s.u, rows = s.t * s.v / s.b;
    SimtProgram program(
        "#include \"gk.cuh\"\nextern \"C\" __global__ void columns(const float *x, float *y) {\n"
        "  GK_SHARED(float, out, [" +
            n(s.b) + "]);\n  float a[" + n(s.v) + "];\n  for (int u = 0; u < " + n(s.u) +
            "; ++u) for (int v = 0; v < " + n(each) + "; ++v) a[u * " + n(each) +
            " + v] = x[(u * " + n(s.t) + " + threadIdx.x) * " + n(each) +
            " + v];\n  gk_reduce_to<gk_add, " + n(s.t) + ", " + n(s.b) + ", " + n(s.u) +
            ">(a, out);\n  for (int c = threadIdx.x; c < " + n(s.b) + "; c += " + n(s.t) +
            ") y[c] = out[c];\n}\n",
        "columns");
    MemoryMap memory;
    Values x(memory, "x", "float", size_t(s.t) * s.v, 4);
    Buffer<float> y(memory, "y", size_t(s.b));
    ASSERT_EQ(textOf(program.launch({1}, {unsigned(s.t)}, memory, {.seed = 8}, x.data(), y.data)),
              "");
    for (int c = 0; c < s.b; ++c) {
      std::vector<float> lanes;
      for (int r = 0; r < rows; ++r)
        lanes.push_back(x[size_t(r) * s.b + c]);
      while (lanes.size() < 16) { // fewer rows than residues: the tree starts at the rows' top bit
        if (lanes.size() == 1)
          break;
        const size_t half = lanes.size() / 2;
        for (size_t i = 0; i < half; ++i)
          lanes[i] += lanes[i + half];
        lanes.resize(half);
      }
      const float expect =
          lanes.size() == 1 ? lanes[0] : tree(lanes, [](float a, float b) { return a + b; });
      ASSERT_EQ(y[size_t(c)], expect) << rows << " rows, column " << c;
    }
  }
}
