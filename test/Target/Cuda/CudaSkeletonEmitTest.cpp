//===- CudaSkeletonEmitTest.cpp - skeleton instances against double -------===//
#include "BothTargets.h"

#include <cmath>

using namespace gpucc;
using namespace gpucc::test;

namespace {

float toBf16(float v) {
  uint32_t u;
  memcpy(&u, &v, 4);
  u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000;
  memcpy(&v, &u, 4);
  return v;
}

/// Random numbers as f32 and as the kernel's type; what the type cannot hold is rounded before.
struct Numbers {
  std::vector<float> value;
  View memory;
  Numbers(size_t n, unsigned seed, bool isBf16) : memory(n * (isBf16 ? 2 : 4)) {
    value = randomFloats(n, seed, -1, 1);
    for (size_t i = 0; i < n; ++i) {
      if (isBf16) {
        value[i] = toBf16(value[i]);
        memcpy(memory.data + 2 * i, reinterpret_cast<char *>(&value[i]) + 2, 2);
      } else
        memcpy(memory.data + 4 * i, &value[i], 4);
    }
  }
  std::pair<void *, size_t> arg() { return {memory.data, memory.bytes}; }
};

void expectNear(const View &got, const std::vector<double> &want, double tolerance) {
  for (size_t i = 0; i < want.size(); ++i) {
    float x;
    memcpy(&x, got.data + 4 * i, 4);
    ASSERT_NEAR(x, want[i], tolerance * (1 + std::abs(want[i]))) << "element " << i;
  }
}

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// y = relu(x wᵀ + bias), tails in every extent, the bias broadcast along rows.
class Contract : public testing::TestWithParam<const char *> {};
TEST_P(Contract, BiasAndRelu) {
  std::string type = GetParam();
  bool isBf16 = type == "bf16", tf32 = type == "tf32";
  std::string text = replaceAll(R"(
    kernel.func @dense(%x: memref<70x36xT> {kernel.name = "x"}, %w: memref<44x36xT> {kernel.name = "dense.weight"},
                       %bias: memref<44xf32>, %y: memref<70x44xf32>) {
      kernel.contract %x, %w extents [1, 70, 44, 36] maps affine_map<(b, i, k) -> (i, k)>,
          affine_map<(b, k, j) -> (j, k)> MODE : memref<70x36xT>, memref<44x36xT> epilogue {
      ^bb0(%acc: f32, %b: index, %i: index, %j: index):
        %zero = arith.constant 0.0 : f32
        %0 = kernel.load %bias[%j] : memref<44xf32>
        %1 = arith.addf %acc, %0 : f32
        %2 = arith.maximumf %1, %zero : f32
        kernel.store %2, %y[%i, %j] : memref<70x44xf32>
      }
    })",
                                "xT>", isBf16 ? "xbf16>" : "xf32>");
  text = replaceAll(text, "MODE", tf32 ? "{math = #kernel.math<tf32>}" : "");
  cuda::CudaKernel k = emit(text);
  EXPECT_NE(k.text.find(type == "f32" ? "gk_gemm_simt<" : "gk_gemm_mma<"), std::string::npos);
  EXPECT_NE(k.text.find("dense_weight"), std::string::npos);
  Numbers x(70 * 36, 1, isBf16), w(44 * 36, 2, isBf16), bias(44, 3, false);
  View y(70 * 44 * 4);
  runSimt(k, {x.arg(), w.arg(), bias.arg(), {y.data, y.bytes}});
  std::vector<double> want(70 * 44);
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 44; ++j) {
      double sum = bias.value[j];
      for (int l = 0; l < 36; ++l)
        sum += double(x.value[i * 36 + l]) * w.value[j * 36 + l];
      want[i * 44 + j] = std::max(sum, 0.0);
    }
  expectNear(y, want, tf32 ? 5e-3 : 1e-5);
}
INSTANTIATE_TEST_SUITE_P(Types, Contract, testing::Values("f32", "bf16", "tf32"),
                         [](const auto &info) { return std::string(info.param); });

// Heads split by the maps: q and k are [batch, seq, heads * size], scores [batch, heads, seq, seq].
TEST(CudaSkeleton, ContractOverHeads) {
  constexpr int B = 2, S = 20, H = 3, D = 16;
  cuda::CudaKernel k = emit(R"(
    kernel.func @scores(%q: memref<2x20x48xf32>, %k: memref<2x20x48xf32>, %y: memref<2x3x20x20xf32>) {
      kernel.contract %q, %k extents [6, 20, 20, 16]
          maps affine_map<(b, i, k) -> (b floordiv 3, i, (b mod 3) * 16 + k)>,
               affine_map<(b, k, j) -> (b floordiv 3, j, (b mod 3) * 16 + k)> : memref<2x20x48xf32>, memref<2x20x48xf32> epilogue {
      ^bb0(%acc: f32, %b: index, %i: index, %j: index):
        kernel.store %acc, %y[%b floordiv 3, %b mod 3, %i, %j] : memref<2x3x20x20xf32>
      }
    })");
  Numbers q(B * S * H * D, 1, false), key(B * S * H * D, 2, false);
  View y(B * H * S * S * 4);
  runSimt(k, {q.arg(), key.arg(), {y.data, y.bytes}});
  std::vector<double> want;
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < S; ++i)
        for (int j = 0; j < S; ++j) {
          double sum = 0;
          for (int d = 0; d < D; ++d)
            sum += double(q.value[(b * S + i) * 48 + h * 16 + d]) *
                   key.value[(b * S + j) * 48 + h * 16 + d];
          want.push_back(sum);
        }
  expectNear(y, want, 1e-5);
}

