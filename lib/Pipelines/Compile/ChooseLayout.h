//===- ChooseLayout.h - the layout that --machine asks for ------*- C++ -*-===//
//
// A trial copy of the module goes through the train phase with one micro-batch, becomes a planning
// problem, and the search's answer is written into the options: pins, ranks, memory budget. The
// normal phases then run with them, so what is emitted is what was chosen.
//
//   options.machine = "h100", options.ranks = 0 (all), options.pins = {tp=2}
//   → options.ranks = 8, options.pins = {dp=4, tp=2, pp=1, zero=1, ...}, a budget of 70.5 GiB
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_CHOOSELAYOUT_H
#define GPUCC_LIB_PIPELINES_COMPILE_CHOOSELAYOUT_H

#include "gpucc/Pipelines/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace gpucc {

struct LayoutChoice {
  std::string layout;      ///< one line for a person
  std::string explanation; ///< JSON for the plan
  std::string machine;
  double memoryLimit = 0; ///< bytes that a rank's arenas may take
};

/// `trial` is at Phase::Graph with micro-batches=1; it is consumed. Errors have been emitted.
mlir::LogicalResult chooseLayout(mlir::ModuleOp trial, CompileOptions &options,
                                 LayoutChoice &choice);

/// Fails, with the numbers, when the arenas of a program at Phase::Plan exceed the limit.
mlir::LogicalResult verifyMemory(mlir::ModuleOp module, const LayoutChoice &choice);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_CHOOSELAYOUT_H
