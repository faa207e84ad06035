//===- CApi.h - The objects behind the C API
//----------------------------------------------------===//
#ifndef GPUCC_RT_SESSION_CAPI_H
#define GPUCC_RT_SESSION_CAPI_H

#include "session/Session.h"

struct gpucc_rt_plan {
  std::shared_ptr<gpucc::rt::PlanImage> image;
  std::string architectures;
};

struct gpucc_rt_world {
  std::shared_ptr<gpucc::rt::World> world;
};

struct gpucc_rt_session {
  std::unique_ptr<gpucc::rt::Session> session;
};

namespace gpucc::rt {

/// Runs `body` and hands its status to a C caller; an exception (no memory) becomes a status too.
template <typename Body> gpucc_rt_status *guarded(Body body) {
  try {
    return Status(body()).release();
  } catch (const std::bad_alloc &) {
    return GPUCC_RT_FAIL(Code::outOfMemory, "no memory").release();
  } catch (const std::exception &e) {
    return GPUCC_RT_FAIL(Code::internal, e.what()).release();
  }
}

#define GPUCC_RT_REQUIRE_ARGUMENT(POINTER)                                                         \
  do {                                                                                             \
    if (!(POINTER))                                                                                \
      return GPUCC_RT_FAIL(Code::invalidArgument, "argument '" #POINTER "' is null");              \
  } while (false)

} // namespace gpucc::rt

#endif // GPUCC_RT_SESSION_CAPI_H
