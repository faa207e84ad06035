//===- LibraryCallTest.cpp - Matrix products, convolutions and pooling on the host
//--------------===//
//
// Each call runs in f32, f16 and bf16 (oneDNN) and in f64 (plain loops) and is compared
// with a direct evaluation of its definition that is written here from the definition of the
// operation.
//
//===--------------------------------------------------------------------------------------------===//
#include "TestPlan.h"
#include "core/DType.h"
#include "session/Session.h"

#include <cmath>
#include <fstream>
#include <functional>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

namespace {
using Values = std::vector<double>;

int64_t count(const Shape &shape) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

Values numbers(const Shape &shape, int seed) {
  Values v(static_cast<size_t>(count(shape)));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = std::sin(static_cast<double>(i) * 0.7 + seed);
  return v;
}

class LibraryCalls : public ::testing::TestWithParam<DType> {
protected:
  /// One operand: dense bytes in their own buffer; `axes` orders the dimensions in memory (empty:
  /// row-major).
  struct Input {
    Shape shape;
    Values values;
    bool constant = false;
    std::vector<int> axes;
  };

  std::unique_ptr<OperandT> add(TestPlan &p, const Input &input, const char *name, bool output) {
    DType type = GetParam();
    uint64_t bytes = dtypeBytes(type, static_cast<uint64_t>(count(input.shape)));
    uint32_t arena = input.constant ? 0 : 1;
    uint64_t &next = offsets[arena];
    uint32_t buffer = p.buffer(arena, next, bytes);
    Shape strides;
    if (!input.axes.empty()) {
      strides.resize(input.shape.size());
      int64_t stride = 1;
      for (size_t i = input.axes.size(); i-- > 0;) {
        strides[input.axes[i]] = stride;
        stride *= input.shape[input.axes[i]];
      }
    }
    std::vector<char> data(bytes);
    castElements(DType::f64, input.values.data(), type, data.data(), input.values.size());
    if (input.constant && !output) {
      EXPECT_TRUE(strides.empty());
      p.constant(name, data.data(), bytes, type, input.shape, arena, next);
    } else {
      TensorViewT &view =
          p.tensor(name, output ? Role::output : Role::input, type, input.shape, buffer);
      view.local_strides = strides;
      initial.push_back({name, data});
    }
    next += (bytes + 255) / 256 * 256;
    auto operand = p.operand(buffer, input.shape, type, strides);
    operand->constant = input.constant && !output;
    return operand;
  }

  /// Runs the call; returns the last operand's values. `previous`: what the output held before.
  Values run(LibraryCallT call, const std::vector<Input> &operands, const Input *bias = nullptr,
             const std::vector<Input> &extras = {}) {
    TestPlan p;
    offsets[0] = offsets[1] = 0;
    initial.clear();
    for (auto &arena : p.plan.stages[0]->arenas)
      arena->size = 1 << 20;
    for (size_t i = 0; i < operands.size(); ++i)
      call.operands.push_back(
          add(p, operands[i], ("operand" + std::to_string(i)).c_str(), i + 1 == operands.size()));
    if (bias)
      call.bias = add(p, *bias, "bias", false);
    for (size_t i = 0; i < extras.size(); ++i)
      call.extra_operands.push_back(
          add(p, extras[i], ("extra" + std::to_string(i)).c_str(), false));
    p.command(std::move(call), "call");
    std::vector<char> bytes = p.file();
    std::shared_ptr<PlanImage> image;
    std::unique_ptr<Session> session;
    Status status = PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image);
    SessionOptions options;
    options.threads = 2;
    if (!status)
      status = Session::prepare(image, options, session);
    EXPECT_FALSE(status) << status.message();
    if (status)
      return {};
    std::string warnings = session->warningText();
    if (warnings.find("is not in this build") == std::string::npos)
      EXPECT_EQ(warnings.find("plain loops") != std::string::npos, GetParam() == DType::f64)
          << warnings;
    for (auto &[name, data] : initial)
      EXPECT_OK(session->write(name, data.data(), data.size()));
    EXPECT_OK(session->run());
    const Shape &shape = operands.back().shape;
    std::vector<char> raw(dtypeBytes(GetParam(), static_cast<uint64_t>(count(shape))));
    EXPECT_OK(
        session->read("operand" + std::to_string(operands.size() - 1), raw.data(), raw.size()));
    Values result(static_cast<size_t>(count(shape)));
    castElements(GetParam(), raw.data(), DType::f64, result.data(), result.size());
    return result;
  }

