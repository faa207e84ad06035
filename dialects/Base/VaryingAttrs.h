//===- VaryingAttrs.h - outputs whose size a run computes -------*- C++ -*-===//
//
// Attributes on results of functions (a header of their own beside Base.h, whose users are many):
//
//   func.func @main(...) -> (tensor<2x6xi64> {base.name = "nz", base.kind = "output",
//                                             base.varying_dim = 1 : i64, base.count = "nz.count"},
//                            tensor<i64> {base.name = "nz.count", base.kind = "count"})
//
// Along dimension 1 only the first entries of nz are real, as many as nz.count says after a run; 6
// is the bound.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BASE_VARYINGATTRS_H
#define GPUCC_BASE_VARYINGATTRS_H

#include "llvm/ADT/StringRef.h"

namespace gpucc::base {
inline constexpr llvm::StringLiteral varyingDimAttr = "base.varying_dim";
inline constexpr llvm::StringLiteral countAttr = "base.count";
} // namespace gpucc::base

#endif // GPUCC_BASE_VARYINGATTRS_H
