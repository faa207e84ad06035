//===- HostFixture.h - compile kernel text, run it ----------------*- C++ -*-===//
//
//   Kernels k(text, "x86-64-v3");
//   k.run("relu", {x.data(), y.data()}, programs);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_TARGET_HOST_HOSTFIXTURE_H
#define GPUCC_TEST_TARGET_HOST_HOSTFIXTURE_H

#include "gpucc/Target/Host/Host.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

namespace gpucc::test {

class Kernels {
public:
  explicit Kernels(const std::string &text, const std::string &level = "x86-64-v3") {
    mlir::DialectRegistry registry;
    host::registerHostTarget(registry);
    mlir::MLIRContext context(registry);
    context.disableMultithreading();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "the kernel text does not parse";
      return;
    }
    host::HostOptions options;
    options.cpuLevel = level;
    if (const char *dump = getenv("GPUCC_TEST_DUMP"))
      options.dumpLlvmIr = dump;
    if (failed(host::compileHostImage(*module, options, image))) {
      ADD_FAILURE() << "the kernel does not compile";
      return;
    }
    char path[] = "/tmp/gpucc-host-test-XXXXXX";
    int file = mkstemp(path);
    if (write(file, image.bytes.data(), image.bytes.size()) != ssize_t(image.bytes.size()))
      ADD_FAILURE() << "cannot write " << path;
    close(file);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      ADD_FAILURE() << dlerror();
    unlink(path);
  }
  ~Kernels() {
    if (handle)
      dlclose(handle);
  }

  /// Runs the programs in two calls, as two threads would.
  void run(const char *name, std::vector<void *> args) {
    if (!handle)
      return;
    auto kernel = reinterpret_cast<void (*)(void **, int64_t, int64_t)>(dlsym(handle, name));
    ASSERT_NE(kernel, nullptr) << name;
    int64_t programs = 0;
    for (const host::HostKernelInfo &info : image.kernels)
      if (info.symbol == name)
        programs = info.programs;
    kernel(args.data(), 0, programs / 2);
    kernel(args.data(), programs / 2, programs);
  }

  host::HostImage image;

private:
  void *handle = nullptr;
};

/// Levels that this machine can run.
inline std::vector<std::string> levels() {
  std::string native = host::getNativeCpuLevel();
  if (native == "x86-64-v4")
    return {"x86-64-v3", "x86-64-v4"};
  return {native};
}

inline std::vector<float> randomFloats(size_t n, unsigned seed, float low = -3, float high = 3) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> v(n);
  for (float &x : v)
    x = distribution(engine);
  return v;
}

/// Guard elements behind the data, so that a write beyond the end is seen.
inline std::vector<float> guarded(size_t n) { return std::vector<float>(n + 32, 12345.0f); }
inline void expectGuard(const std::vector<float> &v, size_t n) {
  for (size_t i = n; i < v.size(); ++i)
    ASSERT_EQ(v[i], 12345.0f) << "written " << i - n << " elements beyond the end";
}

/// The fixed tree in plain C++: residues mod P, then bits 4 and up, then 3, 2, 1, 0.
template <typename T, typename Combine>
T fixedTree(const std::vector<T> &x, T identity, int64_t width, Combine combine) {
  std::vector<T> residue(width, identity);
  for (size_t n = 0; n < x.size(); ++n)
    residue[n % width] = combine(residue[n % width], x[n]);
  auto level = [&](int64_t bit) {
    for (int64_t r = 0; r < width; ++r)
      if (!(r & bit) && r + bit < width)
        residue[r] = combine(residue[r], residue[r + bit]);
  };
  for (int64_t bit = 16; bit < width; bit *= 2)
    level(bit);
  for (int64_t bit = 8; bit; bit /= 2)
    level(bit);
  return residue[0];
}
inline int64_t rowWidth(int64_t n) {
  int64_t p = 32;
  while (p < n && p < 1024)
    p *= 2;
  return p;
}

} // namespace gpucc::test

#endif // GPUCC_TEST_TARGET_HOST_HOSTFIXTURE_H
