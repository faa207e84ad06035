//===- ToolchainTest.cpp - NVRTC, cubin reader, disk cache, kernel names --===//

#include "Gemm.h"
#include "KernelFixture.h"
#include "gpucc/Target/Cuda/Cubin.h"
#include "gpucc/Target/Cuda/KernelCompiler.h"
#include "lib/Target/Cuda/Toolchain/DiskCache.h"

#include <filesystem>
#include <fstream>
#include <thread>

using namespace gpucc;
using cuda::Instruction;

namespace {
class Nvrtc : public testing::Test {
protected:
  void SetUp() override {
    std::string error;
    nvrtc = cuda::NvrtcLibrary::open("", error);
    if (!nvrtc)
      GTEST_SKIP() << error;
  }
  std::shared_ptr<cuda::NvrtcLibrary> nvrtc;
};

/// A folder that ends with the test.
struct TemporaryFolder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("gpucc-toolchain-" + std::to_string(getpid())))
          .string();
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

const char *vectorCopy = R"(#include "gk.cuh"
extern "C" __global__ void __launch_bounds__(256) copy(const float *__restrict__ x,
                                                       float *__restrict__ y, int n) {
  int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i < n) gk_store(y + i, gk_load<float, 4>(x + i));
}
)";
// 512 values indexed by data: they must live in local memory.
const char *localArray = R"(#include "gk.cuh"
extern "C" __global__ void local(const int *x, int *y) {
  int a[64];
  for (int i = 0; i < 64; ++i) a[i] = x[i];
  for (int i = 0; i < 64; ++i) a[x[i + 64] & 63] += a[x[i + 128] & 63];
  for (int i = 0; i < 64; ++i) y[i] = a[i];
}
)";
const char *tensor = R"(#include "gk_tensor.cuh"
extern "C" __global__ void tensor(const gk_bf16 *x, float *y) {
  GK_SHARED(gk_bf16, s, [512]);
  gk_cp_async<16>(s + threadIdx.x * 8, x + threadIdx.x * 8);
  gk_cp_commit();
  gk_cp_wait<0>();
  __syncthreads();
  gk_u32 a[4], b[2];
  gk_ldmatrix_x4(a, s + threadIdx.x * 8);
  b[0] = a[2]; b[1] = a[3];
  float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  gk_mma<gk_bf16>(d, a, b);
  gk_vec<float, 4> v{{d[0], d[1], d[2], d[3]}};
  gk_store(y + threadIdx.x * 4, v);
}
)";
const char *atomics = R"(#include "gk.cuh"
extern "C" __global__ void used(float *x, int *q) { x[threadIdx.x] = atomicAdd(q, 3); }
extern "C" __global__ void unused(float *x, int *q) { atomicAdd(q + threadIdx.x, 3); }
extern "C" __global__ void floats(float *x, int *q) { atomicAdd(x + threadIdx.x, 3.0f); }
extern "C" __global__ void exchange(float *x, int *q) { x[0] = atomicCAS(q, 3, 4); }
extern "C" __global__ void inShared(float *x, int *q) {
  GK_SHARED(int, s, [64]);
  s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[q[0]], 1);
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x];
}
)";
const char *wgmma = R"(extern "C" __global__ void wgmma(float *x, unsigned long long *q) {
  float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
               "{%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(q[0]), "l"(q[1]));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
  x[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
)";
} // namespace

TEST(KernelNames, SkipsAttributesAndComments) {
  EXPECT_EQ(cuda::kernelNames("// __global__ void no(int)\nextern \"C\" __global__ void "
                              "__launch_bounds__(256, (2)) a(const float *p) {}\n"
                              "__global__ void __launch_bounds__(32)\nb_2(int x) {}"),
            (std::vector<std::string>{"a", "b_2"}));
}

TEST(Sha256, Fips180Vector) {
  // sha256 puts "LENGTH:" before each part; the expected digest is that of "3:abc" (sha256sum).
  EXPECT_EQ(cuda::sha256({"abc"}),
            "aab5f9ae99b2e38fb462025c8f72f570c9c811705d2a4277dc855d7fa293fe97");
}

