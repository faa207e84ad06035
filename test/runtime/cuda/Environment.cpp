//===- Environment.cpp - Load the emulated driver in these tests ----------===//
//
// Before any test: the loaders are pointed at the fake libraries, and kernels.cu becomes a simt
// image.
//
//===----------------------------------------------------------------------===//
#include "Environment.h"

#include "gpucc/Target/Cuda/Toolchain.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>
#include <vector>

using namespace gpucc::rt::test;
namespace fs = std::filesystem;

static std::string cacheFolder() {
  return (fs::temp_directory_path() / "gpucc-test-cache").string();
}

std::string gpucc::rt::test::simtImage(const std::string &text) {
  std::string error;
  static auto compiler = cuda::SimtCompiler::open("", cacheFolder(), error);
  if (!compiler) {
    ADD_FAILURE() << error;
    return "";
  }
  cuda::Code code = compiler->compile(text, {cacheFolder(), {}});
  EXPECT_TRUE(code.ok) << code.log;
  return code.bytes;
}

FakeCudaControl &gpucc::rt::test::fakeCuda() {
  static FakeCudaControl control = [] {
    void *library = dlopen(TEST_FAKECUDA, RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(library) << dlerror();
    FakeCudaControl c;
    c.set = reinterpret_cast<decltype(c.set)>(dlsym(library, "gpuccFakeCudaSet"));
    c.get = reinterpret_cast<decltype(c.get)>(dlsym(library, "gpuccFakeCudaGet"));
    c.report = reinterpret_cast<decltype(c.report)>(dlsym(library, "gpuccFakeCudaReport"));
    return c;
  }();
  return control;
}

namespace {
class FakeLibraries : public testing::Environment {
public:
  void SetUp() override {
    setenv("GPUCC_LIBCUDA", TEST_FAKECUDA, 1);
    setenv("GPUCC_LIBNCCL", TEST_FAKENCCL, 1);
    std::ifstream in(TEST_CUDA_KERNELS);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    write("GPUCC_TEST_SIMT_KERNELS", text);
    write("GPUCC_TEST_OTHER_SIMT_KERNELS", "#define EXTRA 100\n" + text);
  }
  void TearDown() override {
    for (const std::string &image : images)
      fs::remove(image);
  }

private:
  /// Compiles to a file that the environment variable names.
  void write(const char *variable, const std::string &text) {
    images.push_back(
        (fs::temp_directory_path() / (std::string(variable) + std::to_string(getpid()))).string());
    std::ofstream(images.back(), std::ios::binary) << simtImage(text);
    setenv(variable, images.back().c_str(), 1);
  }
  std::vector<std::string> images;
};
const auto *registered = testing::AddGlobalTestEnvironment(new FakeLibraries);
} // namespace
