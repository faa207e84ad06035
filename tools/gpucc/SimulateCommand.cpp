//===- SimulateCommand.cpp - gpucc simulate -------------------------------===//
#include "Commands.h"
#include "CompileOptions.h"
#include "PlanStep.h"
#include "WorkloadOptions.h"
#include "gpucc/Simulate/Simulate.h"

#include <cstdio>

using namespace gpucc;
using namespace gpucc::tool;

namespace {

struct Arguments {
  WorkloadOptions what;
  simulate::SimulateOptions options;
  std::vector<std::string> stragglers;
  std::string json, trace, picture, memoryPicture, scheduleCsv, calibration, plan, profile;
};

/// A rank that is slower than this hangs.
constexpr double mostSlower = 1000;

/// "77=1.2": rank 77 computes 1.2 times slower.
std::string readStragglers(Arguments &a) {
  for (const std::string &text : a.stragglers) {
    size_t equals = text.find('=');
    char *end = nullptr;
    long long rank = std::strtoll(text.c_str(), &end, 10);
    bool fine = equals != std::string::npos && end == text.c_str() + equals && rank >= 0;
    double factor = fine ? std::strtod(text.c_str() + equals + 1, &end) : 0;
    if (!fine || *end != 0 || !(factor >= 1 && factor <= mostSlower) || rank >= a.what.layout.ranks())
      return "--straggler: found '" + text + "', allowed RANK=FACTOR with a rank below " +
             std::to_string(a.what.layout.ranks()) +
             " and a factor from 1 to 1000; write e.g. 0=1.2";
    a.options.stragglers[rank] = factor;
  }
  return "";
}

/// Data parallelism takes the GPUs that the other degrees leave, the batch one micro-batch each.
void completeLayout(WorkloadOptions &what) {
  workload::Layout &l = what.layout;
  int64_t others = l.tp * l.cp * l.pp;
  if (!what.pinned.count("dp") && what.gpus % others == 0)
    l.dp = what.gpus / others;
  if (!what.pinned.count("global-batch"))
    l.globalBatch = l.dp * l.microBatch * (l.pp > 1 ? 4 * l.pp : 1);
}

std::string readCalibration(const Arguments &a, cost::Calibration &calibration) {
  calibration = cost::Calibration::builtin();
  if (a.calibration.empty())
    return "";
  cost::CalibrationOrError loaded = cost::loadCalibration(a.calibration);
  if (std::string *error = std::get_if<std::string>(&loaded))
    return *error;
  calibration = std::get<cost::Calibration>(loaded);
  return "";
}

/// A compiled plan instead of a workload: its own commands, on the machine.
int simulateCompiled(Arguments &a) {
  for (bool given :
       {!a.what.workloadName.empty(), !a.what.pinTexts.empty(), !a.what.layoutFile.empty(),
        a.what.globalBatch > 0, a.what.sequence > 0, !a.picture.empty(), !a.memoryPicture.empty(),
        !a.scheduleCsv.empty(), !a.stragglers.empty(), a.options.failures.deviceMtbfHours > 0})
    if (given)
      return refuse(
          "simulate PLAN: found an option that describes a workload or its layout, allowed "
          "-m, -n, --profile, --price-per-hour, --calibration, --json, --trace: a plan has "
          "its sizes and layout in it; leave the plan out to simulate a workload");
  if (!isPlanFile(a.plan))
    return refuse("found '" + a.plan +
                  "', which is no plan, allowed a file of gpucc compile; to "
                  "simulate a workload write -w NAME");
  PlanFile file;
  if (int code = file.open(a.plan))
    return code;
  cost::Calibration calibration;
  std::string problem = a.what.loadMachine(ranksOf(file));
  if (problem.empty())
    problem = readCalibration(a, calibration);
  if (!problem.empty())
    return refuse(problem);
  return simulatePlanFile(a.plan, a.profile, a.what.machine, calibration, {a.json, a.trace});
}

int simulateCommand(Arguments &a) {
  if (!a.plan.empty())
    return simulateCompiled(a);
  if (a.what.workloadName.empty())
    return refuse(
        "found neither a plan nor --workload, allowed one of them; write -w llama-3-8b or "
        "the name of a plan");
  if (std::string problem = a.what.load(); !problem.empty())
    return refuse(problem);
  completeLayout(a.what);
  std::string problem = workload::explainLayout(a.what.workload, a.what.layout, a.what.gpus);
  if (problem.empty())
    problem = readStragglers(a);
  cost::Calibration calibration;
  if (problem.empty())
    problem = readCalibration(a, calibration);
  if (!problem.empty())
    return refuse(problem);
  a.options.keepTrace = !a.trace.empty();
  simulate::BlockCache cache(a.what.workload, calibration);
  simulate::Simulation s = simulate::simulateStep(cache, a.what.machine, a.what.layout, a.options);
  if (!s.error.empty())
    return refuse(s.error);
  if (a.json != "-")
    std::printf("%s",
                simulate::reportText(a.what.machine, a.what.workload, a.what.layout, s).c_str());
  std::string title = a.what.workload.name + ", " + a.what.layout.line();
  int code = 0;
  auto write = [&](const std::string &path, const std::string &text) {
    if (!path.empty() && !code)
      code = writeText(path, text);
  };
  write(a.json, simulate::reportJson(a.what.machine, a.what.workload, a.what.layout, s));
  if (!a.trace.empty())
    write(a.trace, simulate::traceJson(s));
  if (!a.picture.empty())
    write(a.picture, solvers::toSvg(s.schedule, s.timing, title));
  if (!a.memoryPicture.empty())
    write(a.memoryPicture, simulate::memorySvg(s, title));
  if (!a.scheduleCsv.empty())
    write(a.scheduleCsv, solvers::toCsv(s.schedule));
  return code ? code : s.cost.fits ? 0 : 1;
}

} // namespace

