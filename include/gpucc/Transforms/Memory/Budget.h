//===- Budget.h - "12GiB", "300MB" or "0.5" ---------------------*- C++ -*-===//
#ifndef GPUCC_TRANSFORMS_MEMORY_BUDGET_H
#define GPUCC_TRANSFORMS_MEMORY_BUDGET_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace gpucc::memory {

/// A number of bytes, or a ratio of something that is known later.
struct Budget {
  int64_t bytes = 0;
  double ratio = 0; ///< > 0: of `whole`; then `bytes` is 0

  int64_t of(int64_t whole) const {
    return ratio > 0 ? static_cast<int64_t>(ratio * static_cast<double>(whole)) : bytes;
  }
  /// A whole number with an optional unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB) is bytes; a
  /// number with a point, greater than 0 and at most 1, is a ratio. None, with `error`, for
  /// anything else.
  static std::optional<Budget> parse(llvm::StringRef text, std::string &error);
};

} // namespace gpucc::memory

#endif // GPUCC_TRANSFORMS_MEMORY_BUDGET_H
