//===- Status.cpp - Errors and their C face
//-----------------------------------------------------===//
#include "core/Status.h"

#include <cstring>

using namespace gpucc::rt;

Status::Status(Code code, std::string message, const char *file, int line) {
  const char *slash = std::strrchr(file, '/');
  payload = std::make_unique<gpucc_rt_status>();
  payload->code = static_cast<gpucc_rt_code>(code);
  payload->message = std::move(message);
  payload->place = concat(slash ? slash + 1 : file, ":", line);
}

Status Status::prefixed(const std::string &context) && {
  if (payload)
    payload->message = context + ": " + payload->message;
  return std::move(*this);
}

Status Status::copy() const {
  Status other;
  if (payload)
    other.payload = std::make_unique<gpucc_rt_status>(*payload);
  return other;
}

extern "C" {
gpucc_rt_code gpucc_rt_status_code(const gpucc_rt_status *status) {
  return status ? status->code : GPUCC_RT_OK;
}
const char *gpucc_rt_status_message(const gpucc_rt_status *status) {
  return status ? status->message.c_str() : "";
}
const char *gpucc_rt_status_place(const gpucc_rt_status *status) {
  return status ? status->place.c_str() : "";
}
void gpucc_rt_status_free(gpucc_rt_status *status) { delete status; }
}
