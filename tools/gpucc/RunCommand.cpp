//===- RunCommand.cpp - gpucc run -----------------------------------------===//
#include "Commands.h"
#include "CompileOptions.h"
#include "PlanSource.h"
#include "RunTimes.h"
#include "gpucc_rt/RankGroup.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

using namespace gpucc;
using namespace gpucc::tool;

namespace {
struct Arguments {
  std::shared_ptr<CompileFlags> flags;
  std::string inputs = "random:0", outputs, trace, driver;
  uint64_t iterations = 1;
  uint32_t threads = 0;
  bool times = false;
};

double milliseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

int run(Arguments &a) {
  if (isPlanFile(a.flags->options.model))
    if (int code =
            a.flags->refuseForPlan([](const std::string &name) { return name == "--ranks"; }))
      return code;
  std::error_code ignored;
  for (const std::string &written : {a.outputs, a.trace})
    if (std::filesystem::equivalent(written, a.flags->options.model, ignored))
      return fail(2, "'" + written +
                         "' is what is run, and would be overwritten; choose another "
                         "file for --outputs or --trace");
  PlanSource source;
  if (int code = source.open(*a.flags))
    return code;
  gpucc_rt::RankGroup group;
  if (int code = checkRanks(a.flags->ranks, source.plan()))
    return code;
  gpucc_rt::GroupOptions options;
  options.driver = a.driver;
  options.threads = a.threads;
  if (auto s = group.open(source.plan(), options))
    return failed(s);
  std::vector<gpucc_rt::Array> arrays;
  if (int code = loadInputs(source.plan(), group.profile(), a.inputs, arrays))
    return code;
  if (auto s = group.writeInputs(arrays))
    return failed(s);
  TemporaryFile timesFile;
  if (a.times && a.trace.empty()) {
    if (int code = timesFile.create())
      return code;
    a.trace = timesFile.path();
  }
  group.setTrace(!a.trace.empty());
  std::vector<double> times;
  for (uint64_t i = 0; i < a.iterations; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (auto s = group.run())
      return failed(s);
    times.push_back(milliseconds(std::chrono::steady_clock::now() - start));
  }
  if (!a.trace.empty())
    if (auto s = group.saveTrace(a.trace))
      return failed(s);
  std::vector<gpucc_rt::Array> results;
  if (int code = readOutputs(group, results))
    return code;
  for (const gpucc_rt::Array &r : results)
    std::printf("%-24s %s\n", r.name.c_str(), gpucc_rt::describe(r.dtype, r.shape).c_str());
  if (!a.outputs.empty())
    if (auto s = gpucc_rt::writeArrays(a.outputs, results))
      return failed(s);
  std::sort(times.begin(), times.end());
  std::printf("%llu run%s, median %.3f ms, least %.3f ms\n",
              static_cast<unsigned long long>(a.iterations), a.iterations == 1 ? "" : "s",
              times[times.size() / 2], times.front());
  if (a.times)
    printTimes(a.trace, a.iterations);
  return 0;
}
} // namespace

Command tool::addRun(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  a->flags = addCompileFlags(app);
  app.add_option("plan", a->flags->options.model, "a plan, or a model (compiled first)")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--inputs", a->inputs, "FILE.npz with arrays by input name, or random:SEED")
      ->capture_default_str();
  app.add_option("--outputs", a->outputs, "FILE.npz that receives outputs and metrics");
  app.add_option("--iterations", a->iterations, "how often to run")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_option("--threads", a->threads, "threads per rank (default: cores / ranks)");
  app.add_option("--driver", a->driver, "host | cuda | null (default: the plan's target)");
  app.add_option("--trace", a->trace, "FILE.json: when each command ran (Perfetto)");
  app.add_flag("--times", a->times, "table of the commands that take most of the time");
  app.footer("\nexamples\n"
             "  gpucc run model.plan --iterations 50 --times\n"
             "  gpucc run model.plan --inputs in.npz --outputs out.npz\n"
             "  gpucc run model.onnx --profile batch=8 --iterations 100 --threads 2");
  return [a] { return run(*a); };
}
