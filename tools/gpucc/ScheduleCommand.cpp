//===- ScheduleCommand.cpp - gpucc schedule -------------------------------===//
#include "Commands.h"
#include "WorkloadOptions.h"
#include "gpucc/Solvers/Schedules.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

using namespace gpucc;
using namespace gpucc::tool;
using namespace gpucc::solvers;

namespace {

struct Arguments {
  std::string kind = "1f1b", check, picture, csv;
  int ranks = 4, microBatches = 8, virtualStages = 1;
  std::vector<double> times = {1, 1, 1};
};

std::string read(Arguments &a, PipelineSchedule &schedule) {
  if (!a.check.empty()) {
    std::ifstream file(a.check);
    if (!file)
      return "cannot read '" + a.check + "'";
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    auto loaded = scheduleFromCsv(text, a.check);
    if (std::string *problem = std::get_if<std::string>(&loaded))
      return *problem;
    schedule = std::get<PipelineSchedule>(loaded);
    a.kind = a.check;
    return "";
  }
  std::optional<ScheduleKind> kind = parseScheduleKind(a.kind);
  if (!kind) {
    std::string names;
    for (ScheduleKind k : allScheduleKinds())
      names += std::string(names.empty() ? "" : ", ") + name(k);
    return "found '" + a.kind + "', allowed one of " + names;
  }
  if (*kind == ScheduleKind::Interleaved && a.virtualStages == 1)
    a.virtualStages = 2;
  std::string problem = checkScheduleShape(*kind, a.ranks, a.microBatches, a.virtualStages);
  if (problem.empty())
    schedule = makeSchedule(*kind, a.ranks, a.microBatches, a.virtualStages);
  return problem;
}

int run(Arguments &a) {
  PipelineSchedule schedule;
  if (std::string problem = read(a, schedule); !problem.empty())
    return refuse(problem);
  double sum = 0;
  bool fine = true;
  for (double time : a.times) {
    fine &= std::isfinite(time) && time >= 0;
    sum += time;
  }
  if (!fine || sum <= 0)
    return refuse("--times: found a time that is negative or no number, or three zeros, allowed "
                  "three times of at least 0; write e.g. --times 1 1 1");
  // A rank's share is cut into as many parts as stages of it that one micro-batch passes.
  double passed = 0;
  for (const std::vector<Action> &row : schedule.stages)
    for (const Action &action : row)
      passed += action.kind == ActionKind::Forward && action.microBatch == 0;
  double parts = passed / static_cast<double>(schedule.stages.size());
  std::vector<StageSeconds> stages(static_cast<size_t>(schedule.numStages()),
                                   {a.times[0] / parts, a.times[1] / parts, a.times[2] / parts});
  ScheduleTiming timing = timeSchedule(schedule, stages);
  std::vector<int> kept = microBatchesInFlight(schedule);
  std::printf("%s", schedule.dump().c_str());
  double busy = *std::max_element(timing.busy.begin(), timing.busy.end());
  std::printf("%zu ranks, %d stages, %d micro-batches: time %.6g, work %.6g, bubble %.6g of the "
              "longest span\n",
              schedule.stages.size(), schedule.numStages(), schedule.microBatches, timing.total,
              busy, timing.bubble);
  std::printf("kept stage-micro-batches per rank:");
  for (int n : kept)
    std::printf(" %d", n);
  std::printf("\n");
  int code = 0;
  if (!a.csv.empty())
    code = writeText(a.csv, toCsv(schedule));
  if (!a.picture.empty() && !code)
    code = writeText(a.picture,
                     toSvg(schedule, timing,
                           a.kind + ", " + std::to_string(schedule.stages.size()) + " ranks, " +
                               std::to_string(schedule.microBatches) + " micro-batches"));
  return code;
}

} // namespace

Command tool::addSchedule(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  app.add_option("kind", a->kind,
                 "gpipe, 1f1b, interleaved, zb-h1, zb-h2, zb-v, dualpipe, dualpipe-v")
      ->capture_default_str();
  app.add_option("--ranks,-p", a->ranks, "pipeline ranks")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--micro-batches", a->microBatches, "per step")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--virtual-stages", a->virtualStages, "chunks per rank (interleaved)")
      ->check(CLI::Range(1, 64));
  app.add_option("--times", a->times,
                 "time of forward, backward of inputs, backward of weights of a rank's share")
      ->expected(3);
  app.add_option("--check", a->check, "a schedule CSV of PyTorch: check and time it instead");
  app.add_option("--csv", a->csv, "write the schedule as PyTorch's CSV");
  app.add_option("--picture", a->picture, "draw it as SVG");
  app.footer("\nexamples\n  gpucc schedule zb-h1 -p 8 --micro-batches 16 --picture zb-h1.svg\n"
             "  gpucc schedule --check mine.csv --times 1 1.1 0.9");
  return [a] { return run(*a); };
}
