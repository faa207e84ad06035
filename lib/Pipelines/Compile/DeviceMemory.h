//===- DeviceMemory.h - what a plan takes of a device -----------*- C++ -*-===//
//
// The bytes that a rank of a module at Phase::Plan allocates: the sum of its
// arenas, where the profiles of a stage share each arena (the largest counts).
// The rank that counts is that of the fullest stage.
//
//   stage 0: state 4 MiB, weights 1 KiB, io 64 KiB, scratch 6 MiB    → 10.1 MiB
//   stage 1: state 4 MiB, weights 1 KiB, io 64 KiB, scratch 2 MiB    → bytes = 10.1 MiB, stage = 0
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_DEVICEMEMORY_H
#define GPUCC_LIB_PIPELINES_COMPILE_DEVICEMEMORY_H

#include "mlir/IR/BuiltinOps.h"

#include <map>

namespace gpucc {

struct DeviceMemory {
  int64_t bytes = 0, stage = 0;
  std::map<std::string, int64_t> arenas; ///< of that stage
  /// "state 4194304, weights 1024, io 65536, scratch 6291456"
  std::string dump() const;
};

DeviceMemory measureMemory(mlir::ModuleOp planned);

/// What a rank may take and who says so: the user, the machine, or both (the lower one counts).
struct DeviceLimit {
  int64_t bytes = 0; ///< 0: none
  std::string
      origin; ///< "--memory-budget 12GiB", "a device of h100-8, beside driver and libraries"
  explicit operator bool() const { return bytes > 0; }
  void lower(int64_t otherBytes, const std::string &otherOrigin) {
    if (bytes == 0 || otherBytes < bytes)
      bytes = otherBytes, origin = otherOrigin;
  }
};

/// Why there is no plan: bytes against a limit. Reported late, because another layout may be tried.
struct MemoryShortage {
  DeviceLimit limit;
  DeviceMemory least;  ///< what the plan that needs least takes
  int64_t without = 0; ///< bytes without recomputation; 0: there is none to do
  void emit(mlir::ModuleOp module, mlir::ArrayRef<std::string> notes = {}) const;
};

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_DEVICEMEMORY_H
