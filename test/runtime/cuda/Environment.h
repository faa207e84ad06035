//===- Environment.h - The emulated driver from a test's side -------------===//
#ifndef GPUCC_TEST_RUNTIME_CUDA_ENVIRONMENT_H
#define GPUCC_TEST_RUNTIME_CUDA_ENVIRONMENT_H

#include <string>

namespace gpucc::rt::test {

/// Functions of emulation/fakecuda/Control.h in the loaded library.
struct FakeCudaControl {
  int (*set)(const char *, long long);
  long long (*get)(const char *);
  const char *(*report)();
};
FakeCudaControl &fakeCuda();

/// The simt image of a kernel text; a failure of the test if clang fails.
std::string simtImage(const std::string &text);

} // namespace gpucc::rt::test

#endif
