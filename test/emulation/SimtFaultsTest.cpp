//===- SimtFaultsTest.cpp - Seeded kernel faults are found, clean kernels pass -===//
//
// One tiled kernel (each block sums the rows of a 16-bit matrix tile by cp.async in two stages,
// then transposes through shared memory) with one fault per macro. Every fault must be reported
// with its kind, the line in the kernel's source and the threads, under every order of threads and
// whether copies land early or late; the clean kernel must compute the right result and stay
// silent.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <algorithm>

using namespace gpucc::test;
using namespace gpucc::rt::simt;

namespace {
/// y[j * 64 + i] = sum over t of x[t][i * 64 + j] for a 64 x 64 tile; count[0] += threads whose row
/// is even. Lines are counted from the first character, so that reports can be checked.
const char *tiled = R"(#include "gk.cuh"
#include "gk_tensor.cuh"
extern "C" __global__ void __launch_bounds__(256) tiled(
    const float *__restrict__ x, float *__restrict__ y, int *count, int tiles) {
  GK_SHARED(float, stage, [2 * 4096]);
  GK_SHARED(float, turned, [64 * 65]);
  GK_SHARED(int, votes, [8]);
  const int t = threadIdx.x;
  float sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = 0.0f;
  auto fetch = [&](int s, int tile) {
    for (int i = 0; i < 4; ++i)
      gk_cp_async<16>(stage + s * 4096 + (i * 256 + t) * 4, x + tile * 4096 + (i * 256 + t) * 4);
    gk_cp_commit();
  };
  fetch(0, 0);
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      fetch((tile + 1) & 1, tile + 1);
#ifdef WRONG_WAIT
      gk_cp_wait<2>();
#else
      gk_cp_wait<1>();
#endif
    } else
      gk_cp_wait<0>();
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum[i] += stage[(tile & 1) * 4096 + (i * 256 + (t ^ 32))];  // LINE 29
#ifndef MISSING_BARRIER
    __syncthreads();
#endif
  }
#ifdef OUT_OF_BOUNDS
  for (int i = 0, u = t ^ 32; i < 16; ++i, u += 256) turned[u % 64 * 67 + u / 64] = sum[i]; // L 35
#else
  for (int i = 0, u = t ^ 32; i < 16; ++i, u += 256) turned[u % 64 * 65 + u / 64] = sum[i];
#endif
#ifdef DIVERGENT_BARRIER
  if (t < 200) __syncthreads(); // LINE 40
#else
  __syncthreads();
#endif
  for (int i = 0; i < 4; ++i) {
    const int row = (i * 256 + t) / 16, column = (i * 256 + t) % 16 * 4;
    alignas(16) float v[4];
    for (int k = 0; k < 4; ++k) v[k] = turned[row * 65 + column + k];
#ifdef MISALIGNED_VECTOR
    gk_store(y + 1 + row * 64 + column, gk_load<float, 4>(v)); // LINE 49
#else
    gk_store(y + row * 64 + column, gk_load<float, 4>(v));
#endif
  }
#ifdef GLOBAL_OUT_OF_BOUNDS
  y[4096 + t] = 0.0f; // LINE 55
#endif
#ifdef NON_ATOMIC
  if (t % 2 == 0) count[0] += 1; // LINE 58
#else
  if (t % 2 == 0) gk_atomic_add(count, 1);
#endif
#ifdef UNWRITTEN
  if (t == 9) y[0] = votes[t & 7]; // LINE 63
#endif
}
)";

std::vector<Finding> runTiled(const char *fault, const LaunchOptions &options, std::string *wrong) {
  constexpr int tiles = 5;
  std::vector<std::string> flags;
  if (*fault)
    flags.push_back(std::string("-D") + fault);
  SimtProgram program(tiled, "tiled", flags);
  MemoryMap memory;
  Buffer<float> x(memory, "x", tiles * 4096), y(memory, "y", 4096);
  Buffer<int> count(memory, "count", 1);
  for (size_t i = 0; i < x.count; ++i)
    x[i] = static_cast<float>((i * 2654435761u >> 7) % 1000) - 500.0f;
  std::vector<Finding> findings =
      program.launch({1}, {256}, memory, options, x.data, y.data, count.data, tiles);
  if (wrong) {
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) {
        double expect = 0;
        for (int t = 0; t < tiles; ++t)
          expect += x[t * 4096 + i * 64 + j];
        if (y[j * 64 + i] != expect)
          *wrong = "y[" + std::to_string(j * 64 + i) + "]";
      }
    if (count[0] != 128)
      *wrong = "count = " + std::to_string(count[0]);
  }
  return findings;
}

struct Fault {
  const char *macro;
  FindingKind kind;
  const char *place;   ///< must be named
  const char *threads; ///< must be named
};

class SimtFault : public testing::TestWithParam<Fault> {};
} // namespace

TEST(Simt, CleanKernelIsRightAndSilent) {
  for (uint64_t seed = 0; seed < 6; ++seed)
    for (bool early : {false, true}) {
      std::string wrong;
      EXPECT_EQ(textOf(runTiled("", {.seed = seed, .copiesEarly = early}, &wrong)), "");
      EXPECT_EQ(wrong, "");
    }
}

TEST_P(SimtFault, IsReported) {
  const Fault &fault = GetParam();
  for (uint64_t seed = 0; seed < 4; ++seed)
    for (bool early : {false, true}) {
      const std::vector<Finding> findings =
          runTiled(fault.macro, {.seed = seed, .copiesEarly = early}, nullptr);
      ASSERT_FALSE(findings.empty()) << "seed " << seed;
      const std::string text = textOf(findings);
      // One fault can break several rules (a skipped barrier is also a race); the kind must be
      // there.
      EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const Finding &f) {
        return f.kind == fault.kind && f.text.find(fault.place) != std::string::npos &&
               f.text.find(fault.threads) != std::string::npos;
      })) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Seeded, SimtFault,
    testing::Values(
        Fault{"MISSING_BARRIER", FindingKind::Race, "kernel.cu:29", "thread"},
        Fault{"WRONG_WAIT", FindingKind::PendingCopy, "kernel.cu:29", "thread"},
        Fault{"OUT_OF_BOUNDS", FindingKind::OutOfBounds, "kernel.cu:35", "thread"},
        Fault{"GLOBAL_OUT_OF_BOUNDS", FindingKind::OutOfBounds, "kernel.cu:55", "thread"},
        Fault{"MISALIGNED_VECTOR", FindingKind::Misaligned, "kernel.cu:49", "thread"},
        Fault{"DIVERGENT_BARRIER", FindingKind::DivergentBarrier, "kernel.cu:40", "thread"},
        Fault{"NON_ATOMIC", FindingKind::Race, "kernel.cu:58", "thread"},
        Fault{"UNWRITTEN", FindingKind::Uninitialized, "kernel.cu:63", "thread 9"}),
    [](const testing::TestParamInfo<Fault> &info) { return std::string(info.param.macro); });
