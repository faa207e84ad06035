//===- FakeCudaTest.cpp - Lazy streams, events, capture, failures ---------===//
//
// Speaks to the fake driver as the runtime does: by dlopen and cuGetProcAddress.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"
#include "drivers/CudaApi.h"

#include <cstring>
#include <dlfcn.h>
#include <numeric>

using namespace gpucc;
using namespace gpucc::rt::cuda;

namespace {
const char *kernels = R"(#include "gk.cuh"
extern "C" __global__ void __launch_bounds__(64) addOne(const float *x, float *y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = x[i] + 1.0f;
}
extern "C" __global__ void __launch_bounds__(64) twice(const float *x, float *y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = x[i] * 2.0f;
}
extern "C" __global__ void beyond(float *y, long long n) { y[n + threadIdx.x] = 0.0f; }
)";

class FakeCuda : public testing::Test {
protected:
  static constexpr size_t count = 256, bytes = count * sizeof(float);
  FunctionTable fn{};
  int (*set)(const char *, long long) = nullptr;
  long long (*get)(const char *) = nullptr;
  const char *(*report)() = nullptr;
  Module module = nullptr;
  Function addOne = nullptr, twice = nullptr, beyond = nullptr;
  DevicePointer x = 0, y = 0, z = 0;
  Stream first = nullptr, second = nullptr;
  Event forked = nullptr, joined = nullptr;
  std::vector<float> input = std::vector<float>(count), output = std::vector<float>(count);
  bool forgetWait = false;

