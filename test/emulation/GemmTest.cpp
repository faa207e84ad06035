//===- GemmTest.cpp - GEMM skeletons: numbers, races, resources -----------===//
//
// Numbers come from a double-precision sum over the rounded inputs; the SIMT skeleton must moreover
// equal one chain of fma over ascending k bit for bit. Every run is under the race detector. Where
// there is NVRTC, each case is compiled for three architectures: no spills, tensor cores where
// asked for.
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "KernelFixture.h"
#include "Numbers.h"
#include "gpucc/Target/Cuda/Cubin.h"

#include <cmath>

using namespace gpucc;
using namespace gpucc::test;
using namespace gpucc::rt::simt;

namespace {
class Gemm : public testing::TestWithParam<GemmCase> {};

void runCase(const GemmCase &c, const LaunchOptions &options) {
  SimtProgram program(textOf(c), "gemm");
  MemoryMap memory;
  const size_t sizeA = size_t(c.batch) * c.m * c.k, sizeB = size_t(c.batch) * c.n * c.k;
  Values a(memory, "a", c.type, sizeA, 1), b(memory, "b", c.type, sizeB, 2);
  Buffer<float> bias(memory, "bias", size_t(c.n)), y(memory, "y", size_t(c.batch) * c.m * c.n);
  for (int j = 0; j < c.n; ++j)
    bias[size_t(j)] = 0.25f * static_cast<float>(j % 5);
  std::fill(y.data, y.data + y.count, NAN);
  std::vector<Finding> findings =
      program.launch({c.gridX(), 1, unsigned(c.batch)}, {unsigned(c.threads())}, memory, options,
                     a.data(), b.data(), bias.data, y.data);
  ASSERT_EQ(::textOf(findings), "") << textOf(c);
  for (int q = 0; q < c.batch; ++q)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double sum = 0, magnitude = 0;
        float chain = 0.0f;
        for (int k = 0; k < c.k; ++k) {
          const float x = a[size_t(q) * c.m * c.k + (c.transposedA ? k * c.m + i : i * c.k + k)];
          const float w = b[size_t(q) * c.n * c.k + (c.transposedB ? j * c.k + k : k * c.n + j)];
          sum += double(x) * w;
          magnitude += std::fabs(double(x) * w);
          chain = std::fma(x, w, chain);
        }
        const float got = y[(size_t(q) * c.m + i) * c.n + j];
        if (!c.mma)
          ASSERT_EQ(got, chain + bias[size_t(j)]) << c.name << " " << q << " " << i << " " << j;
        // tf32 keeps 10 bits of mantissa: each factor is off by at most 2^-11.
        const double tolerance = c.mma && c.type == "float" ? 0x1p-10 : 0x1p-20;
        ASSERT_NEAR(got, sum + bias[size_t(j)], tolerance * magnitude + 1e-6)
            << c.name << " " << q << " " << i << " " << j;
      }
}
} // namespace

TEST_P(Gemm, EqualsDoubleUnderRaceDetector) {
  runCase(GetParam(), {.seed = 0});
  runCase(GetParam(), {.seed = 3, .copiesEarly = true});
}

TEST_P(Gemm, KeepsItsBudgetOnDevices) {
  std::string error;
  auto nvrtc = cuda::NvrtcLibrary::open("", error);
  if (!nvrtc)
    GTEST_SKIP() << error;
  const GemmCase &c = GetParam();
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::Code code = nvrtc->compile(textOf(c), arch, {cacheFolder(), {}});
    ASSERT_TRUE(code.ok) << code.log;
    cuda::CubinInfo info = cuda::readCubin(code.bytes);
    const cuda::KernelInfo &k = info.kernels.at(0);
    EXPECT_FALSE(k.spills()) << arch << " " << cuda::describe(k);
    if (c.mma) {
      EXPECT_GT(k[cuda::Instruction::HMMA], 0u) << arch << " " << cuda::describe(k);
      EXPECT_GT(k[cuda::Instruction::LDGSTS] + k[cuda::Instruction::LDG], 0u) << arch;
    } else
      EXPECT_GT(k[cuda::Instruction::FFMA], 0u) << arch;
    if (c.v % 4 == 0)
      EXPECT_GT(k.store128, 0u) << arch << " " << cuda::describe(k);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Gemm, testing::ValuesIn(gemmCases),
                         [](const testing::TestParamInfo<GemmCase> &info) {
                           return info.param.name;
                         });