// Strides 3 and 5 apart: no side is contiguous.
TEST(CudaSkeleton, ContractOfStridedViews) {
  cuda::CudaKernel k = emit(R"(
    kernel.func @strided(%x: memref<6x7xf32, strided<[40, 3]>>, %w: memref<7x4xf32>, %y: memref<6x4xbf16>) {
      kernel.contract %x, %w extents [1, 6, 4, 7] maps affine_map<(b, i, k) -> (i, k)>,
          affine_map<(b, k, j) -> (k, j)> : memref<6x7xf32, strided<[40, 3]>>, memref<7x4xf32> epilogue {
      ^bb0(%acc: f32, %b: index, %i: index, %j: index):
        %0 = arith.truncf %acc : f32 to bf16
        kernel.store %0, %y[%i, %j] : memref<6x4xbf16>
      }
    })");
  EXPECT_NE(k.text.find("gk_computed<"), std::string::npos);
  Numbers x(5 * 40 + 6 * 3 + 1, 1, false), w(28, 2, false);
  View y(6 * 4 * 2);
  runSimt(k, {x.arg(), w.arg(), {y.data, y.bytes}});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j) {
      float sum = 0;
      for (int l = 0; l < 7; ++l)
        sum = std::fma(x.value[i * 40 + l * 3], w.value[l * 4 + j], sum);
      uint16_t bits;
      memcpy(&bits, y.data + 2 * (i * 4 + j), 2);
      uint32_t u;
      float rounded = toBf16(sum);
      memcpy(&u, &rounded, 4);
      ASSERT_EQ(bits, u >> 16);
    }
}

std::string convolution(const char *kind, const char *a, const char *b, const char *r,
                        const char *shape, const char *geometry) {
  std::string t = R"(
    kernel.func @conv(%a: memref<A>, %b: memref<B>, %y: memref<R>) {
      kernel.convolution KIND %a, %b result [SHAPE] GEOMETRY : memref<A>, memref<B> epilogue {
      ^bb0(%acc: f32, INDICES):
        %two = arith.constant 2.0 : f32
        %0 = arith.mulf %acc, %two : f32
        kernel.store %0, %y[NAMES] : memref<R>
      }
    })";
  bool flat = std::count(shape, shape + strlen(shape), ',') == 2;
  t = replaceAll(t, "INDICES",
                 flat ? "%0: index, %1: index, %2: index"
                      : "%0: index, %1: index, %2: index, %3: index");
  t = replaceAll(t, "%0 = arith", "%r = arith");
  t = replaceAll(t, "kernel.store %0", "kernel.store %r");
  t = replaceAll(t, "NAMES", flat ? "%0, %1, %2" : "%0, %1, %2, %3");
  for (auto [from, to] : {std::pair("KIND", kind),
                          {"<A>", a},
                          {"<B>", b},
                          {"<R>", r},
                          {"SHAPE", shape},
                          {"GEOMETRY", geometry}})
    t = replaceAll(t, from, to);
  return t;
}

// 2 groups, stride 2 and 1, dilation 1 and 2, asymmetric pads.
TEST(CudaSkeleton, ConvolutionAndGradients) {
  constexpr int N = 2, G = 2, C = 4, O = 6, H = 7, W = 8, KH = 3, KW = 2, OH = 4, OW = 7;
  const char *geometry = "strides [2, 1] pads [1, 0], [1, 1] dilations [1, 2] groups 2";
  const char *in = "<2x4x7x8xf32>", *filter = "<6x2x3x2xf32>", *out = "<2x6x4x7xf32>";
  Numbers x(N * C * H * W, 1, false), w(O * C / G * KH * KW, 2, false),
      dy(N * O * OH * OW, 3, false);
  std::vector<double> y(dy.value.size()), dx(x.value.size()), dw(w.value.size());
  for (int n = 0; n < N; ++n)
    for (int o = 0; o < O; ++o)
      for (int i = 0; i < OH; ++i)
        for (int j = 0; j < OW; ++j)
          for (int c = 0; c < C / G; ++c)
            for (int a = 0; a < KH; ++a)
              for (int b = 0; b < KW; ++b) {
                int h = i * 2 - 1 + a, v = j + 2 * b;
                if (h < 0 || h >= H || v < 0 || v >= W)
                  continue;
                int xi = ((n * C + o / (O / G) * (C / G) + c) * H + h) * W + v;
                int wi = ((o * (C / G) + c) * KH + a) * KW + b;
                int yi = ((n * O + o) * OH + i) * OW + j;
                y[yi] += 2 * double(x.value[xi]) * w.value[wi];
                dx[xi] += 2 * double(dy.value[yi]) * w.value[wi];
                dw[wi] += 2 * double(dy.value[yi]) * x.value[xi];
              }
  auto check = [&](const std::string &text, Numbers &a, Numbers &b,
                   const std::vector<double> &want) {
    View r(want.size() * 4);
    runSimt(emit(text), {a.arg(), b.arg(), {r.data, r.bytes}});
    expectNear(r, want, 1e-4);
  };
  check(convolution("forward", in, filter, out, "2, 6, 4, 7", geometry), x, w, y);
  check(convolution("input_grad", out, filter, in, "2, 4, 7, 8", geometry), dy, w, dx);
  check(convolution("filter_grad", in, out, filter, "6, 2, 3, 2", geometry), x, dy, dw);
}

