//===- HostSkeletonTest.cpp - skeletons as plain loops --------------------===//
#include "HostFixture.h"

using namespace gpucc::test;

namespace {

TEST(HostSkeleton, ContractWithTransposeAndBias) {
  Kernels k(R"(
    kernel.func @f32(%x: memref<2x5x9xf32>, %w: memref<2x11x9xf32>, %bias: memref<11xf32>, %y: memref<2x5x11xf32>) {
      kernel.contract %x, %w extents [2, 5, 11, 9] maps affine_map<(b, i, k) -> (b, i, k)>,
          affine_map<(b, k, j) -> (b, j, k)> : memref<2x5x9xf32>, memref<2x11x9xf32> epilogue {
      ^bb0(%acc: f32, %b: index, %i: index, %j: index):
        %0 = kernel.load %bias[%j] : memref<11xf32>
        %1 = arith.addf %acc, %0 : f32
        kernel.store %1, %y[%b, %i, %j] : memref<2x5x11xf32>
      }
    }
    kernel.func @i8(%x: memref<5x9xi8>, %w: memref<9x11xi8>, %y: memref<5x11xi32>) {
      kernel.contract %x, %w extents [1, 5, 11, 9] maps affine_map<(b, i, k) -> (i, k)>,
          affine_map<(b, k, j) -> (k, j)> : memref<5x9xi8>, memref<9x11xi8> epilogue {
      ^bb0(%acc: i32, %b: index, %i: index, %j: index):
        kernel.store %acc, %y[%i, %j] : memref<5x11xi32>
      }
    })",
            levels().back());
  auto x = randomFloats(90, 1), w = randomFloats(198, 2), bias = randomFloats(11, 3);
  auto y = guarded(110);
  k.run("f32", {x.data(), w.data(), bias.data(), y.data()});
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 11; ++j) {
        float sum = 0;
        for (int l = 0; l < 9; ++l) {
          float product = x[b * 45 + i * 9 + l] * w[b * 99 + j * 9 + l];
          sum += product;
        }
        ASSERT_EQ(y[b * 55 + i * 11 + j], sum + bias[j]);
      }
  expectGuard(y, 110);
  std::vector<int8_t> a(45), c(99);
  for (int i = 0; i < 45; ++i)
    a[i] = i * 37 % 256 - 128;
  for (int i = 0; i < 99; ++i)
    c[i] = i * 91 % 256 - 128;
  std::vector<int32_t> z(55);
  k.run("i8", {a.data(), c.data(), z.data()});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 11; ++j) {
      int sum = 0;
      for (int l = 0; l < 9; ++l)
        sum += a[i * 9 + l] * c[l * 11 + j];
      ASSERT_EQ(z[i * 11 + j], sum);
    }
}

