//===- WorkloadOptions.cpp ------------------------------------------------===//
#include "WorkloadOptions.h"
#include "gpucc/Simulate/StepCost.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace gpucc::tool {

using namespace workload;

void WorkloadOptions::declare(CLI::App &app, bool planInstead) {
  CLI::Option *model =
      app.add_option("--workload,-w", workloadName,
                     "a model by name (llama-3-8b, gpt-3-175b, ...; a wrong name lists all) or "
                     "a workload.yaml");
  model->required(!planInstead);
  app.add_option("--machine,-m", machineName,
                 "a machine by name (h100, a100-80gb, ...) or a machine.yaml")
      ->capture_default_str();
  app.add_option("--gpus,-n", gpus, "scale the machine's node to so many GPUs")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--global-batch,-b", globalBatch, "sequences per step")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--sequence,-s", sequence, "tokens per sequence (default: the workload's)")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--price-per-hour", pricePerHour,
                 "of one GPU, in any currency (default: the machine.yaml's)")
      ->check(finitePositive(false, 1e6));
  app.add_option("--layout,-l", layoutFile, "a layout.yaml, as `gpucc plan --export` writes");
  app.add_option("--pin", pinTexts,
                 "keys of layout.yaml: tp=8,pp=4,schedule=zb-v,recipe.precision=f8");
}

CLI::Validator finitePositive(bool orZero, double most) {
  return CLI::Validator(
      [orZero, most](std::string &text) {
        char *end = nullptr;
        double value = std::strtod(text.c_str(), &end);
        bool fine = !text.empty() && *end == 0 && std::isfinite(value) &&
                    (value > 0 || (orZero && value == 0)) && value <= most;
        char bound[32];
        std::snprintf(bound, sizeof bound, "%.0f", most);
        return fine ? std::string()
                    : "found '" + text + "', allowed a number " +
                          (orZero ? "of at least" : "above") + " 0 and at most " + bound +
                          "; write e.g. 2.5";
      },
      "NUMBER > 0");
}

namespace {

template <typename T> std::string take(const std::variant<T, std::string> &from, T &to) {
  if (const std::string *problem = std::get_if<std::string>(&from))
    return *problem;
  to = std::get<T>(from);
  return "";
}

} // namespace

std::string WorkloadOptions::loadMachine(int64_t ranks) {
  int64_t count = gpus > 0 ? gpus : ranks;
  std::string problem = take(cost::loadMachine(machineName, static_cast<int>(count)), machine);
  if (pricePerHour > 0) {
    machine.pricePerHour = pricePerHour;
    for (cost::NodeGroup &group : machine.moreNodes)
      group.pricePerHour = pricePerHour;
  }
  return problem;
}

Precision WorkloadOptions::usualPrecision(const cost::Machine &machine) {
  Precision usual = Precision::F32;
  for (Precision precision : {Precision::F16, Precision::BF16})
    if (simulate::canRun(machine, precision))
      usual = precision;
  return usual;
}

std::string WorkloadOptions::load() {
  std::string problem = take(loadWorkload(workloadName), workload);
  if (problem.empty())
    problem = loadMachine(0);
  if (problem.empty() && !layoutFile.empty()) {
    std::vector<std::string> keys;
    problem = take(loadLayout(layoutFile, &keys, layout), layout);
    pinned.insert(keys.begin(), keys.end());
  }
  if (!problem.empty())
    return problem;
  if (sequence > 0)
    workload.sequence = sequence;
  if (globalBatch > 0) {
    layout.globalBatch = globalBatch;
    pinned.insert("global-batch");
  }
  std::vector<std::string> keys;
  for (const std::string &text : pinTexts) {
    problem = applyPins(text, layout, keys);
    if (!problem.empty())
      return problem;
    pinned.insert(keys.begin(), keys.end());
  }
  if (gpus == 0)
    gpus = machine.numDevices();
  // Devices without bfloat16 (Volta, Turing) train in f16, older ones in f32.
  if (!pinned.count("recipe.precision"))
    layout.recipe.precision = usualPrecision(machine);
  problem = workload.check();
  for (const cost::NodeGroup &group : machine.groups())
    if (someMayRun && simulate::canRun(machine.withGroups({group}), layout.recipe.precision))
      return problem;
  return problem.empty() ? simulate::checkPrecision(machine, layout.recipe.precision) : problem;
}

int refuse(const std::string &problem) {
  std::fprintf(stderr, "gpucc: %s\n", problem.c_str());
  return 2;
}

} // namespace gpucc::tool