  void expectNear(const Values &got, const Values &expected) {
    ASSERT_EQ(got.size(), expected.size());
    // Inputs and result are rounded to the type; sums of up to 70 products of numbers below 1.
    double tolerance = GetParam() == DType::bf16 ? 0.06 : GetParam() == DType::f16 ? 0.008 : 2e-5;
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << i;
  }

  uint64_t offsets[2];
  std::vector<std::pair<std::string, std::vector<char>>> initial;
};

std::unique_ptr<PostOpT> postOp(PostOpKind kind, float alpha = 0, float beta = 0,
                                int operand = -1) {
  auto op = std::make_unique<PostOpT>();
  op->kind = kind;
  op->alpha = alpha;
  op->beta = beta;
  op->operand = operand;
  return op;
}

TEST_P(LibraryCalls, MatmulWithBiasAndPostOps) {
  const int64_t m = 5, k = 7, n = 9;
  for (bool constant : {false, true}) {
    Shape sa = {m, k}, sb = {k, n}, sc = {m, n};
    Values a = numbers(sa, 1), b = numbers(sb, 2), bias = numbers({n}, 3), extra = numbers(sc, 4);
    Values expected(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = bias[j];
        for (int64_t x = 0; x < k; ++x)
          sum += a[i * k + x] * b[x * n + j];
        sum = sum * 0.5 * (1 + std::erf(sum / std::sqrt(2.0)));
        expected[i * n + j] = sum + extra[i * n + j];
      }
    LibraryCallT call;
    call.kind = LibraryKind::matmul;
    call.post_ops.push_back(postOp(PostOpKind::gelu_erf));
    call.post_ops.push_back(postOp(PostOpKind::add_operand, 0, 0, 0));
    Input biasInput = {{n}, bias};
    expectNear(run(std::move(call), {{sa, a}, {sb, b, constant}, {sc, Values(m * n)}}, &biasInput,
                   {{sc, extra}}),
               expected);
  }
}

TEST_P(LibraryCalls, BatchedMatmulTransposedAndBroadcast) {
  // A [2, 3, 4, 5] stored with its last two dimensions swapped, B [2, 1, 5, 6] broadcast over
  // heads.
  Shape sa = {2, 3, 4, 5}, sb = {2, 1, 5, 6}, sc = {2, 3, 4, 6};
  Values a = numbers(sa, 1), b = numbers(sb, 2), expected(static_cast<size_t>(count(sc)));
  for (int64_t i = 0; i < count(sc); ++i) {
    int64_t j = i % 6, r = i / 6 % 4, h = i / 24 % 3, g = i / 72;
    for (int64_t x = 0; x < 5; ++x)
      expected[i] += a[((g * 3 + h) * 4 + r) * 5 + x] * b[(g * 5 + x) * 6 + j];
  }
  LibraryCallT call;
  call.kind = LibraryKind::matmul;
  expectNear(
      run(std::move(call), {{sa, a, false, {0, 1, 3, 2}}, {sb, b}, {sc, Values(expected.size())}}),
      expected);
}

