//===- CheckTraining.cpp - is the parallel training step right ------------===//
//
// The partitioned plan and the unpartitioned one (one rank, the same split into
// micro-batches) run one step on the same inputs, in two halves:
//
//   accumulate   outputs, loss and every gradient are compared
//   apply        the plan's own summed gradients are first written into the
//                unpartitioned run, so that every updated state is compared for
//                equal gradients: AdamW would amplify the noise of a gradient
//                that is truly zero
//
// Bounds, with t = 1e-4 or --tolerance: outputs and losses t max|b|; gradients
// max|a-b| <= t max(max|b|, 1e-3 of the step's largest gradient); updated states
// t max|b|. A NaN on either side is wrong, on both sides too: nothing is equal to it.
//
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "Locate.h"
#include "PlanSource.h"
#include "gpucc_rt/RankGroup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

using namespace gpucc;
using namespace gpucc::tool;

namespace {

/// One of the two runs.
struct Side {
  PlanSource source;
  gpucc_rt::RankGroup group;

  int open(CompileFlags flags, const std::string &driver) {
    if (int code = source.open(flags))
      return code;
    gpucc_rt::GroupOptions options;
    options.driver = driver;
    if (auto s = group.open(source.plan(), options))
      return failed(s);
    return 0;
  }

  std::vector<std::string> names(std::initializer_list<gpucc_rt_role> roles) {
    std::vector<std::string> result;
    for (uint32_t i = 0; i < source.plan().info().tensors; ++i) {
      gpucc_rt_tensor_info info = source.plan().tensor(i);
      if (std::find(roles.begin(), roles.end(), info.role) != roles.end())
        result.push_back(info.name);
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  int run(const char *script) {
    if (auto s = group.useScript(script))
      return failed(s);
    if (auto s = group.run())
      return failed(s);
    return 0;
  }
};

class Checker {
public:
  explicit Checker(CheckArguments &a)
      : a(a), tolerance(a.tolerance.value_or(1e-4)), report(a.json) {}

  int run() {
    if (int code = open())
      return code;
    gpucc_rt_plan_info info = plan.source.plan().info();
    std::printf("partition %.16s on %u rank%s, against the unpartitioned step\n",
                info.partition_hash, info.ranks, info.ranks == 1 ? "" : "s");
    if (int code = writeInputs())
      return code;
    if (int code = runBoth("accumulate"))
      return code;
    if (int code = compareOutputs())
      return code;
    if (int code = compareGradients())
      return code;
    if (int code = runBoth("apply"))
      return code;
    if (int code = compareStates())
      return code;
    return report.finish();
  }

private:
  int open() {
    CompileFlags parallel = *a.flags, single = *a.flags;
    if (isPlanFile(parallel.options.model)) {
      if (a.referenceModel.empty())
        return fail(2, "a plan does not hold its model; name it with --model MODEL.onnx");
      single.options.model = a.referenceModel;
    }
    if (int code = plan.open(parallel, a.driver))
      return code;
    single.ranks = 1;
    single.target = "host";
    single.options.machine.clear();
    single.options.memoryBudget.clear();
    single.pins = microBatchPin(single.pins);
    return reference.open(single, "");
  }

  /// The reference runs the same micro-batches: those that were pinned, else those that the layout
  /// search chose for the plan.
  std::string microBatchPin(const std::string &given) const {
    std::string error;
    std::optional<Pins> pins = Pins::parse(given, error);
    if (pins && pins->microBatches)
      return "micro-batches=" + std::to_string(*pins->microBatches);
    auto reasons = nlohmann::json::parse(plan.source.plan().info().explanation, nullptr, false);
    if (reasons.is_object() && reasons.contains("layout"))
      return "micro-batches=" + std::to_string(reasons["layout"].value("micro-batches", 1));
    return "";
  }

  /// The same initial state and inputs on both sides.
  int writeInputs() {
    std::vector<gpucc_rt::Array> arrays;
    if (int code = loadInputs(reference.source.plan(), reference.group.profile(), a.inputs, arrays))
      return code;
    for (const gpucc_rt::Array &array : arrays) {
      if (auto s = plan.group.writeArray(array))
        return failed(s);
      if (auto s = reference.group.writeArray(array))
        return failed(s);
    }
    return 0;
  }

  int runBoth(const char *script) {
    if (int code = plan.run(script))
      return code;
    return reference.run(script);
  }

  int read(Side &side, const std::string &name, HostTensor &tensor) {
    gpucc_rt::Array array;
    if (auto s = side.group.readArray(name, array))
      return failed(s);
    tensor = toHostTensor(array);
    return 0;
  }

  /// Greatest |a - b| over max(max|b|, atLeast), instead of an elementwise relative error.
  static Difference scaled(const HostTensor &found, const HostTensor &expected, double atLeast) {
    Difference d = compare(found, expected, 1.0);
    double largest = largestOf(expected);
    if (std::isfinite(d.error) && d.index >= 0 && atLeast > largest)
      d.error = std::fabs(d.found - d.expected) / atLeast;
    return d;
  }

  /// The first NaN, -1 when there is none.
  static int64_t notANumber(const HostTensor &t) {
    for (int64_t i = 0; i < t.numElements(); ++i)
      if (std::isnan(t.getFloat(i)))
        return i;
    return -1;
  }

  static double largestOf(const HostTensor &t) {
    double largest = 0;
    for (int64_t i = 0; i < t.numElements(); ++i)
      largest = std::max(largest, std::fabs(t.getFloat(i)));
    return largest;
  }

  int compareAll(const std::vector<std::string> &names, double floor, const char *what) {
    for (const std::string &name : names) {
      HostTensor found, expected;
      if (int code = read(plan, name, found))
        return code;
      if (int code = read(reference, name, expected))
        return code;
      Difference difference = scaled(found, expected, floor);
      // On one side only, comparing has found it.
      if (int64_t i = notANumber(expected); i >= 0 && std::isfinite(difference.error)) {
        difference = {std::numeric_limits<double>::infinity(), i, found.getFloat(i),
                      expected.getFloat(i), ""};
        difference.problem =
            "NaN on both sides at " + place(i, expected.shape()) + ": nothing was compared";
      }
      std::string note = what;
      if (!(difference.error <= tolerance))
        if (int code = addPlace(name, difference, note))
          return code;
      report.add(name, difference, tolerance, expected.shape(), note);
    }
    return 0;
  }

  /// Of a wrong tensor: the command that made it and the ranks that have it wrong.
  int addPlace(const std::string &name, const Difference &difference, std::string &note) {
    if (!planFile) {
      planFile.emplace();
      if (int code = planFile->open(plan.source.path()))
        return code;
    }
    gpucc_rt::Array expected;
    if (auto s = reference.group.readArray(name, expected))
      return failed(s);
    std::string place = locate(plan.group, *planFile, name, expected, difference.index,
                               std::fabs(difference.found - difference.expected) / 2);
    if (!place.empty())
      note += ", made " + place;
    return 0;
  }

  int compareOutputs() { return compareAll(reference.names({GPUCC_RT_OUTPUT}), 0, "output"); }

  int compareGradients() {
    std::vector<std::string> names = reference.names({GPUCC_RT_GRADIENT_ACCUMULATOR});
    double largest = 0;
    for (const std::string &name : names) {
      HostTensor t;
      if (int code = read(reference, name, t))
        return code;
      if (name != "loss.accumulator" && name != "count.accumulator")
        largest = std::max(largest, largestOf(t));
    }
    if (int code = compareAll(names, 1e-3 * largest, "gradient"))
      return code;
    // From here on both sides have the plan's gradients.
    for (const std::string &name : names) {
      gpucc_rt::Array array;
      if (auto s = plan.group.readArray(name, array))
        return failed(s);
      if (auto s = reference.group.writeArray(array))
        return failed(s);
    }
    return 0;
  }

  int compareStates() {
    std::vector<std::string> states =
        reference.names({GPUCC_RT_PARAMETER, GPUCC_RT_MOMENT, GPUCC_RT_MASTER, GPUCC_RT_STATISTIC,
                         GPUCC_RT_COUNTER});
    if (int code = compareAll(states, 0, "state"))
      return code;
    return compareAll(reference.names({GPUCC_RT_METRIC}), 0, "metric");
  }

  CheckArguments &a;
  double tolerance;
  CheckReport report;
  Side plan, reference;
  std::optional<PlanFile> planFile; ///< opened when something is wrong
};

} // namespace

int tool::checkTraining(CheckArguments &arguments) { return Checker(arguments).run(); }
