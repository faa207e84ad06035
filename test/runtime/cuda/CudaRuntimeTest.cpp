//===- CudaRuntimeTest.cpp - Graphs, streams and errors of the cuda driver -===//
#include "Environment.h"
#include "TestPlan.h"
#include "drivers/CudaLibrary.h"
#include "session/Session.h"

#include <numeric>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

namespace {
class CudaRuntime : public ::testing::Test {
protected:
  void SetUp() override {
    fakeCuda().set("reset", 0);
    fakeCuda().set("seed", 0);
  }
  void TearDown() override { fakeCuda().set("reset", 0); }

  Status tryOpen(TestPlan &p, std::unique_ptr<Session> &session, bool noGraphs = false) {
    p.useSimtKernels();
    std::vector<char> bytes = p.file();
    std::shared_ptr<PlanImage> image;
    GPUCC_RT_TRY(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
    SessionOptions options;
    options.driver = "cuda";
    options.noGraphs = noGraphs;
    return Session::prepare(image, options, session);
  }
  std::unique_ptr<Session> open(TestPlan &p, bool noGraphs = false) {
    std::unique_ptr<Session> session;
    Status status = tryOpen(p, session, noGraphs);
    EXPECT_FALSE(status) << status.message();
    return session;
  }
};

/// y = 2 * (2x + 1) + 1: the second half on stream 1, joined again; `wait` makes stream 1 wait for
/// the first.
TestPlan twoStreamPlan(bool wait) {
  TestPlan p;
  uint32_t x = p.buffer(1, 0, 64), t = p.buffer(1, 256, 64), y = p.buffer(1, 512, 64);
  p.tensor("x", Role::input, DType::f32, {16}, x);
  p.tensor("y", Role::output, DType::f32, {16}, y);
  p.program().events = 3;
  p.command(EventRecordT(), "fork");
  p.command(EventWaitT(), "fork", 1);
  FillT nan;
  nan.destination = p.whole(t);
  nan.pattern = 0x7fc00000;
  p.command(std::move(nan), "poison");
  auto event = [](auto body, uint32_t id) {
    body.event = id;
    return body;
  };
  p.launch("axpb", 4, p.view(x), p.view(t), p.scalar(2.0), p.scalar(1.0));
  p.command(event(EventRecordT(), 1), "first");
  if (wait)
    p.command(event(EventWaitT(), 1), "first", 1);
  p.launch("axpb", 4, p.view(t), p.view(y), p.scalar(2.0), p.scalar(1.0)).stream = 1;
  p.command(event(EventRecordT(), 2), "second", 1);
  p.command(event(EventWaitT(), 2), "second");
  return p;
}

/// How many of 20 orders give a wrong y.
int wrongOrders(Session &session) {
  int wrong = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    fakeCuda().set("seed", seed);
    std::vector<float> x(16), y(16);
    std::iota(x.begin(), x.end(), static_cast<float>(seed));
    EXPECT_OK(session.write("x", x.data(), 64));
    EXPECT_OK(session.run());
    EXPECT_OK(session.read("y", y.data(), 64));
    bool right = true;
    for (int i = 0; i < 16; ++i)
      right &= y[i] == 2.f * (2.f * x[i] + 1.f) + 1.f;
    wrong += !right;
  }
  return wrong;
}
} // namespace

TEST_F(CudaRuntime, OneGraphLaunchPerReplay) {
  TestPlan p = sgdPlan();
  auto session = open(p);
  const long long launched = fakeCuda().get("cuLaunchKernel");
  for (int replay = 1; replay <= 4; ++replay) {
    ASSERT_OK(session->run());
    EXPECT_EQ(fakeCuda().get("cuGraphLaunch"), replay);
  }
  EXPECT_EQ(fakeCuda().get("cuLaunchKernel"), launched) << "kernels are launched by the graph only";
  EXPECT_EQ(fakeCuda().get("kernels-run"), 12);
}