TEST_P(LibraryCalls, BatchedMatmulWithOneMatrix) {
  // x [2, 3, 4] @ W [1, 4, 5] + bias, then + [2, 3, 5] or + [2, 1, 5] (one row per batch) or + [1,
  // 1, 5].
  for (Shape extraShape : {Shape{2, 3, 5}, Shape{2, 1, 5}, Shape{1, 1, 5}})
    for (bool swapped : {false, true}) { // x as [3, 2, 4] in memory: rows cannot be folded
      Shape sx = {2, 3, 4}, sw = {1, 4, 5}, sy = {2, 3, 5};
      Values x = numbers(sx, 1), w = numbers(sw, 2), bias = numbers({5}, 3);
      Values extra = numbers(extraShape, 4), expected(30);
      for (int64_t i = 0; i < 30; ++i) {
        int64_t n = i % 5, m = i / 5 % 3, b = i / 15;
        expected[i] = bias[n] + extra[(extraShape[0] == 1 ? 0 : b * extraShape[1] * 5) +
                                      (extraShape[1] == 1 ? 0 : m * 5) + n];
        for (int64_t k = 0; k < 4; ++k)
          expected[i] += x[(b * 3 + m) * 4 + k] * w[k * 5 + n];
      }
      LibraryCallT call;
      call.kind = LibraryKind::matmul;
      call.post_ops.push_back(postOp(PostOpKind::add_operand, 0, 0, 0));
      Input biasInput = {{5}, bias};
      std::vector<int> axes = swapped ? std::vector<int>{1, 0, 2} : std::vector<int>{};
      expectNear(run(std::move(call), {{sx, x, false, axes}, {sw, w, true}, {sy, Values(30)}},
                     &biasInput, {{extraShape, extra}}),
                 expected);
    }
}

TEST_P(LibraryCalls, AccumulatesIntoItsDestination) {
  LibraryCallT call;
  call.kind = LibraryKind::matmul;
  call.post_ops.push_back(postOp(PostOpKind::accumulate, 1));
  expectNear(run(std::move(call), {{{1, 2}, {1, 2}}, {{2, 1}, {3, 4}}, {{1, 1}, {100}}}), {111});
}

TEST_P(LibraryCalls, EveryActivation) {
  Values x = {-3, -0.5, 0, 0.7, 4};
  auto check = [&](std::unique_ptr<PostOpT> op, const std::function<double(double)> &f) {
    LibraryCallT call;
    call.kind = LibraryKind::matmul;
    call.post_ops.push_back(std::move(op));
    Values expected;
    for (double v : x)
      expected.push_back(f(v));
    expectNear(run(std::move(call), {{{5, 1}, x}, {{1, 1}, {1}}, {{5, 1}, Values(5)}}), expected);
  };
  check(postOp(PostOpKind::relu, 0.1f), [](double v) { return v > 0 ? v : 0.1f * v; });
  check(postOp(PostOpKind::sigmoid), [](double v) { return 1 / (1 + std::exp(-v)); });
  check(postOp(PostOpKind::silu), [](double v) { return v / (1 + std::exp(-v)); });
  check(postOp(PostOpKind::tanh), [](double v) { return std::tanh(v); });
  check(postOp(PostOpKind::gelu_tanh), [](double v) {
    return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  });
  check(postOp(PostOpKind::clip, -1, 2), [](double v) { return std::min(std::max(v, -1.0), 2.0); });
  check(postOp(PostOpKind::linear, 3, -1), [](double v) { return 3 * v - 1; });
}

/// A 2-D convolution and its geometry.
struct Conv {
  int64_t n, c, h, w, o, kh, kw, stride, dilation, pad, groups;
  int64_t oh() const { return (h + 2 * pad - (kh - 1) * dilation - 1) / stride + 1; }
  int64_t ow() const { return (w + 2 * pad - (kw - 1) * dilation - 1) / stride + 1; }
  Shape source() const { return {n, c, h, w}; }
  Shape weights() const { return {o, c / groups, kh, kw}; }
  Shape result() const { return {n, o, oh(), ow()}; }

  /// visit(source, weight, result): offsets of each product of the convolution.
  void forEachProduct(const std::function<void(int64_t, int64_t, int64_t)> &visit) const {
    for (int64_t b = 0; b < n; ++b)
      for (int64_t f = 0; f < o; ++f)
        for (int64_t y = 0; y < oh(); ++y)
          for (int64_t x = 0; x < ow(); ++x)
            for (int64_t i = 0; i < c / groups; ++i)
              for (int64_t p = 0; p < kh; ++p)
                for (int64_t q = 0; q < kw; ++q) {
                  int64_t sy = y * stride - pad + p * dilation,
                          sx = x * stride - pad + q * dilation;
                  int64_t channel = f / (o / groups) * (c / groups) + i;
                  if (sy < 0 || sy >= h || sx < 0 || sx >= w)
                    continue;
                  visit(((b * c + channel) * h + sy) * w + sx,
                        ((f * (c / groups) + i) * kh + p) * kw + q,
                        ((b * o + f) * oh() + y) * ow() + x);
                }
  }
  LibraryCallT call(LibraryKind kind) const {
    LibraryCallT result;
    result.kind = kind;
    result.strides = {stride, stride};
    result.dilations = {dilation, dilation};
    result.pads_begin = result.pads_end = {pad, pad};
    result.groups = groups;
    return result;
  }
};