// One convolution (2 groups, stride 2 and 1, dilation 1 and 2, asymmetric pads) and its gradients
// against sums over all positions.
TEST(HostSkeleton, ConvolutionAndGradients) {
  constexpr int N = 2, G = 2, C = 4, O = 6, H = 7, W = 8, KH = 3, KW = 2, OH = 4, OW = 7;
  // OH = (7 + 1 + 1 - 3) / 2 + 1 = 4; OW = (8 + 0 + 1 - 3) / 1 + 1 = 7.
  const char *text = R"(
    kernel.func @NAME(%a: memref<A>, %b: memref<B>, %y: memref<R>) {
      kernel.convolution KIND %a, %b result [SHAPE] strides [2, 1] pads [1, 0], [1, 1] dilations [1, 2] groups 2
          : memref<A>, memref<B> epilogue {
      ^bb0(%acc: f32, %0: index, %1: index, %2: index, %3: index):
        kernel.store %acc, %y[%0, %1, %2, %3] : memref<R>
      }
    })";
  auto make = [&](const char *kind, const char *a, const char *b, const char *r,
                  const char *shape) {
    std::string t = text;
    for (auto [from, to] : {std::pair("NAME", kind),
                            {"KIND", kind},
                            {"<A>", a},
                            {"<B>", b},
                            {"<R>", r},
                            {"SHAPE", shape}})
      for (size_t at; (at = t.find(from)) != std::string::npos;)
        t.replace(at, strlen(from), to);
    return t;
  };
  const char *in = "<2x4x7x8xf32>", *filter = "<6x2x3x2xf32>", *out = "<2x6x4x7xf32>";
  Kernels k(make("forward", in, filter, out, "2, 6, 4, 7") +
                make("input_grad", out, filter, in, "2, 4, 7, 8") +
                make("filter_grad", in, out, filter, "6, 2, 3, 2"),
            levels().back());
  auto x = randomFloats(N * C * H * W, 1), w = randomFloats(O * C / G * KH * KW, 2);
  auto dy = randomFloats(N * O * OH * OW, 3);
  std::vector<double> y(dy.size()), dx(x.size()), dw(w.size());
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
                y[yi] += double(x[xi]) * w[wi];
                dx[xi] += double(dy[yi]) * w[wi];
                dw[wi] += double(dy[yi]) * x[xi];
              }
  auto check = [&](const char *name, std::vector<float> &a, std::vector<float> &b,
                   const std::vector<double> &expected) {
    auto r = guarded(expected.size());
    k.run(name, {a.data(), b.data(), r.data()});
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(r[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << name << " " << i;
    expectGuard(r, expected.size());
  };
  check("forward", x, w, y);
  check("input_grad", dy, w, dx);
  check("filter_grad", x, dy, dw);
}

// 4 query heads over 2 key/value heads, causal with fewer keys than queries, so that the first two
// rows see nothing.
TEST(HostSkeleton, Attention) {
  constexpr int H = 4, K = 2, S = 6, T = 4, D = 8, E = 5;
  Kernels k(R"(
    #q = affine_map<(b, h, s, d) -> (b, s, h * 8 + d)>
    #k = affine_map<(b, h, s, d) -> (b, s, h * 8 + d)>
    #v = affine_map<(b, h, s, d) -> (b, s, h * 5 + d)>
    kernel.func @a(%q: memref<1x6x32xf32>, %k: memref<1x4x16xf32>, %v: memref<1x4x10xf32>, %m: memref<6x4xf32>, %y: memref<1x6x20xf32>) {
      kernel.attention %q, %k, %v bias %m : memref<6x4xf32> extents [1, 4, 2, 6, 4, 8, 5] maps #q, #k, #v
          bias_map affine_map<(b, h, s, t) -> (s, t)> scale 0.3 causal
          : memref<1x6x32xf32>, memref<1x4x16xf32>, memref<1x4x10xf32> epilogue {
      ^bb0(%acc: f32, %b: index, %h: index, %s: index, %e: index):
        kernel.store %acc, %y[%b, %s, %h * 5 + %e] : memref<1x6x20xf32>
      }
    })",
            levels().back());
  auto q = randomFloats(S * H * D, 1), key = randomFloats(T * K * D, 2);
  auto v = randomFloats(T * K * E, 3), m = randomFloats(S * T, 4);
  auto y = guarded(S * H * E);
  k.run("a", {q.data(), key.data(), v.data(), m.data(), y.data()});
  for (int s = 0; s < S; ++s)
    for (int h = 0; h < H; ++h) {
      std::vector<double> p(T);
      double sum = 0;
      for (int t = 0; t < T; ++t) {
        double dot = 0;
        for (int d = 0; d < D; ++d)
          dot += double(q[s * 32 + h * 8 + d]) * key[t * 16 + h / 2 * 8 + d];
        p[t] = t <= s + T - S ? std::exp(dot * 0.3 + m[s * T + t]) : 0;
        sum += p[t];
      }
      for (int e = 0; e < E; ++e) {
        double r = 0;
        for (int t = 0; t < T; ++t)
          r += p[t] * v[t * 10 + h / 2 * 5 + e];
        ASSERT_NEAR(y[s * 20 + h * 5 + e], sum ? r / sum : 0, 1e-5) << s << " " << h << " " << e;
      }
    }
  expectGuard(y, S * H * E);
}

} // namespace
