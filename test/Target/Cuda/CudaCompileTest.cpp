//===- CudaCompileTest.cpp - NVRTC takes every text, within budget --------===//
//
// No spills on three architectures, 128-bit accesses where the layout allows them, tensor cores in
// contracts of small floats.
//
//===----------------------------------------------------------------------===//
#include "BothTargets.h"
#include "KernelCases.h"
#include "gpucc/Target/Cuda/Cubin.h"

using namespace gpucc;
using namespace gpucc::test;

namespace {

class CudaCompile : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    static std::string error;
    static std::shared_ptr<cuda::NvrtcLibrary> library = cuda::NvrtcLibrary::open("", error);
    nvrtc = library;
    if (!nvrtc)
      GTEST_SKIP() << error;
  }
  cuda::KernelInfo compile(const cuda::CudaKernel &k, const char *arch) {
    cuda::Code code = nvrtc->compile(k.text, arch, {cacheFolder(), {}});
    EXPECT_TRUE(code.ok) << arch << "\n" << code.log << k.text;
    if (!code.ok)
      return {};
    cuda::CubinInfo info = cuda::readCubin(code.bytes);
    EXPECT_EQ(info.kernels.size(), 1u) << info.error;
    return info.kernels.empty() ? cuda::KernelInfo() : info.kernels[0];
  }
  std::shared_ptr<cuda::NvrtcLibrary> nvrtc;
};

TEST_P(CudaCompile, WithoutSpills) {
  cuda::CudaKernel k = emit(GetParam().text);
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::KernelInfo info = compile(k, arch);
    EXPECT_FALSE(info.spills()) << arch << " " << cuda::describe(info) << "\n" << k.text;
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, CudaCompile, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

using CudaBudget = CudaCompile;
TEST_P(CudaBudget, AllAccessesAreWide) {
  cuda::KernelInfo info = compile(emit(GetParam().text), "sm_80");
  EXPECT_GT(info.load128, 0u) << cuda::describe(info);
  EXPECT_EQ(info.load128, info[cuda::Instruction::LDG]) << cuda::describe(info);
  EXPECT_EQ(info.store128, info[cuda::Instruction::STG]) << cuda::describe(info);
}
INSTANTIATE_TEST_SUITE_P(Wide, CudaBudget,
                         testing::Values(Case{"softmax", softmax(8, 1024)},
                                         Case{"layernorm", layerNorm(4, 1024, "f32")},
                                         Case{"gelu", pointwise(16, 256, gelu)},
                                         Case{"bf16", pointwise(16, 256, small, "bf16")},
                                         Case{"transpose", transpose(64, 96)}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