const Conv convs[] = {{2, 3, 9, 8, 4, 3, 3, 1, 1, 1, 1},
                      {1, 8, 7, 7, 16, 3, 3, 2, 1, 1, 1},
                      {2, 16, 6, 6, 16, 3, 3, 1, 1, 1, 16},
                      {1, 8, 9, 9, 8, 3, 3, 1, 2, 2, 2},
                      {3, 32, 4, 4, 32, 1, 1, 1, 1, 0, 1}};

/// In f32 also one with many points and channels, which AVX-512 computes by Winograd's algorithm.
std::vector<Conv> forwardConvs(DType type) {
  std::vector<Conv> list(std::begin(convs), std::end(convs));
  if (type == DType::f32)
    list.push_back({1, 32, 12, 13, 32, 3, 3, 1, 1, 1, 1});
  return list;
}

TEST_P(LibraryCalls, ConvolutionInAnyLayout) {
  for (const Conv &conv : forwardConvs(GetParam()))
    for (bool channelsLast : {false, true}) {
      Values x = numbers(conv.source(), 1), w = numbers(conv.weights(), 2),
             bias = numbers({conv.o}, 3);
      Values expected(static_cast<size_t>(count(conv.result())));
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] = bias[i / (conv.oh() * conv.ow()) % conv.o];
      conv.forEachProduct([&](int64_t s, int64_t t, int64_t r) { expected[r] += x[s] * w[t]; });
      for (double &v : expected)
        v = std::max(v, 0.0);
      LibraryCallT call = conv.call(LibraryKind::conv);
      call.post_ops.push_back(postOp(PostOpKind::relu));
      std::vector<int> axes = channelsLast ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{};
      Input biasInput = {{conv.o}, bias};
      expectNear(run(std::move(call),
                     {{conv.source(), x, false, axes},
                      {conv.weights(), w, !channelsLast},
                      {conv.result(), Values(expected.size()), false, axes}},
                     &biasInput),
                 expected);
    }
}

// clip(0.5 · relu(x * w + bias + residual) · factor per channel): inside the primitive or behind it,
// as the CPU's implementation allows.
TEST_P(LibraryCalls, ConvolutionWithResidual) {
  for (const Conv &conv : forwardConvs(GetParam()))
    for (bool channelsLast : {false, true}) {
      Values x = numbers(conv.source(), 1), w = numbers(conv.weights(), 2),
             bias = numbers({conv.o}, 3), residual = numbers(conv.result(), 4),
             factor = numbers({conv.o}, 5);
      Values expected(static_cast<size_t>(count(conv.result())));
      conv.forEachProduct([&](int64_t s, int64_t t, int64_t r) { expected[r] += x[s] * w[t]; });
      for (size_t i = 0; i < expected.size(); ++i) {
        size_t channel = i / (conv.oh() * conv.ow()) % conv.o;
        double sum = std::max(expected[i] + bias[channel] + residual[i], 0.0);
        expected[i] = std::min(std::max(0.5 * sum * factor[channel], -2.0), 2.0);
      }
      LibraryCallT call = conv.call(LibraryKind::conv);
      call.post_ops.push_back(postOp(PostOpKind::add_operand, 0, 0, 0));
      call.post_ops.push_back(postOp(PostOpKind::relu));
      call.post_ops.push_back(postOp(PostOpKind::linear, 0.5));
      call.post_ops.push_back(postOp(PostOpKind::multiply_operand, 0, 0, 1));
      call.post_ops.push_back(postOp(PostOpKind::clip, -2, 2));
      std::vector<int> axes = channelsLast ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{};
      Input biasInput = {{conv.o}, bias};
      expectNear(run(std::move(call),
                     {{conv.source(), x, false, axes},
                      {conv.weights(), w, true},
                      {conv.result(), Values(expected.size()), false, axes}},
                     &biasInput,
                     {{conv.result(), residual, false, axes}, {{1, conv.o, 1, 1}, factor}}),
                 expected);
    }
}

