//===- gpucc-run.cpp - Runs plan files; no compiler inside
//--------------------------------------===//
//
// Exit codes: 0 fine, 2 bad input or usage, 3 this machine cannot run the plan. (1, "comparison
// failed", is gpucc check's.)
//
//===--------------------------------------------------------------------------------------------===//
#include "gpucc_rt/RankGroup.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <new>

using namespace gpucc_rt;

static const char help[] = R"(gpucc-run: run a compiled plan

usage: gpucc-run PLAN [options]

examples
  gpucc-run model.plan                                 random inputs, prints the time per step
  gpucc-run model.plan --info                          what the plan takes, gives and needs
  gpucc-run model.plan --inputs in.npz --outputs out.npz
  gpucc-run model.plan --inputs random:7 --iterations 100 --threads 4
  gpucc-run gpt-dp2.plan --ranks 2 --trace trace.json  two ranks in this process; open the trace in Perfetto

options
  --inputs FILE.npz|random:SEED  arrays by input name (default random:0)
  --outputs FILE.npz             write all outputs and metrics of the last step
  --iterations N                 steps to run (default 1)
  --threads N                    threads per rank (default: cores / ranks)
  --ranks N                      host ranks; must be the plan's number of ranks (default: that number)
  --driver host|cuda|null        default: the plan's target; null checks every command and computes nothing
  --trace FILE.json              when each command ran, for Perfetto or the tracing page of Chrome
  --pack                         first write weights packed for this CPU into the plan, so that later runs start fast
  --verify-weights               compare the weights with the hashes in the plan
  --info                         print the plan's inputs, outputs and needs, run nothing
  --version, --help

exit codes
  0 fine, 2 bad input or usage, 3 this machine cannot run the plan
)";

namespace {
struct Arguments {
  std::string plan, inputs = "random:0", outputs, trace;
  uint64_t iterations = 1;
  uint32_t threads = 0, ranks = 0;
  std::string driver;
  bool info = false, verifyWeights = false, pack = false;
};

int usageError(const std::string &message) {
  std::fprintf(stderr, "gpucc-run: %s\ntry: gpucc-run --help\n", message.c_str());
  return 2;
}

int report(const Status &status) {
  std::fprintf(stderr, "gpucc-run: error: %s\n", status.message().c_str());
  return status.code() == GPUCC_RT_UNSUPPORTED ? 3 : 2;
}

bool parseCount(const std::string &text, uint64_t least, uint64_t most, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(text.c_str(), &end, 10);
  bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && errno == 0 && value >= least && value <= most;
}

/// 0 to go on, otherwise 1 + exit code.
int parse(int argc, char **argv, Arguments &arguments) {
  std::map<std::string, std::string *> texts = {{"--inputs", &arguments.inputs},
                                                {"--outputs", &arguments.outputs},
                                                {"--driver", &arguments.driver},
                                                {"--trace", &arguments.trace}};
  std::map<std::string, bool *> flags = {{"--info", &arguments.info},
                                         {"--verify-weights", &arguments.verifyWeights},
                                         {"--pack", &arguments.pack}};
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], argument;
    size_t equals = option.find('=');
    bool attached = option.rfind("--", 0) == 0 && equals != std::string::npos;
    if (attached) {
      argument = option.substr(equals + 1);
      option.resize(equals);
    }
    if (option == "--help" || option == "-h") {
      std::fputs(help, stdout);
      return 1;
    }
    if (option == "--version") {
      std::printf("gpucc-run %s\n", gpucc_rt_version());
      return 1;
    }
    if (flags.count(option)) {
      *flags[option] = true;
      continue;
    }
    bool counted = option == "--iterations" || option == "--threads" || option == "--ranks";
    if (!counted && !texts.count(option)) {
      if (option[0] == '-')
        return 1 + usageError("unknown option '" + option + "'");
      if (!arguments.plan.empty())
        return 1 + usageError("two plans: '" + arguments.plan + "' and '" + option + "'");
      arguments.plan = option;
      continue;
    }
    if (!attached) {
      if (i + 1 >= argc)
        return 1 + usageError(option + " needs an argument");
      argument = argv[++i];
    }
    if (!counted) {
      *texts[option] = argument;
      continue;
    }
    uint64_t value = 0, most = option == "--iterations" ? 1u << 30 : 4096;
    if (!parseCount(argument, 1, most, value))
      return 1 + usageError(option + " takes a number from 1 to " + std::to_string(most) +
                            ", not '" + argument + "'");
    if (option == "--iterations")
      arguments.iterations = value;
    else
      (option == "--threads" ? arguments.threads : arguments.ranks) = static_cast<uint32_t>(value);
  }
  return arguments.plan.empty() ? 1 + usageError("no plan given") : 0;
}

const char *roleName(gpucc_rt_role role) {
  static const char *const names[] = {"input",    "label",  "output",      "parameter",
                                      "moment",   "master", "statistic",   "counter",
                                      "gradient", "metric", "intermediate", "count"};
  return names[role];
}

