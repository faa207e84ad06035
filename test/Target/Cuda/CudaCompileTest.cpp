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

/// y = gelu(x w + bias) of these extents.
std::string dense(int m, int n, int k, const char *type, const char *mode) {
  std::string text = R"(
    kernel.func @dense(%x: memref<$Mx$KxT>, %w: memref<$Kx$NxT>, %bias: memref<$NxT>, %y: memref<$Mx$NxT>) {
      kernel.contract %x, %w extents [1, $M, $N, $K] maps affine_map<(b, i, k) -> (i, k)>,
          affine_map<(b, k, j) -> (k, j)> MODE : memref<$Mx$KxT>, memref<$Kx$NxT> epilogue {
      ^bb0(%acc: f32, %b: index, %i: index, %j: index):
        %half = arith.constant 0.5 : f32
        %one = arith.constant 1.0 : f32
        %0 = kernel.load %bias[%j] : memref<$NxT>
        WIDEN
        %2 = arith.addf %acc, %1 : f32
        %3 = math.erf %2 : f32
        %4 = arith.addf %3, %one : f32
        %5 = arith.mulf %2, %half : f32
        %6 = arith.mulf %5, %4 : f32
        NARROW
        kernel.store %7, %y[%i, %j] : memref<$Mx$NxT>
      }
    })";
  bool isSmall = std::string(type) != "f32";
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  replace("WIDEN", isSmall ? "%1 = arith.extf %0 : T to f32" : "%1 = arith.negf %0 : f32");
  replace("NARROW", isSmall ? "%7 = arith.truncf %6 : f32 to T" : "%7 = arith.negf %6 : f32");
  replace("MODE", mode);
  replace("xT>", std::string("x") + type + ">");
  replace(": T to", std::string(": ") + type + " to");
  replace("to T", std::string("to ") + type);
  return with(text, {{"$M", m}, {"$N", n}, {"$K", k}});
}

using CudaTensorCores = CudaCompile;
TEST_P(CudaTensorCores, ContractsUseThem) {
  cuda::CudaKernel k = emit(GetParam().text);
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::KernelInfo info = compile(k, arch);
    EXPECT_FALSE(info.spills()) << arch << " " << cuda::describe(info);
    EXPECT_GT(info[cuda::Instruction::HMMA] + info[cuda::Instruction::HGMMA], 0u)
        << arch << " " << cuda::describe(info);
  }
}
const char *const tf32 = "{math = #kernel.math<tf32>}";
INSTANTIATE_TEST_SUITE_P(Contracts, CudaTensorCores,
                         testing::Values(Case{"bf16_small", dense(16, 16, 16, "bf16", "")},
                                         Case{"bf16", dense(512, 2304, 768, "bf16", "")},
                                         Case{"f16_odd", dense(33, 50, 70, "f16", "")},
                                         Case{"tf32", dense(256, 1000, 512, "f32", tf32)}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
