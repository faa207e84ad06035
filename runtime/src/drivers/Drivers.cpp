//===- Drivers.cpp - Drivers by name
//------------------------------------------------------------===//
#include "drivers/Driver.h"

using namespace gpucc::rt;

Status gpucc::rt::createDriver(const std::string &name, const DriverOptions &options,
                               std::unique_ptr<Driver> &driver) {
  if (name == "host")
    return createHostDriver(options, driver);
  if (name == "null")
    return createNullDriver(options, driver);
#if GPUCC_RT_HAS_CUDA
  if (name == "cuda")
    return createCudaDriver(options, driver);
#else
  if (name == "cuda")
    return GPUCC_RT_FAIL(Code::unsupported, "this runtime was built without its cuda driver");
#endif
  return GPUCC_RT_FAIL(Code::invalidArgument, "unknown driver '", name,
                       "'; the drivers are host, null and cuda");
}
