//===- SimulateCommand.cpp - gpucc simulate -------------------------------===//
#include "Commands.h"
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
  std::string json, trace, picture, memoryPicture, scheduleCsv, calibration;
};

/// "77=1.2": rank 77 computes 1.2 times slower.
std::string readStragglers(Arguments &a) {
  for (const std::string &text : a.stragglers) {
    size_t equals = text.find('=');
    char *end = nullptr;
    long long rank = std::strtoll(text.c_str(), &end, 10);
    bool fine = equals != std::string::npos && end == text.c_str() + equals && rank >= 0;
    double factor = fine ? std::strtod(text.c_str() + equals + 1, &end) : 0;
    if (!fine || *end != 0 || !(factor >= 1) || rank >= a.what.layout.ranks())
      return "--straggler: found '" + text + "', allowed RANK=FACTOR with a rank below " +
             std::to_string(a.what.layout.ranks()) +
             " and a factor of at least 1; write e.g. 0=1.2";
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

int simulateCommand(Arguments &a) {
  if (std::string problem = a.what.load(); !problem.empty())
    return refuse(problem);
  completeLayout(a.what);
  std::string problem = workload::explainLayout(a.what.workload, a.what.layout, a.what.gpus);
  if (problem.empty())
    problem = readStragglers(a);
  cost::Calibration calibration = cost::Calibration::builtin();
  if (problem.empty() && !a.calibration.empty()) {
    cost::CalibrationOrError loaded = cost::loadCalibration(a.calibration);
    if (std::string *error = std::get_if<std::string>(&loaded))
      problem = *error;
    else
      calibration = std::get<cost::Calibration>(loaded);
  }
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
  a->what.declare(app);
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
  app.footer("\nexamples\n"
             "  gpucc simulate -w llama-3-8b -m h100 -n 64 --pin dp=64,zero=1 -b 128\n"
             "  gpucc simulate -w gpt-3-175b -m a100-80gb -n 1024 --pin "
             "tp=8,pp=8,schedule=interleaved,virtual-stages=12 -b 1536\n"
             "  gpucc simulate -w deepseek-v3 -m h800 -n 2048 -l layout.yaml --trace t.json "
             "--picture s.svg\n"
             "exit code 1: the layout does not fit in memory");
  return [a] { return simulateCommand(*a); };
}
