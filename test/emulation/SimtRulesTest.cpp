//===- SimtRulesTest.cpp - Each rule of the execution model, broken and kept ------===//
//
// Small kernels, one rule each: what orders two accesses and what does not, which warp operations
// are legal, what atomics allow. The rules are those of the CUDA programming guide's memory model:
// __syncthreads orders the block, __syncwarp the warp, a shuffle orders nothing, blocks are never
// ordered inside a launch.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"
#include "Numbers.h"

#include <algorithm>
#include <optional>

using namespace gpucc::test;
using namespace gpucc::rt::simt;

namespace {
struct Rule {
  const char *name;
  const char *body; ///< of `extern "C" __global__ void k(float *x, int *q)`; t is threadIdx.x
  std::optional<FindingKind> finding;
  const char *text = ""; ///< part of the report
  unsigned blocks = 1, threads = 64;
};
void PrintTo(const Rule &rule, std::ostream *os) { *os << rule.name; }

const Rule rules[] = {
    // Ordering.
    {"BarrierOrders", "s[t] = x[t]; __syncthreads(); x[t] = s[63 - t];", {}},
    {"NothingOrders", "s[t] = x[t]; x[t] = s[63 - t];", FindingKind::Race, "no barrier between"},
    {"SyncwarpOrdersAWarp", "s[t] = x[t]; __syncwarp(); x[t] = s[t ^ 1];", {}},
    {"SyncwarpDoesNotOrderWarps", "s[t] = x[t]; __syncwarp(); x[t] = s[t ^ 32];",
     FindingKind::Race},
    {"ShuffleOrdersNothing", "s[t] = x[t]; float v = gk_shfl_xor(x[t], 1); x[t] = s[t ^ 1] + v;",
     FindingKind::Race},
    {"ReadThenWriteNeedsABarrier", "s[t] = 0.0f; __syncthreads(); float v = s[t ^ 1]; s[t] = v;",
     FindingKind::Race, "read with no barrier between"},
    {"OwnDataNeedsNone", "s[t] = x[t]; s[t] += 1.0f; x[t] = s[t];", {}},
    {"ManyReadersThenABarrier",
     "if (t == 0) s[0] = 1.0f; __syncthreads(); float v = s[0]; __syncthreads(); if (t == 5) s[0] "
     "= 2.0f; "
     "x[t] = v;",
     {}},
    {"ManyReadersThenAWrite",
     "if (t == 0) s[0] = 1.0f; __syncthreads(); float v = s[0]; if (t == 5) s[0] = 2.0f; x[t] = v;",
     FindingKind::Race},
    {"NeighbouringHalves",
     "gk_bf16 *h = reinterpret_cast<gk_bf16 *>(s); h[t].bits = 7; __syncthreads(); x[t] = "
     "gk_float(h[63 - t]);",
     {}},
    {"OverlappingWidths",
     "gk_bf16 *h = reinterpret_cast<gk_bf16 *>(s); if (t == 0) s[0] = 1.0f; if (t == 1) h[1].bits "
     "= 7;",
     FindingKind::Race},
    // Blocks and atomics.
    {"BlocksWriteTheirOwn", "x[blockIdx.x * 64 + t] = 1.0f;", {}, "", 2},
    {"BlocksAreNotOrdered", "x[0] = 1.0f;", FindingKind::Race, "", 2, 1},
    {"BlocksAreNotOrderedByBarriers",
     "if (t == 0) x[0] = x[1]; __syncthreads(); if (t == 1) x[1] = 2.0f;", FindingKind::Race,
     "blocks are not ordered inside a launch", 2},
    {"AtomicsDoNotRace", "gk_atomic_add(q, 1);", {}, "", 2},
    {"AtomicAndPlainReadRace", "gk_atomic_add(q, 1); if (t == 3) x[t] = q[0];", FindingKind::Race,
     "", 2},
    // Warp operations and barriers.
    {"HalfAWarpShuffles", "if (t < 16) x[t] = gk_shfl_xor(x[t], 1);", FindingKind::BadCollective,
     "returned"},
    {"LanesDisagree",
     "if (t & 1) x[t] = __shfl_xor_sync(~0u, x[t], 1);\n else x[t] = __shfl_sync(~0u, x[t], 1);",
     FindingKind::BadCollective, "different operations"},
    {"BarriersInBothBranches", "if (t < 32) __syncthreads();\n else __syncthreads();",
     FindingKind::DivergentBarrier, "wait at different barriers"},
    {"ReturnBeforeABarrier", "if (t == 7) return; __syncthreads();", FindingKind::DivergentBarrier,
     "returned while"},
    {"WarpAndBlockWaitForEachOther", "if (t & 1) __syncthreads(); else __syncwarp();",
     FindingKind::Deadlock, "wait at"},
    // Shared memory.
    {"EveryBlockStartsUnwritten", "if (blockIdx.x == 0) s[t] = 1.0f; else x[t] = s[t];",
     FindingKind::Uninitialized, "block (1,0,0)", 2},
    {"BelowAnArray", "s[t - 1] = 0.0f;", FindingKind::OutOfBounds, "shared 's' + -4"},
    {"FreedOrForeignMemory", "x[1 << 20] = 0.0f;", FindingKind::OutOfBounds, "writes 4 bytes"},
    // Asynchronous copies.
    {"CopyWaitedForByItsThreadOnly",
     "gk_cp_async<4>(s + t, x + t); gk_cp_commit(); gk_cp_wait<0>(); x[t] = s[t ^ 1];",
     FindingKind::Race},
    {"CopyWaitedForByAll",
     "gk_cp_async<4>(s + t, x + t); gk_cp_commit(); gk_cp_wait<0>(); __syncthreads(); x[t] = s[t ^ "
     "1];",
     {}},
    {"CopyNotWaitedForByItsThread", "gk_cp_async<4>(s + t, x + t); gk_cp_commit(); x[t] = s[t];",
     FindingKind::PendingCopy},
    {"CopyOfTheWrongGroup",
     "gk_cp_async<4>(s + t, x + t); gk_cp_commit(); gk_cp_async<4>(s + 64 + t, x + t); "
     "gk_cp_commit(); "
     "gk_cp_wait<1>(); x[t] = s[64 + t];",
     FindingKind::PendingCopy},
    {"CopyOverwritesWhatOthersRead",
     "s[t] = 1.0f; __syncthreads(); float v = s[t ^ 1]; gk_cp_async<4>(s + t, x + 64 + t); "
     "gk_cp_commit(); "
     "gk_cp_wait<0>(); __syncthreads(); x[t] = v;",
     FindingKind::Race},
    {"MisalignedCopy", "gk_cp_async<16>(s + t, x + t * 4);", FindingKind::Misaligned,
     "cp.async of 16 bytes"},
};

class SimtRule : public testing::TestWithParam<Rule> {};
} // namespace