// (x, 0) * (1, 0) is x, so that each special value meets the bounds. (An odd number of bf16 is none
// to test with: oneDNN multiplies the value behind the last by a zero, and that may be a NaN.)
TEST_P(LibraryCalls, BoundsKeepNaN) {
  const double inf = INFINITY;
  const Values x = {NAN, -inf, inf, -1, 2, 0, NAN, -3};
  auto expectSame = [](const Values &got, const Values &expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      if (std::isnan(expected[i]))
        EXPECT_TRUE(std::isnan(got[i])) << i << ": " << got[i];
      else
        EXPECT_EQ(got[i], expected[i]) << i;
  };
  auto product = [&](bool conv, auto... posts) {
    LibraryCallT call;
    call.kind = conv ? LibraryKind::conv : LibraryKind::matmul;
    (call.post_ops.push_back(std::move(posts)), ...);
    Values source(16, 0);
    for (size_t i = 0; i < x.size(); ++i)
      source[conv ? i : 2 * i] = x[i];
    Shape a = {8, 2}, b = {2, 1}, c = {8, 1};
    if (conv)
      a = {1, 2, 2, 4}, b = {1, 2, 1, 1}, c = {1, 1, 2, 4};
    return run(std::move(call), {{a, source}, {b, Values{1, 0}}, {c, Values(x.size()), false}});
  };
  for (bool conv : {false, true}) {
    expectSame(product(conv, postOp(PostOpKind::relu)), {NAN, 0, inf, 0, 2, 0, NAN, 0});
    expectSame(product(conv, postOp(PostOpKind::clip, -1, 1)), {NAN, -1, 1, -1, 1, 0, NAN, -1});
    // Two of one kind: each has its own parameters.
    expectSame(product(conv, postOp(PostOpKind::linear, 2), postOp(PostOpKind::linear, 1, 1)),
               {NAN, -inf, inf, -1, 5, 1, NAN, -5});
    expectSame(product(conv, postOp(PostOpKind::linear, 2), postOp(PostOpKind::relu),
                       postOp(PostOpKind::linear, 1, 1)),
               {NAN, 1, inf, 1, 5, 1, NAN, 1});
  }
}

TEST_P(LibraryCalls, ConvolutionGradients) {
  for (const Conv &conv : convs) {
    Values x = numbers(conv.source(), 1), w = numbers(conv.weights(), 2),
           g = numbers(conv.result(), 3);
    Values dx(x.size()), dw(w.size());
    conv.forEachProduct([&](int64_t s, int64_t t, int64_t r) {
      dx[s] += g[r] * w[t];
      dw[t] += g[r] * x[s];
    });
    expectNear(run(conv.call(LibraryKind::conv_backward_data),
                   {{conv.result(), g}, {conv.weights(), w}, {conv.source(), Values(x.size())}}),
               dx);
    expectNear(run(conv.call(LibraryKind::conv_backward_weights),
                   {{conv.source(), x}, {conv.result(), g}, {conv.weights(), Values(w.size())}}),
               dw);
  }
}

TEST_P(LibraryCalls, PoolingAndReorder) {
  // [1, 1, 3, 3], window 2, stride 2, padding 1 at the end: the corners' windows reach outside.
  Values x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  auto pool = [&](LibraryKind kind) {
    LibraryCallT call;
    call.kind = kind;
    call.window = {2, 2};
    call.strides = {2, 2};
    call.pads_end = {1, 1};
    return run(std::move(call), {{{1, 1, 3, 3}, x}, {{1, 1, 2, 2}, Values(4)}});
  };
  expectNear(pool(LibraryKind::pool_max), {5, 6, 8, 9});
  if (GetParam() == DType::f64) { // the plain loops
    x[0] = NAN;
    EXPECT_TRUE(std::isnan(pool(LibraryKind::pool_max)[0]));
    x[0] = 1;
  }
  expectNear(pool(LibraryKind::pool_average), {3, 4.5, 7.5, 9});
  expectNear(pool(LibraryKind::pool_average_include_padding), {3, 2.25, 3.75, 2.25});
  LibraryCallT call;
  call.kind = LibraryKind::reorder;
  expectNear(run(std::move(call), {{{3, 3}, x}, {{3, 3}, Values(9), false, {1, 0}}}), x);
}

