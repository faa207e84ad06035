//===- FallbackTest.cpp - Without a driver the emulated device is used
//--------------------------===//
//
// A program of its own: which driver is loaded is decided once per process.
//
//===--------------------------------------------------------------------------------------------===//
#include "TestPlan.h"
#include "drivers/CudaLibrary.h"
#include "session/Session.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

TEST(CudaFallback, EmulatedDeviceBesideTheProgram) {
  unsetenv("GPUCC_LIBCUDA");
  if (void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    dlclose(driver);
    GTEST_SKIP() << "this machine has a CUDA driver";
  }
  std::shared_ptr<CudaLibrary> cuda;
  ASSERT_OK(CudaLibrary::open(cuda));
  EXPECT_TRUE(cuda->emulated());
  std::shared_ptr<World> world;
  ASSERT_OK(createWorld("nccl", 2, 1, world));

  // A plan without simt code is refused with what it has and what this device is.
  TestPlan p = axpbPlan();
  p.plan.needs->target = Target::cuda;
  p.plan.needs->architectures = {"sm_90a"};
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> image;
  ASSERT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
  SessionOptions options;
  options.driver = "cuda";
  std::unique_ptr<Session> session;
  EXPECT_ERROR(Session::prepare(image, options, session),
               "the plan has code for sm_90a, this device is simt");
}