TEST(CudaSkeleton, OneDimensionalConvolution) {
  Numbers x(3 * 10, 1, false), w(4 * 3 * 3, 2, false);
  View y(4 * 8 * 4);
  cuda::CudaKernel k =
      emit(convolution("forward", "<1x3x10xf32>", "<4x3x3xf32>", "<1x4x8xf32>", "1, 4, 8",
                       "strides [1] pads [0], [0] dilations [1] groups 1"));
  runSimt(k, {x.arg(), w.arg(), {y.data, y.bytes}});
  std::vector<double> want;
  for (int o = 0; o < 4; ++o)
    for (int i = 0; i < 8; ++i) {
      double sum = 0;
      for (int c = 0; c < 3; ++c)
        for (int a = 0; a < 3; ++a)
          sum += 2 * double(x.value[c * 10 + i + a]) * w.value[(o * 3 + c) * 3 + a];
      want.push_back(sum);
    }
  expectNear(y, want, 1e-5);
}

class Attention : public testing::TestWithParam<const char *> {};
TEST_P(Attention, CausalWithBiasAndSharedKeys) {
  constexpr int B = 2, H = 4, K = 2, S = 24, T = 24, D = 16;
  bool isBf16 = std::string(GetParam()) == "bf16";
  cuda::CudaKernel k = emit(replaceAll(R"(
    #q = affine_map<(b, h, s, d) -> (b, s, h * 16 + d)>
    #kv = affine_map<(b, h, s, d) -> (b, s, h * 16 + d)>
    kernel.func @attention(%q: memref<2x24x64xT>, %k: memref<2x24x32xT>, %v: memref<2x24x32xT>, %m: memref<2x24xf32>, %y: memref<2x24x64xf32>) {
      kernel.attention %q, %k, %v bias %m : memref<2x24xf32> extents [2, 4, 2, 24, 24, 16, 16] maps #q, #kv, #kv
          bias_map affine_map<(b, h, s, t) -> (b, t)> scale 0.25 causal
          : memref<2x24x64xT>, memref<2x24x32xT>, memref<2x24x32xT> epilogue {
      ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
        kernel.store %acc, %y[%b, %s, %h * 16 + %e] : memref<2x24x64xf32>
      }
    })",
                                       "xT>", "x" + std::string(GetParam()) + ">"));
  EXPECT_NE(k.text.find(isBf16 ? "gk_attention_mma<" : "gk_attention_simt<"), std::string::npos);
  Numbers q(B * S * H * D, 1, isBf16), key(B * T * K * D, 2, isBf16), v(B * T * K * D, 3, isBf16);
  Numbers m(B * T, 4, false);
  View y(B * S * H * D * 4);
  runSimt(k, {q.arg(), key.arg(), v.arg(), m.arg(), {y.data, y.bytes}});
  std::vector<double> want(B * S * H * D);
  for (int b = 0; b < B; ++b)
    for (int s = 0; s < S; ++s)
      for (int h = 0; h < H; ++h) {
        std::vector<double> p(T);
        double sum = 0;
        for (int t = 0; t <= s; ++t) {
          double dot = 0;
          for (int d = 0; d < D; ++d)
            dot += double(q.value[(b * S + s) * 64 + h * 16 + d]) *
                   key.value[(b * T + t) * 32 + h / 2 * 16 + d];
          sum += p[t] = std::exp(dot * 0.25 + m.value[b * T + t]);
        }
        for (int d = 0; d < D; ++d)
          for (int t = 0; t < T; ++t)
            want[(b * S + s) * 64 + h * 16 + d] +=
                p[t] / sum * v.value[(b * T + t) * 32 + h / 2 * 16 + d];
      }
  expectNear(y, want, isBf16 ? 1e-2 : 1e-5);
}
INSTANTIATE_TEST_SUITE_P(Types, Attention, testing::Values("f32", "bf16"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