TEST(DiskCache, TornFilesReadAsAbsent) {
  TemporaryFolder folder;
  cuda::DiskCache cache(folder.path);
  const std::string key = cuda::sha256({"key"});
  EXPECT_FALSE(cache.get(key));
  ASSERT_TRUE(cache.put(key, "payload"));
  EXPECT_EQ(cache.get(key), "payload");
  const std::string file = folder.path + "/" + key.substr(0, 2) + "/" + key + ".bin";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_FALSE(cache.get(key));
}

TEST(Cubin, RefusesOtherFiles) {
  EXPECT_NE(cuda::readCubin("hello").error, "");
  EXPECT_NE(cuda::readCubin(std::string("\x7f"
                                        "ELF") +
                            std::string(200, '\xff'))
                .error,
            "");
}

TEST_F(Nvrtc, ReportsResourcesOnAllArchitectures) {
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::Code code = nvrtc->compile(vectorCopy, arch, {});
    ASSERT_TRUE(code.ok) << code.log;
    cuda::CubinInfo info = cuda::readCubin(code.bytes);
    ASSERT_EQ(info.error, "");
    EXPECT_EQ(info.arch, std::stoul(arch + 3));
    const cuda::KernelInfo *copy = info.find("copy");
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->maxThreads, 256u);
    EXPECT_EQ(copy->parameterBytes, (std::vector<unsigned>{8, 8, 4}));
    EXPECT_GT(copy->registers, 7u);
    EXPECT_FALSE(copy->spills()) << cuda::describe(*copy);
    EXPECT_EQ((*copy)[Instruction::LDG], 1u) << arch << cuda::describe(*copy);
    EXPECT_EQ(copy->load128, 1u) << arch << cuda::describe(*copy);
    EXPECT_EQ(copy->store128, 1u) << arch << cuda::describe(*copy);
  }
}

TEST_F(Nvrtc, SeesLocalMemoryAndTensorCores) {
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::Code code = nvrtc->compile(localArray, arch, {});
    ASSERT_TRUE(code.ok) << code.log;
    cuda::CubinInfo local = cuda::readCubin(code.bytes);
    EXPECT_TRUE(local.kernels.at(0).spills()) << arch;
    EXPECT_GE(local.kernels.at(0).stackBytes, 256u) << arch;
    EXPECT_GT(local.kernels.at(0)[Instruction::LDL], 0u) << arch;
    EXPECT_GT(local.kernels.at(0)[Instruction::STL], 0u) << arch;
    code = nvrtc->compile(tensor, arch, {});
    ASSERT_TRUE(code.ok) << code.log;
    const cuda::CubinInfo mma = cuda::readCubin(code.bytes);
    const cuda::KernelInfo &k = mma.kernels.at(0);
    EXPECT_EQ(k[Instruction::HMMA], 1u) << arch << cuda::describe(k);
    EXPECT_EQ(k[Instruction::LDSM], 1u) << arch << cuda::describe(k);
    EXPECT_EQ(k[Instruction::LDGSTS], 1u) << arch << cuda::describe(k);
    EXPECT_GE(k.sharedBytes, 1024u) << arch;
  }
}

TEST_F(Nvrtc, CountsAtomicsAndWarpGroupProducts) {
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    cuda::Code code = nvrtc->compile(atomics, arch, {});
    ASSERT_TRUE(code.ok) << code.log;
    for (const cuda::KernelInfo &kernel : cuda::readCubin(code.bytes).kernels)
      EXPECT_EQ(kernel[Instruction::ATOM], 1u) << arch << " " << cuda::describe(kernel);
  }
  cuda::Code code = nvrtc->compile(wgmma, "sm_90a", {});
  ASSERT_TRUE(code.ok) << code.log;
  EXPECT_EQ(cuda::readCubin(code.bytes).kernels.at(0)[Instruction::HGMMA], 1u);
}

