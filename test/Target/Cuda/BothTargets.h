//===- BothTargets.h - one kernel on the CPU and as executed CUDA text ----*- C++ -*-===//
//
//   BothTargets t(text);                       // compiles both; failures fail the test
//   Arrays a = arraysFor(t, seed);             // random inputs per view
//   t.run(a.host, a.simt);                     // no findings allowed
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_TARGET_CUDA_BOTHTARGETS_H
#define GPUCC_TEST_TARGET_CUDA_BOTHTARGETS_H

#include "../../emulation/KernelFixture.h"
#include "../Host/HostFixture.h"
#include "gpucc/Target/Cuda/Emit.h"

namespace gpucc::test {

/// The first kernel of a text as CUDA.
inline cuda::CudaKernel emit(const std::string &text) {
  mlir::DialectRegistry registry;
  host::registerHostTarget(registry);
  cuda::registerCudaTarget(registry);
  mlir::MLIRContext context(registry);
  context.disableMultithreading();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "the kernel text does not parse";
    return {};
  }
  auto kernel = *module->getOps<kernel::FuncOp>().begin();
  auto result = cuda::emitCuda(kernel);
  if (failed(result)) {
    ADD_FAILURE() << "no CUDA text";
    return {};
  }
  return *result;
}

/// Runs the CUDA text on the CPU. `args`: address and bytes of each view.
inline void runSimt(const cuda::CudaKernel &k, const std::vector<std::pair<void *, size_t>> &args) {
  SimtProgram program(k.text, k.name);
  if (!program.kernel.entry)
    return;
  rt::simt::MemoryMap memory;
  std::vector<void *> values, pointers;
  for (auto &[address, bytes] : args) {
    memory.add(address, bytes, "view");
    values.push_back(address);
  }
  for (void *&value : values)
    pointers.push_back(&value);
  auto dim = [](const std::array<int64_t, 3> &d) {
    return rt::simt::Dim3{unsigned(d[0]), unsigned(d[1]), unsigned(d[2])};
  };
  rt::simt::LaunchOptions options;
  auto findings = program.executor.launch(program.kernel, dim(k.grid), dim(k.block), 0,
                                          pointers.data(), memory, options);
  EXPECT_TRUE(findings.empty()) << textOf(findings) << k.text;
}

/// 256-byte aligned memory of a view.
class View {
public:
  View(size_t bytes) : bytes(bytes) {
    data = static_cast<char *>(std::aligned_alloc(256, (bytes + 767) / 256 * 256));
    memset(data, 0, (bytes + 767) / 256 * 256);
  }
  View(View &&other) : data(other.data), bytes(other.bytes) { other.data = nullptr; }
  ~View() { std::free(data); }
  char *data;
  size_t bytes;
};

} // namespace gpucc::test

#endif // GPUCC_TEST_TARGET_CUDA_BOTHTARGETS_H