INSTANTIATE_TEST_SUITE_P(Types, LibraryCalls,
                         ::testing::Values(DType::f32, DType::f64, DType::f16, DType::bf16),
                         [](const auto &info) { return std::string(dtypeName(info.param)); });

TEST(LibraryCall, WeightsPackedElsewhereArePackedAgain) {
  TestPlan p;
  constexpr int n = 64;
  for (auto &arena : p.plan.stages[0]->arenas)
    arena->size = 1 << 16;
  std::vector<float> w(n * n), x(n), y(n);
  for (int i = 0; i < n * n; ++i)
    w[i] = static_cast<float>(i % 7 - 3);
  for (int i = 0; i < n; ++i)
    x[i] = static_cast<float>(i % 5);
  p.constant("W", w.data(), n * n * 4, DType::f32, {n, n}, 0, 0);
  uint32_t wb = p.buffer(0, 0, n * n * 4), xb = p.buffer(1, 0, n * 4), yb = p.buffer(1, 256, n * 4);
  p.tensor("x", Role::input, DType::f32, {1, n}, xb);
  p.tensor("y", Role::output, DType::f32, {1, n}, yb);
  LibraryCallT call;
  call.kind = LibraryKind::matmul;
  call.operands.push_back(p.operand(xb, {1, n}));
  call.operands.push_back(p.operand(wb, {n, n}));
  call.operands.push_back(p.operand(yb, {1, n}));
  call.operands[1]->constant = true;
  call.operands[1]->packed = static_cast<int>(
      p.addBlob(std::vector<char>(n * n * 4, 'x'), BlobKind::packed_weight, "avx", "oneDNN 1.0.0"));
  p.command(std::move(call), "fc");
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> image;
  std::unique_ptr<Session> session;
  ASSERT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
  ASSERT_OK(Session::prepare(image, {}, session));
  EXPECT_NE(
      session->warningText().find("packed weights again: the plan has them for oneDNN 1.0.0 on avx"),
      std::string::npos)
      << session->warningText();
  ASSERT_OK(session->write("x", x.data(), n * 4));
  ASSERT_OK(session->run());
  ASSERT_OK(session->read("y", y.data(), n * 4));
  for (int j = 0; j < n; ++j) {
    float expected = 0;
    for (int i = 0; i < n; ++i)
      expected += x[i] * w[i * n + j];
    EXPECT_EQ(y[j], expected); // small integers: exact
  }
}

TEST(LibraryCall, ShapeMistakesAreErrors) {
  TestPlan p;
  uint32_t b = p.buffer(1, 0, 1024);
  LibraryCallT call;
  call.kind = LibraryKind::matmul;
  call.operands.push_back(p.operand(b, {2, 3}));
  call.operands.push_back(p.operand(b, {4, 5}));
  call.operands.push_back(p.operand(b, {2, 5}));
  p.command(std::move(call), "bad");
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> image;
  EXPECT_ERROR(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image), "M, N or K differ");
}

TEST(LibraryCall, OneOpenMpRuntimeInTheProcess) {
  // Two would mean two thread pools that fight for the cores (oneDNN and the kernels share
  // libgomp).
  std::ifstream maps("/proc/self/maps");
  std::string line, found;
  while (std::getline(maps, line))
    for (const char *name : {"libgomp", "libomp.", "libiomp"})
      if (line.find(name) != std::string::npos && found.find(name) == std::string::npos)
        found += std::string(name) + " ";
  EXPECT_EQ(found, "libgomp ");
}
} // namespace
