//===- ChooseLayout.cpp - the layout that --machine asks for --------------===//
#include "ChooseLayout.h"

#include "Phases.h"
#include "gpucc/Planner/Plan.h"
#include "gpucc/Transforms/Memory/Budget.h"
#include "gpucc/Transforms/Planning/ExtractProblem.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace gpucc;

cost::MachineOrError gpucc::loadNamedMachine(const std::string &given) {
  const auto &builtin = cost::builtinMachines();
  return cost::loadMachine(builtin.count(given + "-8") ? given + "-8" : given);
}

static planner::Pins pinsOf(const CompileOptions &options, bool symbolicBatch) {
  const Pins &given = options.pins;
  planner::Pins pins;
  pins.dp = given.dp;
  pins.tp = given.tp;
  pins.pp = given.pp;
  pins.zero = given.zero;
  pins.sp = given.sequence;
  pins.microBatches = given.microBatches;
  if (given.schedule)
    pins.schedule = solvers::parseGraphScheduleKind(*given.schedule);
  if (!pins.microBatches && (!options.train || !symbolicBatch))
    pins.microBatches = 1;
  if (!options.train && !pins.pp)
    pins.pp = 1; // stages are cut from training steps only
  return pins;
}

/// What the planner may spend on one rank: the user's budget in bytes, else the device's memory;
/// less by what it was found to overlook.
static void setMemory(const CompileOptions &options, double underestimate,
                      planner::PlanProblem &problem) {
  double allowed = problem.machine.device.memoryBytes;
  StringRef text = options.memoryBudget;
  if (!text.empty() && !text.starts_with("activations=")) {
    std::string checked; // checkOptions has
    memory::Budget budget = *memory::Budget::parse(text, checked);
    if (budget.ratio == 0)
      allowed = std::min(allowed,
                         static_cast<double>(budget.bytes) + problem.machine.device.contextBytes);
  }
  problem.memoryLimit = std::max(1.0, allowed - underestimate);
}

/// The chosen layout as if the user had pinned it.
static void writeBack(const planner::PlanProblem &problem, const planner::PlanResult &result,
                      CompileOptions &options) {
  const planner::Candidate &best = result.best;
  Pins &pins = options.pins;
  pins.dp = best.dp;
  pins.tp = best.tp;
  pins.pp = best.pp;
  if (!pins.sequence)
    pins.sequence = best.sp && best.tp > 1;
  options.ranks = problem.numRanks();
  if (!options.train)
    return;
  pins.microBatches = best.microBatches;
  pins.zero = best.zero;
  pins.schedule = solvers::name(best.schedule);
}

/// The search's own words, and what earlier layouts were found to need.
static std::string explanationOf(const planner::PlanProblem &problem,
                                 const planner::PlanResult &result,
                                 const LayoutExperience &experience) {
  std::string words = result.explainJson(problem);
  if (experience.attempts.empty())
    return words;
  nlohmann::json json = nlohmann::json::parse(words, nullptr, false);
  json["planned before"] = experience.attempts;
  return json.dump();
}

LogicalResult gpucc::chooseLayout(ModuleOp trial, CompileOptions &options,
                                  const LayoutExperience &experience, LayoutChoice &choice) {
  cost::MachineOrError loaded = loadNamedMachine(options.machine);
  if (std::string *wrong = std::get_if<std::string>(&loaded))
    return trial.emitError() << *wrong;
  bool symbolicBatch = hasSymbolicBatch(trial) && !options.profiles.empty();
  PassManager pm(trial.getContext());
  buildTrial(pm, options);
  if (failed(pm.run(trial)))
    return failure();
  FailureOr<planner::PlanProblem> problem = extractPlanProblem(trial);
  if (failed(problem))
    return failure();
  problem->machine = std::get<cost::Machine>(loaded);
  problem->ranks = options.ranks;
  problem->tf32 = options.precision == "tf32";
  problem->pins = pinsOf(options, symbolicBatch);
  setMemory(options, experience.underestimate, *problem);
  if (!options.dumpProblem.empty()) {
    std::ofstream file(options.dumpProblem);
    if (!(file << planner::toJson(*problem) << '\n'))
      return trial.emitError() << "cannot write '" << options.dumpProblem << "'";
  }
  planner::PlanResult result = planner::planLayout(*problem);
  if (!result.error.empty())
    return trial.emitError() << result.error;
  if (options.remarks)
    trial.emitRemark() << "layout search\n" << result.explain(*problem);
  writeBack(*problem, result, options);
  choice.layout = result.best.dump() + " (of " + std::to_string(result.candidates) +
                  " layouts for " + std::to_string(problem->numRanks()) + " ranks of " +
                  problem->machine.name + "; " + std::to_string(problem->ops.size()) + " ops, " +
                  std::to_string(result.steps) + " search steps)";
  choice.explanation = explanationOf(*problem, result, experience);
  choice.machine = problem->machine.name;
  choice.memoryLimit = problem->machine.device.memoryBytes - problem->machine.device.contextBytes;
  choice.predictedMemory = result.cost.memory.total() - problem->machine.device.contextBytes;
  return success();
}