void printInfo(const Plan &plan) {
  gpucc_rt_plan_info info = plan.info();
  std::printf("%s, made by %s\n", *info.model ? info.model : "unnamed model", info.producer);
  std::printf("target    %s (%s)%s%s\n", info.target, info.architectures,
              info.training ? ", training step" : "",
              info.reproducible ? "" : ", not reproducible (a solver stopped on the clock)");
  std::printf("ranks     %u in %u stage%s, %.1f MiB per rank\n", info.ranks, info.stages,
              info.stages == 1 ? "" : "s", static_cast<double>(info.device_bytes) / (1 << 20));
  for (uint32_t p = 0; p < info.profiles; ++p)
    std::printf("profile   %s\n", plan.profileName(p).c_str());
  for (uint32_t t = 0; t < info.tensors; ++t) {
    gpucc_rt_tensor_info tensor = plan.tensor(t);
    bool shown = tensor.role <= GPUCC_RT_OUTPUT || tensor.role == GPUCC_RT_METRIC;
    if (!shown)
      continue;
    std::string shape;
    for (uint32_t d = 0; d < tensor.rank; ++d) {
      shape += d ? ", " : "";
      shape += plan.varyingDim(t) == static_cast<int32_t>(d) ? "up to " : "";
      shape += tensor.dims[d] < 0 ? tensor.symbols[d] : std::to_string(tensor.dims[d]);
    }
    std::printf("%-9s %s %s [%s]\n", roleName(tensor.role), tensor.name, dtypeName(tensor.dtype),
                shape.c_str());
  }
}

Status loadInputs(const Arguments &arguments, const Plan &plan, std::vector<Array> &inputs,
                  int &usage) {
  const std::string prefix = "random:";
  if (arguments.inputs.rfind(prefix, 0) != 0)
    return readArrays(arguments.inputs, inputs);
  uint64_t seed = 0;
  if (!parseCount(arguments.inputs.substr(prefix.size()), 0, UINT64_MAX, seed)) {
    usage = usageError("--inputs random:SEED takes a number, not '" + arguments.inputs + "'");
    return {};
  }
  return randomInputs(plan, 0, seed, inputs);
}

Status writeOutputs(RankGroup &group, const std::string &path) {
  std::vector<Array> arrays;
  for (uint32_t t = 0; t < group.plan().info().tensors; ++t) {
    gpucc_rt_tensor_info info = group.plan().tensor(t);
    if (info.role != GPUCC_RT_OUTPUT && info.role != GPUCC_RT_METRIC)
      continue;
    arrays.emplace_back();
    if (Status status = group.readArray(info.name, arrays.back()))
      return status;
  }
  return writeArrays(path, arrays);
}

void printTimes(std::vector<double> times, uint32_t ranks) {
  std::sort(times.begin(), times.end());
  std::printf("%zu step%s on %u rank%s: median %.3f ms, fastest %.3f, slowest %.3f\n", times.size(),
              times.size() == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", times[times.size() / 2],
              times.front(), times.back());
}

int run(const Arguments &arguments, const Plan &plan) {
  int usage = 0;
  RankGroup group;
  GroupOptions options;
  options.driver = arguments.driver;
  options.threads = arguments.threads;
  options.verifyWeights = arguments.verifyWeights;
  if (Status status = group.open(plan, options))
    return report(status);
  if (std::string warnings = group.warnings(); !warnings.empty())
    std::fprintf(stderr, "gpucc-run: warning: %s\n", warnings.c_str());
  std::vector<Array> inputs; // after open, which refuses plans that are too large for this machine
  if (Status status = loadInputs(arguments, plan, inputs, usage))
    return report(status);
  if (usage)
    return usage;
  if (Status status = group.writeInputs(inputs))
    return report(status);
  group.setTrace(!arguments.trace.empty());
  std::vector<double> times;
  for (uint64_t i = 0; i < arguments.iterations; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (Status status = group.run())
      return report(status);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    times.push_back(time.count());
  }
  printTimes(times, group.size());
  if (!arguments.trace.empty())
    if (Status status = group.saveTrace(arguments.trace))
      return report(status);
  if (!arguments.outputs.empty())
    if (Status status = writeOutputs(group, arguments.outputs))
      return report(status);
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  if (int code = parse(argc, argv, arguments))
    return code - 1;
  std::error_code ignored;
  for (const std::string &written : {arguments.outputs, arguments.trace})
    if (std::filesystem::equivalent(written, arguments.plan, ignored))
      return usageError("'" + written +
                        "' is the plan, and would be overwritten; choose another "
                        "file for --outputs or --trace");
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like a full disk
  if (arguments.pack)
    if (Status status = Plan::pack(arguments.plan))
      return report(status);
  Plan plan;
  if (Status status = Plan::open(arguments.plan, plan))
    return report(status);
  if (arguments.ranks && arguments.ranks != plan.info().ranks)
    return usageError("--ranks " + std::to_string(arguments.ranks) +
                      ", but the plan was compiled "
                      "for " +
                      std::to_string(plan.info().ranks) + "; compile it with --ranks " +
                      std::to_string(arguments.ranks));
  if (arguments.info) {
    printInfo(plan);
    return 0;
  }
  try {
    return run(arguments, plan);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr,
                 "gpucc-run: error: %s: this machine has not enough memory for the plan and its "
                 "inputs; a smaller "
                 "batch is allowed: compile with a smaller --profile\n",
                 arguments.plan.c_str());
    return 2;
  }
}
