//===- ChooseLayout.h - the layout that --machine asks for ------*- C++ -*-===//
//
// A trial copy of the module goes through the train phase with one micro-batch, becomes a planning
// problem, and the search's answer is written into the options: pins and ranks. The normal phases
// then run with them, so what is emitted is what was chosen.
//
//   options.machine = "h100", options.ranks = 0 (all), options.pins = {tp=2}
//   → options.ranks = 8, options.pins = {dp=4, tp=2, pp=1, zero=1, ...}
//
// The search's account of memory is a model. When the plan needs more than the limit, the
// difference to what the model said is taken off the memory that the next search may spend: the
// layout just tried is out by that, and others are judged with what was learned.
//
//   limit 100, predicted 96, planned 108  →  the next search may spend 100 - (108 - 96) = 88
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_CHOOSELAYOUT_H
#define GPUCC_LIB_PIPELINES_COMPILE_CHOOSELAYOUT_H

#include "gpucc/CostModel/Machine.h"
#include "gpucc/Pipelines/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace gpucc {

struct LayoutChoice {
  std::string layout;      ///< one line for a person
  std::string explanation; ///< JSON for the plan
  std::string machine;
  double memoryLimit = 0;     ///< bytes that a rank's arenas may take on the device
  double predictedMemory = 0; ///< bytes that the search expects on the fullest rank
};

/// What plans of earlier searches have shown.
struct LayoutExperience {
  double underestimate = 0;          ///< most bytes by which the model was too low
  std::vector<std::string> attempts; ///< one line per layout that did not fit
};

/// A machine file or a built-in name: "h100" is the 8-device node of that name. Or what is wrong.
cost::MachineOrError loadNamedMachine(const std::string &given);

/// `trial` is at Phase::Graph with micro-batches=1; it is consumed. Errors have been emitted.
mlir::LogicalResult chooseLayout(mlir::ModuleOp trial, CompileOptions &options,
                                 const LayoutExperience &experience, LayoutChoice &choice);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_CHOOSELAYOUT_H
