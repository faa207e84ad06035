//===- PlanStep.h - one step of a plan file, timed from its commands -------===//
//
// What: the commands of a plan (launches, library calls, copies, collectives, events) go through
// the cost model of a machine and through the event engine: streams in order, events between
// streams, sends and receives between stages. One rank stands for each stage, because the ranks of
// a stage run the same program.
//
// Example: gpt.plan of 4 ranks, dp=2, tp=2, on h100: 330 launches, 103 products, 42 collectives;
// the step ends when the last stream of the last stage does.
//
// What a kernel works is read from its plan: bytes from its views, operations from the note that the
// compiler left (KernelWork), FLOP of a library call from its operands.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_GPUCC_PLANSTEP_H
#define GPUCC_TOOLS_GPUCC_PLANSTEP_H

#include "PlanText.h"
#include "gpucc/CostModel/Calibration.h"
#include "gpucc/CostModel/Machine.h"
#include "gpucc/Simulate/Simulate.h"
#include <map>

namespace gpucc::tool {

struct PlanWork {
  double seconds = 0, bytes = 0, flops = 0;
  int64_t commands = 0;
};

struct PlanStageStep {
  std::map<std::string, PlanWork> classes; ///< "matrix products", "all_reduce over stage0:tp", ...
  double compute = 0;                      ///< seconds in which its compute stream works
  double end = 0;                          ///< when its last command ends
};

struct PlanStep {
  std::string error; ///< empty: fine
  double seconds = 0;
  std::vector<PlanStageStep> stages;
  std::vector<simulate::TraceEvent> trace;
};

PlanStep simulatePlan(const rt::plan::Plan &plan, const std::string &profile,
                      const cost::Machine &machine, const cost::Calibration &calibration);

int64_t ranksOf(const PlanFile &file);

struct PlanStepFiles {
  std::string json, trace;
};
/// Loads the plan, times it, prints and writes the report; the exit code (1: does not fit).
int simulatePlanFile(const std::string &path, const std::string &profile,
                     const cost::Machine &machine, const cost::Calibration &calibration,
                     const PlanStepFiles &files);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_PLANSTEP_H
