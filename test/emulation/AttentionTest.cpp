//===- AttentionTest.cpp - Attention skeletons against the definition in double -===//

#include "KernelFixture.h"
#include "Numbers.h"
#include "gpucc/Target/Cuda/Cubin.h"

#include <ostream>

using namespace gpucc;
using namespace gpucc::test;
using namespace gpucc::rt::simt;

namespace {
struct AttentionCase {
  const char *name, *type;
  int batch, heads, kvHeads, sq, sk, d;
  bool causal;
  int offset, window;
  bool bias, computedQ;
  int v;
  bool mma() const { return std::string(type) != "float"; }
};
void PrintTo(const AttentionCase &c, std::ostream *os) { *os << c.name; }

const AttentionCase cases[] = {
    {"bf16_plain", "gk_bf16", 2, 2, 2, 64, 64, 64, false, 0, 0, false, false, 8},
    {"bf16_causal_tails", "gk_bf16", 1, 2, 2, 70, 70, 32, true, 0, 0, false, false, 8},
    {"f16_gqa_bias", "gk_f16", 1, 4, 2, 40, 130, 16, false, 0, 0, true, false, 4},
    {"f16_d128", "gk_f16", 1, 2, 1, 100, 100, 128, true, 0, 0, true, false, 8},
    {"f16_d80_decode", "gk_f16", 2, 2, 1, 1, 90, 80, true, 89, 0, false, false, 8},
    {"bf16_window", "gk_bf16", 1, 1, 1, 150, 150, 24, true, 0, 20, false, false, 2},
    {"f16_odd_d", "gk_f16", 1, 2, 2, 33, 47, 13, false, 0, 0, false, false, 1},
    {"bf16_computed_q", "gk_bf16", 1, 2, 2, 64, 80, 64, false, 0, 0, false, true, 8},
    {"f32_plain", "float", 2, 2, 2, 33, 47, 64, false, 0, 0, false, false, 4},
    {"f32_causal_gqa_bias", "float", 1, 4, 2, 50, 50, 20, true, 0, 0, true, false, 4},
    {"f32_d128_window", "float", 1, 1, 1, 60, 60, 128, true, 0, 9, false, false, 4},
    {"f32_odd_d_computed", "float", 1, 2, 1, 20, 35, 7, true, 15, 0, false, true, 1},
};

std::string textOf(const AttentionCase &c) {
  auto s = [](long long x) { return std::to_string(x); };
  const std::string t = c.type;
  auto heads = [&](int rows, int count) {
    return "gk_heads<" + t + ", " + s(rows * count * c.d) + ", " + s(c.d) + ", " + s(count * c.d) +
           ">";
  };
  std::string text =
      std::string("#include \"") + (c.mma() ? "attention_mma" : "attention_simt") +
      ".cuh\"\nextern \"C\" __global__ void __launch_bounds__(128, 1) attention(const " + t +
      " *__restrict__ p0, const " + t + " *__restrict__ p1, const " + t +
      " *__restrict__ p2, const float *__restrict__ p3, float *__restrict__ p4, "
      "float *__restrict__ p5) {\n";
  text += "  using shape = gk_attention_shape<" + s(c.heads) + ", " + s(c.kvHeads) + ", " +
          s(c.sq) + ", " + s(c.sk) + ", " + s(c.d) + ", " + (c.causal ? "true" : "false") + ", " +
          s(c.offset) + ", " + s(c.window) + ">;\n";
  text += c.computedQ ? "  auto q = gk_computed_heads<" + t +
                            ">([=](gk_i64 b, int h, int r, int d) { return p0[((b * " + s(c.sq) +
                            " + r) * " + s(c.heads) + " + h) * " + s(c.d) + " + d]; });\n"
                      : "  " + heads(c.sq, c.heads) + " q{p0};\n";
  text += "  " + heads(c.sk, c.kvHeads) + " k{p1}, v{p2};\n  gk_attention_" +
          (c.mma() ? "mma<" + t + ", " : std::string("simt<")) + "shape, " + s(c.v) +
          ">(q, k, v, 0.25f, ";
  text += c.bias ? "[=](float x, gk_i64 b, int h, int i, int j) { return x + p3[i * " + s(c.sk) +
                       " + j]; }"
                 : std::string("gk_plain_score{}");
  const std::string at =
      "p4 + ((b * " + s(c.sq) + " + i) * " + s(c.heads) + " + h) * " + s(c.d) + " + d";
  if (c.v == 1)
    text += ",\n    [=](float acc, gk_i64 b, int h, int i, int d) { *(" + at + ") = acc; }";
  else
    text += ",\n    [=](float (&acc)[" + s(c.v) +
            "], gk_i64 b, int h, int i, int d) { for (int e = 0; e < " + s(c.v) +
            "; e += " + s(c.v < 4 ? c.v : 4) + ") gk_store(" + at + " + e, gk_load<float, " +
            s(c.v < 4 ? c.v : 4) + ">(acc + e)); }";
  text += ",\n    [=](float l, gk_i64 b, int h, int i) { p5[(b * " + s(c.heads) + " + h) * " +
          s(c.sq) + " + i] = l; });\n}\n";
  return text;
}

class Attention : public testing::TestWithParam<AttentionCase> {};
} // namespace

