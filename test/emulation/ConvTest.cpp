//===- ConvTest.cpp - Convolution and its gradients, bit for bit ----------===//
//
// The expectation is the definition: for each output one fma chain over the documented order.
// Shapes cover strides, dilation, asymmetric padding, groups, one dimension.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"
#include "Numbers.h"
#include "gpucc/Target/Cuda/Cubin.h"

#include <ostream>

using namespace gpucc;
using namespace gpucc::test;
using namespace gpucc::rt::simt;

namespace {
struct ConvCase {
  const char *name;
  int n, c, h, w, co, kh, kw, strideH, strideW, dilationH, dilationW, top, left, bottom, right,
      groups;
  int v; ///< columns of forward and backward data
  int oh() const { return (h + top + bottom - dilationH * (kh - 1) - 1) / strideH + 1; }
  int ow() const { return (w + left + right - dilationW * (kw - 1) - 1) / strideW + 1; }
};
void PrintTo(const ConvCase &c, std::ostream *os) { *os << c.name; }

const ConvCase cases[] = {
    {"plain3x3", 2, 3, 8, 8, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4},
    {"stride2", 1, 4, 9, 11, 6, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1},
    {"asymmetric", 2, 2, 7, 6, 3, 2, 4, 1, 2, 1, 1, 0, 2, 1, 1, 1, 1},
    {"dilated", 1, 3, 10, 10, 4, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2, 1, 2},
    {"groups", 2, 6, 6, 6, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2},
    {"depthwise", 1, 5, 6, 8, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 5, 4},
    {"pointwise", 1, 70, 4, 4, 66, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 4},
    {"oneDimension", 2, 3, 1, 20, 4, 1, 5, 1, 2, 1, 1, 0, 2, 0, 2, 1, 1},
};

/// Index text "((a * B + b) * C + c) * D + d".
std::string index(int b, int c, int d, const char *names) {
  auto s = [](int x) { return std::to_string(x); };
  const std::string n(names);
  return std::string("((") + n[0] + " * " + s(b) + " + " + n[1] + ") * " + s(c) + " + " + n[2] +
         ") * " + s(d) + " + " + n[3];
}

std::string textOf(const ConvCase &c) {
  auto s = [](int x) { return std::to_string(x); };
  const std::string x = "[&](int n, int c, int h, int w) { return p0[" +
                        index(c.c, c.h, c.w, "nchw") + "]; }",
                    w = "[&](int o, int c, int h, int w) { return p1[" +
                        index(c.c / c.groups, c.kh, c.kw, "ochw") + "]; }",
                    dy = "[&](int n, int c, int h, int w) { return p2[" +
                         index(c.co, c.oh(), c.ow(), "nchw") + "]; }";
  auto write = [&](const std::string &first, int v, int b, int cc, int d) {
    const std::string at = index(b, cc, d, first == "int n" ? "nchw" : "ochw");
    const std::string acc = v == 1 ? "float acc" : "float (&acc)[" + s(v) + "]";
    return "[&](" + acc + ", " + first + ", int c, int h, int w) { " +
           (v == 1 ? "p3[" + at + "] = acc;"
                   : "gk_store(p3 + " + at + ", gk_load<float, " + s(v) + ">(acc + 0));") +
           " }";
  };
  const int vData = c.w % 2 ? 1 : 2;
  std::string text = "#include \"conv.cuh\"\nusing shape = gk_conv_shape<";
  for (int e : {c.n, c.c, c.h, c.w, c.co, c.kh, c.kw, c.oh(), c.ow(), c.strideH, c.strideW,
                c.dilationH, c.dilationW, c.top, c.left})
    text += s(e) + ", ";
  text += s(c.groups) + ">;\n";
  auto kernel = [&](const char *name, const std::string &body) {
    text += std::string("extern \"C\" __global__ void __launch_bounds__(256, 1) ") + name +
            "(const float *__restrict__ p0, const float *__restrict__ p1, const float "
            "*__restrict__ p2, "
            "float *__restrict__ p3) {\n  " +
            body + ";\n}\n";
  };
  const std::string tile = "<shape, 64, 64, 16, 4, 4, ";
  kernel("forward", "gk_conv_forward" + tile + s(c.v) + ">(" + x + ", " + w + ", " +
                        write("int n", c.v, c.co, c.oh(), c.ow()) + ")");
  kernel("data", "gk_conv_backward_data" + tile + s(vData) + ">(" + dy + ", " + w + ", " +
                     write("int n", vData, c.c, c.h, c.w) + ")");
  kernel("weights", "gk_conv_backward_weights" + tile + "1>(" + x + ", " + dy + ", " +
                        write("int o", 1, c.c / c.groups, c.kh, c.kw) + ")");
  return text;
}

class Conv : public testing::TestWithParam<ConvCase> {};

unsigned tiles(int m, int n) { return static_cast<unsigned>(((m + 63) / 64) * ((n + 63) / 64)); }
} // namespace