TEST_F(CudaRuntime, SegmentsOfAScriptShareOneGraph) {
  TestPlan p = sgdPlan();
  p.segment("again");
  p.launch("increment", 1, p.view(1));
  p.script({{0, 0}, {1, 0}, {1, 0}});
  auto session = open(p);
  ASSERT_OK(session->run());
  int64_t step = 0;
  ASSERT_OK(session->read("step", &step, 8));
  EXPECT_EQ(step, 3);
  EXPECT_EQ(fakeCuda().get("cuGraphLaunch"), 1);
}

TEST_F(CudaRuntime, SegmentsThatCannotBeCapturedRunBetweenGraphs) {
  TestPlan p = sgdPlan();
  p.segment("direct");
  p.program().segments.back()->capturable = false;
  p.launch("increment", 1, p.view(1));
  p.script({{0, 0}, {1, 0}, {0, 0}});
  auto session = open(p);
  ASSERT_OK(session->run());
  int64_t step = 0;
  ASSERT_OK(session->read("step", &step, 8));
  EXPECT_EQ(step, 3);
  EXPECT_EQ(fakeCuda().get("cuGraphLaunch"), 2);
}

TEST_F(CudaRuntime, NoGraphsRunsCommandByCommand) {
  TestPlan p = sgdPlan();
  auto session = open(p, /*noGraphs=*/true);
  ASSERT_OK(session->run());
  EXPECT_EQ(fakeCuda().get("cuGraphLaunch"), 0);
  EXPECT_EQ(fakeCuda().get("kernels-run"), 3);
}

TEST_F(CudaRuntime, TwoStreamsAreRightInAllOrders) {
  for (bool noGraphs : {false, true}) {
    TestPlan p = twoStreamPlan(/*wait=*/true);
    auto session = open(p, noGraphs);
    EXPECT_EQ(wrongOrders(*session), 0);
  }
}

TEST_F(CudaRuntime, ARemovedEventWaitIsSeenInResults) {
  fakeCuda().set("order", 0);
  for (bool noGraphs : {false, true}) {
    TestPlan p = twoStreamPlan(/*wait=*/false);
    auto session = open(p, noGraphs);
    EXPECT_GT(wrongOrders(*session), 0);
  }
  fakeCuda().set("order", 1);
}

TEST_F(CudaRuntime, ARemovedEventWaitIsNamed) {
  for (bool noGraphs : {false, true}) {
    fakeCuda().set("reset", 0);
    TestPlan p = twoStreamPlan(/*wait=*/false);
    auto session = open(p, noGraphs);
    EXPECT_ERROR(session->run(), "unordered: kernel 'axpb' and ");
  }
}

TEST_F(CudaRuntime, NothingIsAllocatedPerExecute) {
  TestPlan p = sgdPlan();
  auto session = open(p);
  ASSERT_OK(session->run());
  const long long bytes = fakeCuda().get("bytes-used"), calls = fakeCuda().get("cuMemAlloc");
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(session->run());
  EXPECT_EQ(fakeCuda().get("bytes-used"), bytes);
  EXPECT_EQ(fakeCuda().get("cuMemAlloc"), calls);
  session.reset();
  EXPECT_EQ(fakeCuda().get("bytes-used"), 0) << "arenas are freed with the session";
}

