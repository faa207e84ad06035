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
  std::string exportFile, exportMachine, json, megatron, torchtitan, stack = "any", by = "step";
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
    std::string rule = workload::explainLayout(problem.workload, layouts[k]);
    if (rule.empty())
      rule = simulate::checkPrecision(problem.machine, layouts[k].recipe.precision);
    if (!rule.empty())
      return refuse(files[k] + ": " + rule);
  }
  std::printf("%s", planner::diffLayouts(problem, layouts[0], layouts[1]).c_str());
  return 0;
}

/// The files that were asked for.
int writeAll(const Arguments &a, const planner::SearchProblem &problem,
             const planner::SearchResult &result) {
  const workload::Layout &best = result.best.layout;
  int code = 0;
  auto write = [&](const std::string &path, const std::string &text) {
    if (!path.empty() && !code)
      code = writeText(path, text);
  };
  write(a.json, planner::explainJson(problem, result));
  write(a.exportFile, best.dump());
  write(a.exportMachine, problem.machine.dump());
  write(a.megatron, planner::megatronArguments(problem.workload, best));
  write(a.torchtitan, planner::torchtitanSettings(problem.workload, best));
  return code;
}

/// Empty, or what is wrong.
std::string describe(Arguments &a, planner::SearchProblem &problem) {
  const planner::Stack *stack = planner::findStack(a.stack);
  if (!stack)
    return "--stack: found '" + a.stack + "', allowed one of " + planner::stackNames();
  if (std::string wrong = a.what.loadMachine(0); !wrong.empty())
    return wrong;
  if (stack->recipe)
    stack->recipe(a.what.layout.recipe, a.what.machine);
  a.what.someMayRun = a.diff.empty() && a.by != "price";
  if (std::string wrong = a.what.load(); !wrong.empty())
    return wrong;
  problem.adapt = [stack](planner::SearchProblem &p) {
    if (!p.pinned.count("recipe.precision"))
      p.base.recipe.precision = WorkloadOptions::usualPrecision(p.machine);
    workload::Recipe own;
    if (stack->recipe)
      stack->recipe(own, p.machine);
    if (stack->recipe && !p.pinned.count("recipe.attention-rate"))
      p.base.recipe.attentionRate = own.attentionRate;
  };
  problem.workload = a.what.workload;
  problem.machine = a.what.machine;
  problem.ranks = a.what.gpus;
  problem.base = a.what.layout;
  problem.pinned = a.what.pinned;
  if (stack->accept)
    problem.accept = stack->accept;
  if (!problem.pinned.count("global-batch"))
    problem.base.globalBatch = std::max<int64_t>(4 * a.what.gpus, 1);
  if (a.by == "price" && problem.machine.pricePerHourOf(problem.ranks) <= 0)
    return "--by price: found no price of a GPU, allowed a price-per-hour in the machine.yaml or "
           "on the command line; write e.g. --price-per-hour 2.5";
  if (a.by == "price" && problem.machine.mixed())
    return "--by price: found a mixed machine, allowed one kind of node: which nodes to leave out "
           "is not searched; describe a smaller machine";
  return "";
}