/// The same headers under a third compiler; where clang and the toolkit's headers are.
TEST(ClangCuda, CompilesHeadersAndSkeletons) {
  if (!std::filesystem::exists("/usr/local/cuda/include/cuda.h"))
    GTEST_SKIP() << "no CUDA headers in /usr/local/cuda";
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path);
  for (const cuda::KernelHeader &header : cuda::kernelHeaders())
    std::ofstream(folder.path + "/" + header.name) << header.text;
  std::ofstream(folder.path + "/kernel.cu")
      << "#include \"gk.cuh\"\n#include \"conv.cuh\"\n#include \"attention_simt.cuh\"\n#include "
         "\"attention_mma.cuh\"\n"
      << test::textOf(test::gemmCases[9]);
  const std::string command =
      "clang++-22 -x cuda --cuda-gpu-arch=sm_90a --cuda-path=/usr/local/cuda --cuda-device-only "
      "-std=c++20 -O2 -ffp-contract=off -S -w -o " +
      folder.path + "/kernel.ptx " + folder.path + "/kernel.cu 2> " + folder.path + "/log";
  const int status = std::system(command.c_str());
  ASSERT_EQ(status, 0) << cuda::readFile(folder.path + "/log").value_or("");
  EXPECT_NE(cuda::readFile(folder.path + "/kernel.ptx").value_or("").find("mma.sync"),
            std::string::npos);
}

TEST_F(Nvrtc, CacheIsKeyedByTextAndArchitecture) {
  TemporaryFolder folder;
  const cuda::CompileOptions options{folder.path, {}};
  cuda::Code first = nvrtc->compile(vectorCopy, "sm_80", options);
  cuda::Code again = nvrtc->compile(vectorCopy, "sm_80", options);
  EXPECT_FALSE(first.fromCache);
  EXPECT_TRUE(again.fromCache);
  EXPECT_EQ(first.bytes, again.bytes);
  EXPECT_FALSE(nvrtc->compile(vectorCopy, "sm_90a", options).fromCache);
  EXPECT_FALSE(nvrtc->compile(std::string(vectorCopy) + "// other", "sm_80", options).fromCache);
}

TEST_F(Nvrtc, CompilesInThreadsAndReportsErrors) {
  std::vector<std::thread> threads;
  std::vector<cuda::Code> codes(4);
  for (size_t i = 0; i < codes.size(); ++i)
    threads.emplace_back([&, i] { codes[i] = nvrtc->compile(vectorCopy, "sm_80", {}); });
  for (std::thread &t : threads)
    t.join();
  for (const cuda::Code &code : codes) {
    EXPECT_TRUE(code.ok);
    EXPECT_EQ(code.bytes, codes[0].bytes);
  }
  cuda::Code bad = nvrtc->compile("extern \"C\" __global__ void k() { nonsense; }", "sm_80", {});
  EXPECT_FALSE(bad.ok);
  EXPECT_NE(bad.log.find("kernel.cu(1)"), std::string::npos) << bad.log;
}

TEST_F(Nvrtc, KernelCompilerSharesCachesAndIgnoresJobs) {
  TemporaryFolder folder;
  cuda::KernelCompilerOptions options;
  options.architectures = {"sm_80", "compute_90", "simt"};
  options.cacheFolder = folder.path;
  std::string error;
  auto compiler = cuda::KernelCompiler::open(options, error);
  ASSERT_TRUE(compiler) << error;
  cuda::CompiledKernels first = compiler->compile({vectorCopy, tensor, vectorCopy});
  EXPECT_EQ(first.error, "");
  EXPECT_EQ(first.compiled, 6u);
  EXPECT_EQ(first.shared, 1u);
  EXPECT_EQ(first.code[0][0].bytes, first.code[2][0].bytes);
  EXPECT_EQ(compiler->compile({tensor}).fromCache, 3u);

  TemporaryFolder other;
  other.path += "-one-job";
  options.cacheFolder = other.path;
  options.jobs = 1;
  cuda::CompiledKernels second =
      cuda::KernelCompiler::open(options, error)->compile({vectorCopy, tensor});
  for (size_t i = 0; i < 2; ++i)
    for (size_t a = 0; a < 3; ++a)
      EXPECT_EQ(first.code[i][a].bytes, second.code[i][a].bytes) << i << " " << a;

  cuda::CompiledKernels bad = compiler->compile({"__global__ void broken() { nonsense; }"});
  EXPECT_NE(bad.error.find("kernel 'broken' for sm_80 does not compile"), std::string::npos);
}

TEST_F(Nvrtc, PtxForForwardCompatibility) {
  cuda::Code code = nvrtc->compile(vectorCopy, "compute_90", {});
  ASSERT_TRUE(code.ok) << code.log;
  EXPECT_NE(code.bytes.find(".target sm_90"), std::string::npos);
}
