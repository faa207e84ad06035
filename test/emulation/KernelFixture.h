//===- KernelFixture.h - Compile a kernel text and run it in tests -*- C++ -*-===//
//
//   SimtKernel k = simtKernel(text, "scale");       // fails the test when clang does
//   auto findings = k.launch({2}, {64}, {x.arg(), y.arg()}, memory);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_EMULATION_KERNELFIXTURE_H
#define GPUCC_TEST_EMULATION_KERNELFIXTURE_H

#include "gpucc/Target/Cuda/Toolchain.h"
#include "simt/Executor.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace gpucc::test {

/// A folder for caches that tests of one machine share.
inline std::string cacheFolder() {
  return (std::filesystem::temp_directory_path() / "gpucc-test-cache").string();
}

inline std::shared_ptr<cuda::SimtCompiler> simtCompiler() {
  static std::string error;
  static std::shared_ptr<cuda::SimtCompiler> compiler =
      cuda::SimtCompiler::open("", cacheFolder(), error);
  if (!compiler)
    ADD_FAILURE() << error;
  return compiler;
}

struct SimtProgram {
  std::unique_ptr<rt::simt::Image> image;
  rt::simt::Kernel kernel;
  rt::simt::Executor executor;

  SimtProgram(const std::string &text, const std::string &name,
              std::vector<std::string> extra = {}) {
    auto compiler = simtCompiler();
    if (!compiler)
      return;
    cuda::Code code = compiler->compile(text, {cacheFolder(), std::move(extra)});
    if (!code.ok) {
      ADD_FAILURE() << code.log;
      return;
    }
    std::string error;
    image = rt::simt::Image::load(code.bytes.data(), code.bytes.size(), error);
    if (!image || !image->find(name, kernel))
      ADD_FAILURE() << "kernel '" << name << "': " << error;
  }

  template <class... A>
  std::vector<rt::simt::Finding> launch(rt::simt::Dim3 grid, rt::simt::Dim3 block,
                                        const rt::simt::MemoryMap &memory,
                                        const rt::simt::LaunchOptions &options, A... arguments) {
    if (!kernel.entry)
      return {};
    void *pointers[] = {static_cast<void *>(&arguments)..., nullptr};
    return executor.launch(kernel, grid, block, 0, pointers, memory, options);
  }
};

/// Device memory of a test: 256-byte aligned, exact size, filled by the test.
template <class T> struct Buffer {
  T *data;
  size_t count;
  Buffer(rt::simt::MemoryMap &memory, const char *name, size_t count) : count(count) {
    data = static_cast<T *>(std::aligned_alloc(256, (count * sizeof(T) + 511) / 256 * 256));
    std::fill(data, data + count, T{});
    memory.add(data, count * sizeof(T), name);
  }
  ~Buffer() { std::free(data); }
  Buffer(const Buffer &) = delete;
  T &operator[](size_t i) { return data[i]; }
};

inline std::string textOf(const std::vector<rt::simt::Finding> &findings) {
  std::string all;
  for (const rt::simt::Finding &finding : findings)
    all += finding.text + "\n";
  return all;
}

} // namespace gpucc::test

#endif