/// Searches all GPUs, a half of them, a quarter, ...: fewer are often cheaper per token, because
/// less is spent on traffic. The cheapest becomes the problem; its answer is returned.
planner::SearchResult cheapest(Arguments &a, planner::SearchProblem &problem) {
  planner::SearchResult best;
  planner::SearchProblem chosen = problem;
  std::string table;
  for (int64_t gpus = problem.ranks; gpus >= 1; gpus /= 2) {
    planner::SearchProblem part = problem;
    cost::MachineOrError machine = cost::loadMachine(a.what.machineName, static_cast<int>(gpus));
    if (std::holds_alternative<std::string>(machine))
      break; // no whole nodes
    part.machine = std::get<cost::Machine>(machine);
    part.machine.pricePerHour = problem.machine.pricePerHour;
    part.ranks = gpus;
    planner::SearchOptions options = a.options;
    options.explain = false;
    planner::SearchResult result = planner::searchLayouts(part, options);
    if (!result.error.empty()) {
      if (best.error.empty() && best.best.cost.seconds == 0)
        best.error = result.error, best.tooLarge = result.tooLarge;
      break; // even fewer cannot hold it
    }
    planner::Price price = planner::priceOf(part, result.best);
    char line[256];
    std::snprintf(line, sizeof line,
                  "  %6lld GPUs  %9.4g s per step  %9.4g per million tokens  %s\n",
                  static_cast<long long>(gpus), result.best.cost.seconds, price.millionTokens,
                  result.best.layout.line().c_str());
    table += line;
    bool first = best.best.cost.seconds == 0;
    if (first || price.millionTokens < planner::priceOf(chosen, best.best).millionTokens) {
      best = std::move(result);
      chosen = part;
    }
  }
  problem = chosen;
  if (a.json != "-" && !table.empty())
    std::printf("by price\n%s", table.c_str());
  return best;
}

int plan(Arguments &a) {
  planner::SearchProblem problem;
  if (std::string wrong = describe(a, problem); !wrong.empty())
    return refuse(wrong);
  if (!a.diff.empty())
    return diff(problem, a.diff);
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
  planner::SearchResult result =
      a.by == "price" ? cheapest(a, problem) : planner::searchNodeKinds(problem, a.options);
  if (!result.error.empty()) {
    int code = refuse(result.error);
    return result.tooLarge ? 1 : code;
  }
  if (!a.quiet)
    std::fprintf(stderr, "%6.2f s  done\n", seconds());
  if (a.json != "-")
    std::printf("%s", planner::explainText(problem, result).c_str());
  return writeAll(a, problem, result);
}

} // namespace

Command tool::addPlan(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  a->what.declare(app);
  app.add_option("--export", a->exportFile, "the layout as YAML (-: on the terminal)");
  app.add_option("--export-machine", a->exportMachine,
                 "the machine as YAML, of a mixed one the nodes that the layout uses");
  app.add_option("--megatron", a->megatron, "arguments of Megatron-LM");
  app.add_option("--torchtitan", a->torchtitan, "settings of torchtitan");
  app.add_option("--json", a->json, "answer, alternatives and reasons as JSON");
  app.add_option("--diff", a->diff, "two layout.yaml: what differs and what that costs")
      ->expected(2);
  app.add_option("--stack", a->stack,
                 "only what this software runs, as it runs it: " + planner::stackNames())
      ->capture_default_str();
  app.add_option(
         "--by", a->by,
         "step: the shortest; price: the cheapest token, with all GPUs, a half, a quarter, ...")
      ->check(CLI::IsMember({"step", "price"}))
      ->capture_default_str();
  app.add_option("--budget", a->options.budget, "work after which the search stops with a gap")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--alternatives", a->options.keep, "meshes in the answer, the best included")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--quick", a->quick, "a twentieth of the budget, no reasons");
  app.add_flag("--no-reasons", a->noReasons, "leave out why usual layouts were not chosen");
  app.add_flag("--quiet", a->quiet, "no progress");
  app.footer(
      "\nexamples\n"
      "  gpucc plan -w llama-3-8b -m h100 -n 64 -b 128\n"
      "  gpucc plan -w mixtral-8x7b -m h100 -n 64 -b 256 --pin tp=1 --export layout.yaml\n"
      "  gpucc plan -w gpt-3-175b -m a100-80gb -n 1024 -b 1536 --stack megatron --megatron -\n"
      "  gpucc plan -w llama-3-8b -m h100 -n 64 --price-per-hour 2.5 --by price\n"
      "  gpucc plan -w llama-3-8b -m h100 -n 64 --diff a.yaml b.yaml\n"
      "exit code 1: layouts are possible, none fits in memory");
  return [a] { return plan(*a); };
}
