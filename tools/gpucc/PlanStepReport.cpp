//===- PlanStepReport.cpp - a plan's step for a person and as JSON ---------===//
#include "Output.h"
#include "PlanStep.h"
#include "WorkloadOptions.h"
#include "plan_generated.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace gpucc::tool {

namespace fb = gpucc::rt::plan;

namespace {

std::string text(const flatbuffers::String *s) { return s ? s->str() : ""; }

nlohmann::ordered_json printStage(const fb::Plan &plan, const PlanStep &step, size_t s) {
  const PlanStageStep &stage = step.stages[s];
  std::printf("stage %zu: compute stream busy %.4g ms of %.4g ms, last command at %.4g ms\n", s,
              1e3 * stage.compute, 1e3 * step.seconds, 1e3 * stage.end);
  nlohmann::ordered_json row = {{"stage", s},
                                {"first_rank", plan.stages()->Get(uint32_t(s))->first_rank()},
                                {"compute_seconds", stage.compute},
                                {"end_seconds", stage.end}};
  for (const auto &[what, work] : stage.classes) {
    std::printf("  %-36s %6lld commands %10.4g ms  %s", what.c_str(),
                static_cast<long long>(work.commands), 1e3 * work.seconds,
                bytesText(work.bytes).c_str());
    if (work.flops > 0)
      std::printf(", %.4g GFLOP", work.flops / 1e9);
    std::printf("\n");
    row["work"][what] = {{"commands", work.commands},
                         {"seconds", work.seconds},
                         {"bytes", work.bytes},
                         {"flops", work.flops}};
  }
  return row;
}

/// Arenas by class as the plan names them, and whether they fit; the context comes on top.
bool printMemory(const fb::Plan &plan, const cost::Machine &machine, nlohmann::ordered_json &json) {
  double need = static_cast<double>(plan.needs()->device_bytes()) + machine.device.contextBytes;
  bool fits = need <= machine.device.memoryBytes;
  std::printf("memory   %s with the CUDA context of %s: %s\n", bytesText(need).c_str(),
              bytesText(machine.device.memoryBytes).c_str(), fits ? "fits" : "DOES NOT FIT");
  json["memory_bytes"] = need;
  json["memory_limit_bytes"] = machine.device.memoryBytes;
  json["fits"] = fits;
  if (plan.memory())
    for (const fb::MemoryLine *line : *plan.memory()) {
      std::printf("  stage %u  %-28s %12s\n", line->stage(), text(line->category()).c_str(),
                  bytesText(static_cast<double>(line->bytes())).c_str());
      json["memory"].push_back({{"stage", line->stage()},
                                {"category", text(line->category())},
                                {"bytes", line->bytes()}});
    }
  return fits;
}

} // namespace

int simulatePlanFile(const std::string &path, const std::string &profile,
                     const cost::Machine &machine, const cost::Calibration &calibration,
                     const PlanStepFiles &files) {
  PlanFile file;
  if (int code = file.open(path))
    return code;
  const fb::Plan &plan = file.plan();
  if (static_cast<int64_t>(plan.ranks()) > machine.numDevices())
    return refuse("--machine: found " + std::to_string(machine.numDevices()) +
                  " GPUs, allowed at least the plan's " + std::to_string(plan.ranks()) +
                  " ranks; write --gpus " + std::to_string(plan.ranks()));
  PlanStep step = simulatePlan(plan, profile, machine, calibration);
  if (!step.error.empty())
    return refuse(step.error);
  bool host = plan.needs()->target() == fb::Target::host;
  std::printf("plan %s, %s, %u rank%s in %u stage%s; machine %s%s\n", text(plan.model()).c_str(),
              plan.training() ? "a training step" : "inference", plan.ranks(),
              plan.ranks() == 1 ? "" : "s", plan.stages()->size(),
              plan.stages()->size() == 1 ? "" : "s", machine.name.c_str(),
              host ? " (the plan was made for a CPU: its commands are timed as if this device ran "
                     "them)"
                   : "");
  std::printf("step     %.4g ms\n", 1e3 * step.seconds);
  nlohmann::ordered_json json = {{"model", text(plan.model())},
                                 {"machine", machine.name},
                                 {"ranks", plan.ranks()},
                                 {"step_seconds", step.seconds}};
  for (size_t s = 0; s < step.stages.size(); ++s)
    json["stages"].push_back(printStage(plan, step, s));
  bool fits = printMemory(plan, machine, json);
  if (double hour = machine.pricePerHourOf(plan.ranks()); hour > 0) {
    std::printf("price    %.2f per hour, %.4g per step\n", hour, hour / 3600 * step.seconds);
    json["price_per_hour"] = hour;
    json["price_per_step"] = hour / 3600 * step.seconds;
  }
  int code = files.json.empty() ? 0 : writeText(files.json, json.dump(2) + "\n");
  if (!code && !files.trace.empty()) {
    simulate::Simulation traced;
    traced.ranks = plan.ranks();
    traced.trace = step.trace;
    code = writeText(files.trace, simulate::traceJson(traced));
  }
  return code ? code : fits ? 0 : 1;
}

} // namespace gpucc::tool
