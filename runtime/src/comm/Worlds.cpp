//===- Worlds.cpp - Worlds by name
//--------------------------------------------------------------===//
#include "comm/Communicator.h"

using namespace gpucc::rt;

Status gpucc::rt::createWorld(const std::string &kind, int ranks, double watchdogSeconds,
                              std::shared_ptr<World> &world) {
  if (kind == "threads") {
    world = createThreadsWorld(ranks, watchdogSeconds);
    return {};
  }
  if (kind == "nccl") {
#if GPUCC_RT_HAS_CUDA
    return createNcclWorld(ranks, watchdogSeconds, world);
#else
    return GPUCC_RT_FAIL(Code::unsupported, "this runtime was built without its cuda driver");
#endif
  }
  return GPUCC_RT_FAIL(Code::invalidArgument, "unknown world '", kind,
                       "'; the kinds are threads and nccl");
}