  void SetUp() override {
    void *library = dlopen(GPUCC_TEST_FAKECUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
    auto address = reinterpret_cast<int (*)(const char *, void **, int, uint64_t, int *)>(
        dlsym(library, "cuGetProcAddress_v2"));
    ASSERT_TRUE(address);
#define FIND(NAME, ...)                                                                            \
  ASSERT_EQ(address(#NAME, reinterpret_cast<void **>(&fn.NAME), 12000, 0, nullptr), success)       \
      << #NAME;
    GPUCC_CUDA_FUNCTIONS(FIND)
#undef FIND
    set = reinterpret_cast<decltype(set)>(dlsym(library, "gpuccFakeCudaSet"));
    get = reinterpret_cast<decltype(get)>(dlsym(library, "gpuccFakeCudaGet"));
    report = reinterpret_cast<decltype(report)>(dlsym(library, "gpuccFakeCudaReport"));
    set("reset", 0);
    set("seed", 0);
    ASSERT_EQ(fn.cuInit(0), success);
    Context context = nullptr;
    ASSERT_EQ(fn.cuDevicePrimaryCtxRetain(&context, 0), success);
    ASSERT_EQ(fn.cuCtxSetCurrent(context), success);
    auto compiler = test::simtCompiler();
    ASSERT_TRUE(compiler);
    cuda::Code code = compiler->compile(kernels, {test::cacheFolder(), {}});
    ASSERT_TRUE(code.ok) << code.log;
    ASSERT_EQ(fn.cuModuleLoadData(&module, code.bytes.data()), success) << report();
    ASSERT_EQ(fn.cuModuleGetFunction(&addOne, module, "addOne"), success);
    ASSERT_EQ(fn.cuModuleGetFunction(&twice, module, "twice"), success);
    ASSERT_EQ(fn.cuModuleGetFunction(&beyond, module, "beyond"), success);
    for (DevicePointer *p : {&x, &y, &z})
      ASSERT_EQ(fn.cuMemAlloc(p, bytes), success);
    for (Stream *s : {&first, &second})
      ASSERT_EQ(fn.cuStreamCreate(s, streamNonBlocking), success);
    for (Event *e : {&forked, &joined})
      ASSERT_EQ(fn.cuEventCreate(e, eventDisableTiming), success);
    std::iota(input.begin(), input.end(), 0.0f);
  }
  void TearDown() override {
    set("reset", 0);
    for (Stream s : {first, second})
      fn.cuStreamDestroy(s);
    for (Event e : {forked, joined})
      fn.cuEventDestroy(e);
    for (DevicePointer p : {x, y, z})
      fn.cuMemFree(p);
    fn.cuModuleUnload(module);
  }

  int launch(Function f, DevicePointer from, DevicePointer to, Stream stream) {
    void *arguments[] = {&from, &to};
    return fn.cuLaunchKernel(f, 4, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr);
  }
  /// z = (x + 1) * 2: the addition on one stream, the product on the other, the copies on the
  /// first.
  void issue() {
    EXPECT_EQ(fn.cuMemcpyAsync(x, reinterpret_cast<DevicePointer>(input.data()), bytes, first),
              success);
    EXPECT_EQ(launch(addOne, x, y, first), success);
    if (!forgetWait) {
      EXPECT_EQ(fn.cuEventRecord(forked, first), success);
      EXPECT_EQ(fn.cuStreamWaitEvent(second, forked, 0), success);
    }
    EXPECT_EQ(launch(twice, y, z, second), success);
    EXPECT_EQ(fn.cuEventRecord(joined, second), success);
    EXPECT_EQ(fn.cuStreamWaitEvent(first, joined, 0), success);
    EXPECT_EQ(fn.cuMemcpyAsync(reinterpret_cast<DevicePointer>(output.data()), z, bytes, first),
              success);
  }
  bool right() {
    for (size_t i = 0; i < count; ++i)
      if (output[i] != (input[i] + 1.0f) * 2.0f)
        return false;
    return true;
  }
  /// How many of 20 orders give a wrong result.
  int wrongOrders() {
    int wrong = 0;
    for (int seed = 1; seed <= 20; ++seed) {
      set("seed", seed);
      fn.cuMemsetD8Async(y, 0xff, bytes, first);
      fn.cuMemsetD8Async(z, 0xff, bytes, first);
      EXPECT_EQ(fn.cuStreamSynchronize(first), success);
      issue();
      EXPECT_EQ(fn.cuStreamSynchronize(first), success) << report();
      EXPECT_EQ(fn.cuStreamSynchronize(second), success) << report();
      wrong += !right();
    }
    return wrong;
  }
};
} // namespace

TEST_F(FakeCuda, StreamsAreLazyAndOrdered) {
  issue();
  EXPECT_EQ(get("kernels-run"), 0);
  EXPECT_EQ(fn.cuStreamSynchronize(first), success) << report();
  EXPECT_EQ(get("kernels-run"), 2);
  EXPECT_TRUE(right());
  EXPECT_STREQ(report(), "");
}

TEST_F(FakeCuda, AllLegalOrdersAreRight) { EXPECT_EQ(wrongOrders(), 0); }

TEST_F(FakeCuda, ARemovedEventWaitIsSeenInResults) {
  forgetWait = true;
  set("order", 0);
  EXPECT_GT(wrongOrders(), 0);
  set("order", 1);
}

TEST_F(FakeCuda, ARemovedEventWaitIsNamedInAnyOrder) {
  forgetWait = true;
  for (int seed = 0; seed < 5; ++seed) {
    set("reset", 0);
    set("seed", seed);
    launch(addOne, x, y, first);
    launch(twice, y, z, second);
    EXPECT_EQ(fn.cuCtxSynchronize(), launchFailed);
    const std::string text = report();
    EXPECT_NE(text.find("unordered: "), std::string::npos) << text;
    EXPECT_NE(text.find("kernel 'twice'"), std::string::npos) << text;
    EXPECT_NE(text.find("kernel 'addOne'"), std::string::npos) << text;
  }
}

TEST_F(FakeCuda, WhatTheHostWaitedForIsOrdered) {
  EXPECT_EQ(launch(addOne, x, y, first), success);
  EXPECT_EQ(fn.cuStreamSynchronize(first), success);
  EXPECT_EQ(launch(twice, y, z, second), success);
  EXPECT_EQ(fn.cuStreamSynchronize(second), success) << report();
  // Two readers need no order.
  EXPECT_EQ(launch(addOne, x, y, first), success);
  EXPECT_EQ(launch(twice, x, z, second), success);
  EXPECT_EQ(fn.cuCtxSynchronize(), success) << report();
}

TEST_F(FakeCuda, CapturedGraphsReplay) {
  ASSERT_EQ(fn.cuStreamBeginCapture(first, captureThreadLocal), success);
  issue();
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  ASSERT_EQ(fn.cuStreamEndCapture(first, &graph), success) << report();
  ASSERT_EQ(fn.cuGraphInstantiateWithFlags(&exec, graph, 0), success);
  EXPECT_EQ(get("kernels-run"), 0);
  for (int replay = 1; replay <= 5; ++replay) {
    set("seed", replay);
    for (float &value : input)
      value += 0.5f;
    ASSERT_EQ(fn.cuGraphLaunch(exec, first), success);
    ASSERT_EQ(fn.cuStreamSynchronize(first), success);
    EXPECT_TRUE(right());
    EXPECT_EQ(get("cuGraphLaunch"), replay);
    EXPECT_EQ(get("kernels-run"), 2 * replay);
  }
  // The same shape with other parameters updates it; another shape does not.
  ASSERT_EQ(fn.cuStreamBeginCapture(first, captureThreadLocal), success);
  std::swap(y, z);
  issue();
  Graph other = nullptr, smaller = nullptr;
  ASSERT_EQ(fn.cuStreamEndCapture(first, &other), success);
  GraphUpdateResult result{};
  EXPECT_EQ(fn.cuGraphExecUpdate(exec, other, &result), success);
  input[0] = 77;
  ASSERT_EQ(fn.cuGraphLaunch(exec, first), success);
  ASSERT_EQ(fn.cuStreamSynchronize(first), success);
  EXPECT_TRUE(right());
  ASSERT_EQ(fn.cuStreamBeginCapture(first, captureThreadLocal), success);
  EXPECT_EQ(launch(addOne, x, y, first), success);
  ASSERT_EQ(fn.cuStreamEndCapture(first, &smaller), success);
  EXPECT_EQ(fn.cuGraphExecUpdate(exec, smaller, &result), graphExecUpdateFailure);
  for (Graph g : {graph, other, smaller})
    fn.cuGraphDestroy(g);
  fn.cuGraphExecDestroy(exec);
}

TEST_F(FakeCuda, ForkedStreamsMustJoin) {
  ASSERT_EQ(fn.cuStreamBeginCapture(first, captureThreadLocal), success);
  EXPECT_EQ(fn.cuEventRecord(forked, first), success);
  EXPECT_EQ(fn.cuStreamWaitEvent(second, forked, 0), success);
  EXPECT_EQ(launch(twice, y, z, second), success);
  Graph graph = nullptr;
  EXPECT_EQ(fn.cuStreamEndCapture(first, &graph), captureUnjoined);
  EXPECT_NE(std::string(report()).find("not joined"), std::string::npos);
}

TEST_F(FakeCuda, WaitingForAnEventOutsideTheCaptureIsRefused) {
  EXPECT_EQ(fn.cuEventRecord(forked, second), success);
  ASSERT_EQ(fn.cuStreamBeginCapture(first, captureThreadLocal), success);
  EXPECT_EQ(fn.cuStreamWaitEvent(first, forked, 0), captureIsolation);
  Graph graph = nullptr;
  EXPECT_EQ(fn.cuStreamEndCapture(first, &graph), success);
  fn.cuGraphDestroy(graph);
}

TEST_F(FakeCuda, KernelFaultsBecomeErrorsWithText) {
  long long n = count;
  void *arguments[] = {&y, &n};
  EXPECT_EQ(fn.cuLaunchKernel(beyond, 1, 1, 1, 32, 1, 1, 0, first, arguments, nullptr), success);
  EXPECT_EQ(fn.cuStreamSynchronize(first), launchFailed);
  EXPECT_NE(std::string(report()).find("out of bounds at kernel.cu:10"), std::string::npos)
      << report();
  EXPECT_EQ(launch(addOne, x, y, first), launchFailed) << "the error stays";
}

TEST_F(FakeCuda, InjectedFailures) {
  set("fail-allocation", 1);
  DevicePointer a = 0, b = 0;
  EXPECT_EQ(fn.cuMemAlloc(&a, 64), success);
  EXPECT_EQ(fn.cuMemAlloc(&b, 64), outOfMemory);
  EXPECT_EQ(fn.cuMemAlloc(&b, 64), success);
  set("memory", 1 << 20);
  DevicePointer c = 0;
  EXPECT_EQ(fn.cuMemAlloc(&c, 1 << 20), outOfMemory);
  set("memory", 8ll << 30);
  set("fail-launch", 0);
  EXPECT_EQ(launch(addOne, x, y, first), success);
  EXPECT_EQ(fn.cuStreamSynchronize(first), launchFailed);
  set("reset", 0);
  EXPECT_EQ(launch(addOne, x, y, first), success);
  EXPECT_EQ(fn.cuStreamSynchronize(first), success);
  set("lose-device", 1);
  EXPECT_EQ(launch(addOne, x, y, first), success);
  EXPECT_EQ(fn.cuStreamSynchronize(first), success);
  EXPECT_EQ(launch(addOne, x, y, first), success);
  EXPECT_EQ(fn.cuStreamSynchronize(first), deviceLost);
  EXPECT_EQ(launch(addOne, x, y, first), deviceLost);
  set("reset", 0);
  fn.cuMemFree(a);
  fn.cuMemFree(b);
}

TEST_F(FakeCuda, WrongImagesLaunchesAndRangesAreRefused) {
  Module m = nullptr;
  EXPECT_EQ(fn.cuModuleLoadData(&m, std::string(64, 'x').c_str()), invalidImage);
  void *arguments[] = {&x, &y};
  EXPECT_EQ(fn.cuLaunchKernel(addOne, 1, 1, 1, 2048, 1, 1, 0, first, arguments, nullptr),
            invalidValue);
  EXPECT_EQ(fn.cuLaunchKernel(addOne, 1, 1, 1, 64, 1, 1, 60000, first, arguments, nullptr),
            invalidValue);
  EXPECT_EQ(fn.cuMemcpyAsync(x + 4, y, bytes, first), invalidValue);
  EXPECT_NE(std::string(report()).find("do not fit"), std::string::npos) << report();
  void *library = dlopen(GPUCC_TEST_FAKECUDA, RTLD_NOW | RTLD_LOCAL);
  auto exportTable =
      reinterpret_cast<int (*)(const void **, const void *)>(dlsym(library, "cuGetExportTable"));
  const void *table = &m;
  EXPECT_NE(exportTable(&table, nullptr), success);
  EXPECT_EQ(table, nullptr);
}
