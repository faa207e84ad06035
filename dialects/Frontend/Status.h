//===- Status.h - how reading a model ended ---------------------*- C++ -*-===//
//
// A model can be broken (exit code 2: the user repairs the file or the command
// line) or sound but beyond us (exit code 3: every operator that is missing is
// listed at once, so that one run tells the whole distance).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FRONTEND_STATUS_H
#define GPUCC_FRONTEND_STATUS_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpucc::frontend {

enum class Status { Ok, BadInput, Unsupported };

/// The exit code of a tool: 0, 2, 3.
inline int exitCode(Status status) {
  return status == Status::Ok ? 0 : status == Status::BadInput ? 2 : 3;
}

/// One node that cannot be converted, and why.
struct MissingOp {
  std::string node;    ///< the node's name, or its first result's
  std::string kind;    ///< "Conv", "com.microsoft.Attention"
  int64_t version = 0; ///< opset version of its domain
  std::string reason;  ///< "auto_pad with dynamic shapes", "no such operator in gpucc"
};

} // namespace gpucc::frontend

#endif // GPUCC_FRONTEND_STATUS_H
