//===- Status.h - The one error type of the runtime
//---------------------------------------------===//
//
// Every function that can fail returns a Status; an error carries a code, a message that teaches
// (where, what was found, what is allowed, what to do) and the place in the runtime's source. No
// exceptions leave a function of the runtime.
//
//   Status open(const char *path) {
//     GPUCC_RT_TRY(checkPath(path));
//     if (size < 64)
//       return GPUCC_RT_FAIL(Code::invalidPlan, path, ": ", size, " bytes, a plan has 64 or more");
//     return {};
//   }
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_CORE_STATUS_H
#define GPUCC_RT_CORE_STATUS_H

#include "gpucc_rt/gpucc_rt.h"

#include <memory>
#include <sstream>
#include <string>
#include <utility>

/// The object behind the C API's status.
struct gpucc_rt_status {
  gpucc_rt_code code;
  std::string message;
  std::string place; ///< "File.cpp:12"
};

namespace gpucc::rt {

enum class Code : int {
  invalidArgument = GPUCC_RT_INVALID_ARGUMENT,
  invalidPlan = GPUCC_RT_INVALID_PLAN,
  unsupported = GPUCC_RT_UNSUPPORTED,
  outOfMemory = GPUCC_RT_OUT_OF_MEMORY,
  device = GPUCC_RT_DEVICE_ERROR,
  communication = GPUCC_RT_COMMUNICATION_ERROR,
  io = GPUCC_RT_IO_ERROR,
  internal = GPUCC_RT_INTERNAL_ERROR,
};

/// Success (empty) or an error. True in a condition means *failed*, as in `if (Status s = f())
/// return s;`.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message, const char *file, int line);

  explicit operator bool() const { return payload != nullptr; }
  bool failed() const { return payload != nullptr; }
  Code code() const { return static_cast<Code>(payload->code); }
  const std::string &message() const { return payload->message; }
  const std::string &place() const { return payload->place; }

  /// The same error with "context: " before its message.
  Status prefixed(const std::string &context) &&;
  Status copy() const;

  /// Hands the error to a C caller (null on success); takes one back.
  gpucc_rt_status *release() { return payload.release(); }
  static Status adopt(gpucc_rt_status *status) {
    Status s;
    s.payload.reset(status);
    return s;
  }

private:
  std::unique_ptr<gpucc_rt_status> payload;
};

template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

#define GPUCC_RT_FAIL(CODE, ...)                                                                   \
  ::gpucc::rt::Status(CODE, ::gpucc::rt::concat(__VA_ARGS__), __FILE__, __LINE__)

#define GPUCC_RT_TRY(EXPRESSION)                                                                   \
  do {                                                                                             \
    if (::gpucc::rt::Status tryStatus = (EXPRESSION))                                              \
      return tryStatus;                                                                            \
  } while (false)

} // namespace gpucc::rt

#endif // GPUCC_RT_CORE_STATUS_H