TEST_P(Conv, EqualsTheDefinitionBitForBit) {
  const ConvCase &c = GetParam();
  const int oh = c.oh(), ow = c.ow(), ci = c.c / c.groups, co = c.co / c.groups;
  MemoryMap memory;
  Values x(memory, "x", "float", size_t(c.n) * c.c * c.h * c.w, 1),
      w(memory, "w", "float", size_t(c.co) * ci * c.kh * c.kw, 2),
      dy(memory, "dy", "float", size_t(c.n) * c.co * oh * ow, 3);
  Buffer<float> y(memory, "y", size_t(c.n) * c.co * oh * ow),
      dx(memory, "dx", size_t(c.n) * c.c * c.h * c.w),
      dw(memory, "dw", size_t(c.co) * ci * c.kh * c.kw);
  auto run = [&](const char *name, unsigned grid, float *out) {
    SimtProgram program(textOf(c), name);
    return ::textOf(program.launch({grid, 1, unsigned(c.groups)}, {256}, memory, {.seed = 5},
                                   x.data(), w.data(), dy.data(), out));
  };
  EXPECT_EQ(run("forward", tiles(co, c.n * oh * ow), y.data), "");
  EXPECT_EQ(run("data", tiles(ci, c.n * c.h * c.w), dx.data), "");
  EXPECT_EQ(run("weights", tiles(co, ci * c.kh * c.kw), dw.data), "");

  auto atX = [&](int n, int ch, int h, int v) -> float {
    return h < 0 || h >= c.h || v < 0 || v >= c.w ? 0.0f
                                                  : x[size_t(((n * c.c + ch) * c.h + h) * c.w + v)];
  };
  auto atW = [&](int o, int i, int kh, int kw) {
    return w[size_t(((o * ci + i) * c.kh + kh) * c.kw + kw)];
  };
  auto atDy = [&](int n, int o, int h, int v) {
    return dy[size_t(((n * c.co + o) * oh + h) * ow + v)];
  };
  for (int n = 0; n < c.n; ++n)
    for (int o = 0; o < c.co; ++o)
      for (int h = 0; h < oh; ++h)
        for (int v = 0; v < ow; ++v) {
          float sum = 0.0f;
          for (int i = 0; i < ci; ++i)
            for (int kh = 0; kh < c.kh; ++kh)
              for (int kw = 0; kw < c.kw; ++kw)
                sum = std::fma(atW(o, i, kh, kw),
                               atX(n, o / co * ci + i, h * c.strideH - c.top + kh * c.dilationH,
                                   v * c.strideW - c.left + kw * c.dilationW),
                               sum);
          ASSERT_EQ(y[size_t(((n * c.co + o) * oh + h) * ow + v)], sum)
              << n << " " << o << " " << h << " " << v;
        }
  for (int n = 0; n < c.n; ++n)
    for (int g = 0; g < c.groups; ++g)
      for (int i = 0; i < ci; ++i)
        for (int h = 0; h < c.h; ++h)
          for (int v = 0; v < c.w; ++v) {
            float sum = 0.0f;
            for (int o = 0; o < co; ++o)
              for (int kh = 0; kh < c.kh; ++kh)
                for (int kw = 0; kw < c.kw;
                     ++kw) // which output, if any, read (h, v) by tap (kh, kw)
                  for (int p = 0; p < oh; ++p)
                    for (int q = 0; q < ow; ++q)
                      if (p * c.strideH - c.top + kh * c.dilationH == h &&
                          q * c.strideW - c.left + kw * c.dilationW == v)
                        sum = std::fma(atW(g * co + o, i, kh, kw), atDy(n, g * co + o, p, q), sum);
            ASSERT_EQ(dx[size_t(((n * c.c + g * ci + i) * c.h + h) * c.w + v)], sum);
          }
  for (int o = 0; o < c.co; ++o)
    for (int i = 0; i < ci; ++i)
      for (int kh = 0; kh < c.kh; ++kh)
        for (int kw = 0; kw < c.kw; ++kw) {
          float sum = 0.0f;
          for (int n = 0; n < c.n; ++n)
            for (int h = 0; h < oh; ++h)
              for (int v = 0; v < ow; ++v)
                sum = std::fma(atDy(n, o, h, v),
                               atX(n, o / co * ci + i, h * c.strideH - c.top + kh * c.dilationH,
                                   v * c.strideW - c.left + kw * c.dilationW),
                               sum);
          ASSERT_EQ(dw[size_t(((o * ci + i) * c.kh + kh) * c.kw + kw)], sum);
        }
}

TEST_P(Conv, KeepsItsBudgetOnDevices) {
  std::string error;
  auto nvrtc = cuda::NvrtcLibrary::open("", error);
  if (!nvrtc)
    GTEST_SKIP() << error;
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::Code code = nvrtc->compile(textOf(GetParam()), arch, {cacheFolder(), {}});
    ASSERT_TRUE(code.ok) << code.log;
    for (const cuda::KernelInfo &kernel : cuda::readCubin(code.bytes).kernels)
      EXPECT_FALSE(kernel.spills()) << arch << " " << cuda::describe(kernel);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Conv, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<ConvCase> &info) {
                           return std::string(info.param.name);
                         });