TEST_P(SimtRule, IsJudgedRightInAnyOrder) {
  const Rule &rule = GetParam();
  SimtProgram program(
      std::string("#include \"gk.cuh\"\n#include \"gk_tensor.cuh\"\n"
                  "extern \"C\" __global__ void k(float *x, int *q) {\n"
                  "  GK_SHARED(float, s, [128]);\n  const int t = threadIdx.x;\n  ") +
          rule.body + "\n}\n",
      "k");
  for (uint64_t seed = 0; seed < 3; ++seed)
    for (bool early : {false, true}) {
      MemoryMap memory;
      Buffer<float> x(memory, "x", 256);
      Buffer<int> q(memory, "q", 1);
      const std::vector<Finding> findings =
          program.launch({rule.blocks}, {rule.threads}, memory,
                         {.seed = seed, .copiesEarly = early}, x.data, q.data);
      if (!rule.finding) {
        ASSERT_EQ(textOf(findings), "") << rule.body;
        continue;
      }
      ASSERT_TRUE(std::any_of(findings.begin(), findings.end(),
                              [&](const Finding &f) {
                                return f.kind == *rule.finding &&
                                       f.text.find(rule.text) != std::string::npos &&
                                       f.text.find("kernel.cu:") != std::string::npos;
                              }))
          << rule.body << "\n"
          << textOf(findings);
    }
}

INSTANTIATE_TEST_SUITE_P(Rules, SimtRule, testing::ValuesIn(rules),
                         [](const testing::TestParamInfo<Rule> &info) {
                           return std::string(info.param.name);
                         });

TEST(Simt, LaunchLimitsAreChecked) {
  SimtProgram program("extern \"C\" __global__ void k(int *q) {}", "k");
  MemoryMap memory;
  Buffer<int> q(memory, "q", 1);
  for (auto [grid, block] : {std::pair<Dim3, Dim3>{{1}, {1025}},
                             {{1}, {0}},
                             {{0}, {32}},
                             {{1, 70000}, {32}},
                             {{1}, {1, 1, 65}}}) {
    const std::vector<Finding> findings = program.launch(grid, block, memory, {}, q.data);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::BadLaunch);
  }
}

TEST(Simt, RacesCanBeTurnedOffBoundsStay) {
  SimtProgram program("extern \"C\" __global__ void k(int *q, int n) { q[0] = 1; q[n] = 2; }", "k");
  MemoryMap memory;
  Buffer<int> q(memory, "q", 4);
  EXPECT_EQ(textOf(program.launch({1}, {32}, memory, {.races = false}, q.data, 1)), "");
  EXPECT_NE(textOf(program.launch({1}, {32}, memory, {.races = false}, q.data, 4)), "");
}

TEST(Simt, FootprintsNameTheWordsTouched) {
  SimtProgram program(
      "extern \"C\" __global__ void k(const int *a, int *b) { b[threadIdx.x] = a[0]; }", "k");
  MemoryMap memory;
  Buffer<int> a(memory, "a", 4), b(memory, "b", 64);
  ASSERT_EQ(textOf(program.launch({1}, {64}, memory, {.footprint = true}, a.data, b.data)), "");
  size_t read = 0, written = 0;
  for (const auto &[number, page] : program.executor.footprint().pages())
    for (size_t i = 0; i < page.read.size(); ++i) {
      read += size_t(__builtin_popcountll(page.read[i]));
      written += size_t(__builtin_popcountll(page.written[i]));
    }
  EXPECT_EQ(read, 1u);
  EXPECT_EQ(written, 64u);
}

TEST(SimtCompiler, RefusesFramesThatDoNotFitAFiber) {
  auto compiler = simtCompiler();
  ASSERT_TRUE(compiler);
  gpucc::cuda::Code code = compiler->compile(
      "extern \"C\" __global__ void k(int *q) { int a[20000]; for (int i = 0; i < "
      "20000; ++i) a[q[i] & 16383] = i; q[0] = a[q[1] & 16383]; }");
  EXPECT_FALSE(code.ok);
  EXPECT_NE(code.log.find("stack frame size"), std::string::npos) << code.log;
}