TEST_P(Attention, EqualsDoubleUnderRaceDetector) {
  const AttentionCase &c = GetParam();
  MemoryMap memory;
  Values q(memory, "q", c.type, size_t(c.batch) * c.sq * c.heads * c.d, 1),
      k(memory, "k", c.type, size_t(c.batch) * c.sk * c.kvHeads * c.d, 2),
      v(memory, "v", c.type, size_t(c.batch) * c.sk * c.kvHeads * c.d, 3),
      bias(memory, "bias", "float", size_t(c.sq) * c.sk, 4);
  Buffer<float> o(memory, "o", size_t(c.batch) * c.sq * c.heads * c.d),
      lse(memory, "lse", size_t(c.batch) * c.heads * c.sq);
  SimtProgram program(textOf(c), "attention");
  const unsigned rows = c.mma() ? 64 : 32;
  for (bool early : {false, true}) {
    std::fill(o.data, o.data + o.count, NAN);
    ASSERT_EQ(::textOf(program.launch(
                  {(unsigned(c.sq) + rows - 1) / rows, unsigned(c.heads), unsigned(c.batch)}, {128},
                  memory, {.seed = 2u + early, .copiesEarly = early}, q.data(), k.data(), v.data(),
                  bias.data(), o.data, lse.data)),
              "");
    for (int b = 0; b < c.batch; ++b)
      for (int h = 0; h < c.heads; ++h)
        for (int i = 0; i < c.sq; ++i) {
          const int kv = h / (c.heads / c.kvHeads);
          std::vector<double> p(size_t(c.sk), -INFINITY);
          double top = -INFINITY, sum = 0;
          for (int j = 0; j < c.sk; ++j) {
            if ((c.causal && j > i + c.offset) || (c.window && j <= i + c.offset - c.window))
              continue;
            double x = 0;
            for (int d = 0; d < c.d; ++d)
              x += double(q[size_t(((b * c.sq + i) * c.heads + h) * c.d + d)]) *
                   k[size_t(((b * c.sk + j) * c.kvHeads + kv) * c.d + d)];
            p[size_t(j)] = 0.25 * x + (c.bias ? bias[size_t(i * c.sk + j)] : 0.0f);
            top = std::max(top, p[size_t(j)]);
          }
          for (double &x : p)
            sum += x = std::exp(x - top);
          EXPECT_NEAR(lse[size_t((b * c.heads + h) * c.sq + i)], top + std::log(sum),
                      2e-5 * (1 + std::fabs(top)));
          for (int d = 0; d < c.d; ++d) {
            double expect = 0;
            for (int j = 0; j < c.sk; ++j)
              expect += p[size_t(j)] / sum * v[size_t(((b * c.sk + j) * c.kvHeads + kv) * c.d + d)];
            // Probabilities are rounded to the element type before the second product; |v| < 2.
            const double tolerance =
                c.mma() ? (std::string(c.type) == "gk_bf16" ? 0x1p-7 : 0x1p-10) : 2e-5;
            ASSERT_NEAR(o[size_t(((b * c.sq + i) * c.heads + h) * c.d + d)], expect, tolerance)
                << b << " " << h << " " << i << " " << d;
          }
        }
  }
}

TEST_P(Attention, KeepsItsBudgetOnDevices) {
  std::string error;
  auto nvrtc = cuda::NvrtcLibrary::open("", error);
  if (!nvrtc)
    GTEST_SKIP() << error;
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::Code code = nvrtc->compile(textOf(GetParam()), arch, {cacheFolder(), {}});
    ASSERT_TRUE(code.ok) << code.log;
    const cuda::CubinInfo info = cuda::readCubin(code.bytes);
    const cuda::KernelInfo &kernel = info.kernels.at(0);
    EXPECT_FALSE(kernel.spills()) << arch << " " << cuda::describe(kernel);
    if (GetParam().mma())
      EXPECT_GT(kernel[cuda::Instruction::HMMA], 0u) << arch << " " << cuda::describe(kernel);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Attention, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<AttentionCase> &info) {
                           return std::string(info.param.name);
                         });