TEST_F(CudaRuntime, BoundDeviceMemoryTakesThePlaceOfBuffers) {
  TestPlan p = axpbPlan();
  auto session = open(p);
  // A caller's own allocations, made through the same driver.
  std::shared_ptr<CudaLibrary> cuda;
  ASSERT_OK(CudaLibrary::open(cuda));
  cuda::Context context = nullptr;
  ASSERT_EQ(cuda->fn.cuDevicePrimaryCtxRetain(&context, 0), cuda::success);
  ASSERT_EQ(cuda->fn.cuCtxSetCurrent(context), cuda::success);
  cuda::DevicePointer x = 0, y = 0;
  ASSERT_EQ(cuda->fn.cuMemAlloc(&x, 64), cuda::success);
  ASSERT_EQ(cuda->fn.cuMemAlloc(&y, 64), cuda::success);
  std::vector<float> in(16, 3.f), out(16);
  auto address = [](std::vector<float> &v) {
    return reinterpret_cast<cuda::DevicePointer>(v.data());
  };
  ASSERT_EQ(cuda->fn.cuMemcpyAsync(x, address(in), 64, nullptr), cuda::success);
  ASSERT_EQ(cuda->fn.cuStreamSynchronize(nullptr), cuda::success);

  ASSERT_OK(session->run());
  ASSERT_OK(session->bind("x", reinterpret_cast<void *>(x), 64));
  ASSERT_OK(session->bind("y", reinterpret_cast<void *>(y), 64));
  fakeCuda().set("reset", 0);
  for (int replay = 0; replay < 3; ++replay)
    ASSERT_OK(session->run());
  EXPECT_EQ(fakeCuda().get("cuGraphExecUpdate"), 1) << "captured anew once, and updated in place";
  EXPECT_EQ(fakeCuda().get("cuGraphInstantiateWithFlags"), 0);
  EXPECT_EQ(fakeCuda().get("cuGraphLaunch"), 3);
  ASSERT_EQ(cuda->fn.cuMemcpyAsync(address(out), y, 64, nullptr), cuda::success);
  ASSERT_EQ(cuda->fn.cuStreamSynchronize(nullptr), cuda::success);
  EXPECT_EQ(out, std::vector<float>(16, 7.f));

  float host[16];
  EXPECT_ERROR(session->bind("x", host, sizeof(host)), "x");
  ASSERT_OK(session->bind("y", nullptr, 0));
  session.reset();
  cuda->fn.cuMemFree(x);
  cuda->fn.cuMemFree(y);
}

TEST_F(CudaRuntime, OutOfMemoryNamesTheArena) {
  TestPlan p = sgdPlan();
  fakeCuda().set("fail-allocation", 1);
  std::unique_ptr<Session> session;
  Status status = tryOpen(p, session);
  ASSERT_TRUE(status);
  EXPECT_EQ(status.code(), Code::outOfMemory);
  EXPECT_NE(status.message().find("arena 'scratch'"), std::string::npos) << status.message();
}

TEST_F(CudaRuntime, LaunchFailuresSurfaceAtWait) {
  TestPlan p = sgdPlan();
  auto session = open(p);
  fakeCuda().set("fail-launch", 1);
  ASSERT_OK(session->execute());
  Status status = session->wait();
  ASSERT_TRUE(status);
  EXPECT_EQ(status.code(), Code::device);
  EXPECT_NE(status.message().find("injected failure: kernel 'sgd'"), std::string::npos)
      << status.message();
}

TEST_F(CudaRuntime, PlansForOtherDevicesAreRefusedWithWhatDiffers) {
  TestPlan p = sgdPlan();
  p.useSimtKernels();
  p.plan.needs->architectures = {"sm_80", "sm_90a"};
  std::unique_ptr<Session> session;
  Status status = tryOpen(p, session);
  ASSERT_TRUE(status);
  EXPECT_NE(status.message().find("the plan has code for sm_80 and sm_90a, this device is simt"),
            std::string::npos)
      << status.message();
}

TEST_F(CudaRuntime, FillPatternsOfAllSizes) {
  TestPlan p;
  uint32_t out = p.buffer(1, 0, 64);
  p.tensor("out", Role::output, DType::u8, {64}, out);
  uint64_t pattern = 0x0807060504030201;
  for (uint32_t size : {1u, 2u, 4u, 8u}) {
    FillT fill;
    fill.destination = std::make_unique<View>(out, 16 * (size == 8 ? 3 : size / 2), 16);
    fill.pattern = size == 8 ? pattern : pattern & ((uint64_t(1) << 8 * size) - 1);
    fill.pattern_size = size;
    p.command(std::move(fill), "fill");
  }
  auto session = open(p);
  ASSERT_OK(session->run());
  std::vector<uint8_t> got(64), expect(64);
  ASSERT_OK(session->read("out", got.data(), 64));
  for (int block = 0; block < 4; ++block)
    for (int i = 0; i < 16; ++i)
      expect[static_cast<size_t>(block * 16 + i)] = static_cast<uint8_t>(i % (1 << block) + 1);
  EXPECT_EQ(got, expect);
}