Command tool::addSimulate(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  app.add_option("plan", a->plan, "a plan of gpucc compile instead of a workload")
      ->check(CLI::ExistingFile);
  a->what.declare(app, true);
  app.add_option("--profile", a->profile, "which profile of the plan (default: its first)");
  app.add_option("--straggler", a->stragglers,
                 "RANK=FACTOR: this rank computes so many times slower");
  app.add_option("--mtbf-hours", a->options.failures.deviceMtbfHours,
                 "mean hours between failures of one GPU: share of the time that trains")
      ->check(finitePositive());
  app.add_option("--checkpoint-seconds", a->options.failures.checkpointSeconds,
                 "how long one stops the run")
      ->check(finitePositive())
      ->capture_default_str();
  app.add_option("--restart-seconds", a->options.failures.restartSeconds,
                 "from failure to the next step")
      ->check(finitePositive(true))
      ->capture_default_str();
  app.add_flag("--every-rank", a->options.everyRank, "simulate all ranks, not one of each class");
  app.add_option("--calibration", a->calibration, "constants that replace the built-in ones");
  app.add_option("--json", a->json, "the report as JSON (-: on the terminal)");
  app.add_option("--trace", a->trace, "a trace for chrome://tracing or Perfetto");
  app.add_option("--picture", a->picture, "the pipeline schedule as SVG");
  app.add_option("--memory-picture", a->memoryPicture,
                 "memory of every stage over the step as SVG");
  app.add_option("--schedule-csv", a->scheduleCsv, "the schedule in PyTorch's CSV format");
  app.footer(
      "\nexamples\n"
      "  gpucc simulate -w llama-3-8b -m h100 -n 64 --pin dp=64,zero=1 -b 128\n"
      "  gpucc simulate -w gpt-3-175b -m a100-80gb -n 1024 --pin "
      "tp=8,pp=8,schedule=interleaved,virtual-stages=12 -b 1536\n"
      "  gpucc simulate -w deepseek-v3 -m h800 -n 2048 -l layout.yaml --trace t.json "
      "--picture s.svg\n"
      "  gpucc simulate gpt.plan -m h100 --trace t.json      a compiled plan, from its commands\n"
      "exit code 1: the layout does not fit in memory");
  return [a] { return simulateCommand(*a); };
}
