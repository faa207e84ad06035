//===- PlanCommand.cpp - gpucc plan ---------------------------------------===//
#include "Commands.h"
#include "WorkloadOptions.h"
#include "gpucc/Planner/LayoutSearch.h"

#include <chrono>
#include <cstdio>

using namespace gpucc;
using namespace gpucc::tool;

namespace {

struct Arguments {
  WorkloadOptions what;
  planner::SearchOptions options;
  std::string exportFile, json, megatron, torchtitan;
  std::vector<std::string> diff;
  bool quick = false, quiet = false, noReasons = false;
};

int diff(const planner::SearchProblem &problem, const std::vector<std::string> &files) {
  workload::Layout layouts[2];
  for (size_t k = 0; k < 2; ++k) {
    workload::LayoutOrError loaded = workload::loadLayout(files[k]);
    if (std::string *error = std::get_if<std::string>(&loaded))
      return refuse(*error);
    layouts[k] = std::get<workload::Layout>(loaded);
    std::string rule = workload::checkLayout(problem.workload, layouts[k]);
    if (!rule.empty())
      return refuse(files[k] + ": " + rule);
  }
  std::printf("%s", planner::diffLayouts(problem, layouts[0], layouts[1]).c_str());
  return 0;
}

int plan(Arguments &a) {
  if (std::string problem = a.what.load(); !problem.empty())
    return refuse(problem);
  planner::SearchProblem problem;
  problem.workload = a.what.workload;
  problem.machine = a.what.machine;
  problem.ranks = a.what.gpus;
  problem.base = a.what.layout;
  problem.pinned = a.what.pinned;
  if (!a.diff.empty())
    return diff(problem, a.diff);
  if (!problem.pinned.count("global-batch"))
    problem.base.globalBatch = std::max<int64_t>(4 * a.what.gpus, 1);
  auto begin = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  if (a.quick)
    a.options.budget = a.options.budget / 20;
  a.options.explain = !a.quick && !a.noReasons;
  if (!a.quiet)
    a.options.onBetter = [&](const planner::Choice &c) {
      std::fprintf(stderr, "%6.2f s  %9.4g s per step  %s\n", seconds(), c.cost.seconds,
                   c.layout.line().c_str());
    };
  planner::SearchResult result = planner::searchLayouts(problem, a.options);
  if (!result.error.empty())
    return refuse(result.error);
  if (!a.quiet)
    std::fprintf(stderr, "%6.2f s  done\n", seconds());
  if (a.json != "-")
    std::printf("%s", planner::explainText(problem, result).c_str());
  const workload::Layout &best = result.best.layout;
  int code = 0;
  auto write = [&](const std::string &path, const std::string &text) {
    if (!path.empty() && !code)
      code = writeText(path, text);
  };
  write(a.json, planner::explainJson(problem, result));
  write(a.exportFile, best.dump());
  write(a.megatron, planner::megatronArguments(problem.workload, best));
  write(a.torchtitan, planner::torchtitanSettings(problem.workload, best));
  return code;
}

} // namespace

Command tool::addPlan(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  a->what.declare(app);
  app.add_option("--export", a->exportFile, "the layout as YAML (-: on the terminal)");
  app.add_option("--megatron", a->megatron, "arguments of Megatron-LM");
  app.add_option("--torchtitan", a->torchtitan, "settings of torchtitan");
  app.add_option("--json", a->json, "answer, alternatives and reasons as JSON");
  app.add_option("--diff", a->diff, "two layout.yaml: what differs and what that costs")
      ->expected(2);
  app.add_option("--budget", a->options.budget, "work after which the search stops with a gap")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--quick", a->quick, "a twentieth of the budget, no reasons");
  app.add_flag("--no-reasons", a->noReasons, "leave out why usual layouts were not chosen");
  app.add_flag("--quiet", a->quiet, "no progress");
  app.footer("\nexamples\n"
             "  gpucc plan -w llama-3-8b -m h100 -n 64 -b 128\n"
             "  gpucc plan -w mixtral-8x7b -m h100 -n 64 -b 256 --pin tp=1 --export layout.yaml\n"
             "  gpucc plan -w gpt-3-175b -m a100-80gb -n 1024 -b 1536 --megatron -\n"
             "  gpucc plan -w llama-3-8b -m h100 -n 64 --diff a.yaml b.yaml");
  return [a] { return plan(*a); };
}
