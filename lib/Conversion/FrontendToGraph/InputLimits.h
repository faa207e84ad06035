//===- InputLimits.h - below which numbers integer inputs lie ---*- C++ -*-===//
//
//   gather(table [257, 64], ids)              ids < 257
//   compare eq(broadcast(bytes), iota [257])  bytes < 257
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_INPUTLIMITS_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_INPUTLIMITS_H

#include "mlir/IR/BuiltinOps.h"

namespace gpucc::frontend_to_graph {

/// Sets `base.input_limits` (dialects/Base/ModuleAttrs.h) where a use of an integer input tells.
void noteInputLimits(mlir::ModuleOp module);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_INPUTLIMITS_H
