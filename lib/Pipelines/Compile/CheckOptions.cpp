//===- CheckOptions.cpp - what is wrong with options, before any work -----===//
//
// A wrong word is said at once, not after a large model was read:
//
//   checkOptions({.machine = "h10"})   "machine 'h10' is neither a built-in name nor a file; ..."
//
//===----------------------------------------------------------------------===//
#include "CheckOptions.h"

#include "ChooseLayout.h"
#include "gpucc/Transforms/Memory/Budget.h"
#include "lib/Transforms/Training/Schedule.h"

using namespace gpucc;

static std::string checkBudget(const CompileOptions &options) {
  llvm::StringRef text = options.memoryBudget;
  bool activations = text.consume_front("activations=");
  if (text.empty() && !activations)
    return "";
  std::string error;
  std::optional<memory::Budget> budget = memory::Budget::parse(text, error);
  if (!budget)
    return "--memory-budget: " + error;
  // Memory is planned in units of 64 bytes: a smaller number was meant to be something else.
  constexpr int64_t least = 64;
  if (budget->ratio == 0 && budget->bytes < least)
    return "--memory-budget: found '" + options.memoryBudget + "', which is " +
           std::to_string(budget->bytes) + " bytes; at least " + std::to_string(least) +
           " bytes are allowed, or a ratio up to 1.0: write a unit (300MB, 12GiB) or a ratio with "
           "a point (0.5)";
  if (activations && !options.train)
    return "--memory-budget " + options.memoryBudget +
           " limits what forward keeps for backward; add --train, or give a number of bytes";
  return "";
}

std::string gpucc::checkOptions(const CompileOptions &options) {
  if (std::string problem = checkBudget(options); !problem.empty())
    return problem;
  if (!options.machine.empty()) {
    cost::MachineOrError machine = loadNamedMachine(options.machine);
    if (std::string *wrong = std::get_if<std::string>(&machine))
      return "--machine: " + *wrong;
  }
  std::string error;
  if (options.train && !training::LearningRateSchedule::parse(options.train->schedule,
                                                              options.train->learningRate, error))
    return "--lr-schedule: " + error + "; choose one of these forms";
  return "";
}
