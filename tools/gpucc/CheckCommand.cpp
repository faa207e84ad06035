//===- CheckCommand.cpp - gpucc check -------------------------------------===//
//
// Three questions: does the compiled model compute what the reference evaluator
// (or a file) says; do the official ONNX node tests pass; does a partitioned
// training step compute what the unpartitioned one does.
//
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "Commands.h"
#include "Compare.h"
#include "PlanSource.h"
#include "gpucc/Pipelines/Compile.h"

#include <cmath>
#include <cstdio>

using namespace gpucc;
using namespace gpucc::tool;

namespace {

/// What the model should give: from the file, or evaluated.
int expectedOutputs(CheckArguments &a, const std::vector<gpucc_rt::Array> &inputs,
                    std::map<std::string, HostTensor> &expected) {
  if (!a.expect.empty()) {
    std::vector<gpucc_rt::Array> arrays;
    if (auto s = gpucc_rt::readArrays(a.expect, arrays))
      return failed(s);
    for (const gpucc_rt::Array &array : arrays)
      expected[array.name] = toHostTensor(array);
    return 0;
  }
  CompileOptions options = a.flags->options;
  bool compiled = !isPlanFile(options.model);
  if (!compiled) {
    if (a.referenceModel.empty())
      return fail(2, "a plan does not hold its model; name it with --model MODEL.onnx (and the "
                     "plan's --profile), or give --expect FILE.npz");
    if (int code = a.flags->finish())
      return code;
    options = a.flags->options;
    options.model = a.referenceModel;
  }
  Compilation reference(options, {progress, /*quiet=*/compiled});
  if (int code = reference.convert())
    return code;
  progress("reference evaluator");
  std::map<std::string, HostTensor> arguments;
  for (const gpucc_rt::Array &array : inputs)
    arguments[array.name] = toHostTensor(array);
  int code = reference.evaluate(arguments, expected);
  progress("");
  return code;
}

int checkModel(CheckArguments &a) {
  PlanSource source;
  if (int code = source.open(*a.flags))
    return code;
  gpucc_rt::RankGroup group;
  gpucc_rt::GroupOptions options;
  options.driver = a.driver;
  if (auto s = group.open(source.plan(), options))
    return failed(s);
  std::vector<gpucc_rt::Array> inputs;
  if (int code = loadInputs(source.plan(), group.profile(), a.inputs, inputs))
    return code;
  if (auto s = group.writeInputs(inputs))
    return failed(s);
  if (auto s = group.run())
    return failed(s);
  std::vector<gpucc_rt::Array> results;
  if (int code = readOutputs(group, results))
    return code;
  std::map<std::string, HostTensor> expected;
  if (int code = expectedOutputs(a, inputs, expected))
    return code;
  CheckReport report(a.json);
  for (const gpucc_rt::Array &array : results) {
    auto it = expected.find(array.name);
    if (it == expected.end())
      return fail(2, "there is no expected value for output '" + array.name + "' in " + a.expect);
    report.add(array.name, compare(toHostTensor(array), it->second), a.tolerance.value_or(1e-3),
               it->second.shape());
  }
  int code = report.finish();
  bool single = a.flags->options.profiles.size() <= 1 && source.plan().info().ranks == 1;
  if (code == 1 && single && !isPlanFile(a.flags->options.model))
    if (int failure = findFirstWrong(a, inputs))
      return failure;
  return code;
}

} // namespace

Command tool::addCheck(CLI::App &app) {
  auto a = std::make_shared<CheckArguments>();
  a->flags = addCompileFlags(app);
  app.add_option("model", a->flags->options.model, "model or plan")->check(CLI::ExistingFile);
  app.add_option("--model", a->referenceModel, "the model that a plan was made of")
      ->check(CLI::ExistingFile);
  app.add_option("--inputs", a->inputs, "FILE.npz with arrays by input name, or random:SEED")
      ->capture_default_str();
  app.add_option("--expect", a->expect,
                 "FILE.npz with the right outputs (default: the reference evaluator)");
  app.add_option(
         "--tolerance", a->tolerance,
         "greatest error relative to max(|y|, 1e-2 max|Y|), 1e-3 unless given; with --train "
         "relative to max|Y|, 1e-4 unless given")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--driver", a->driver, "host | cuda | null (default: the plan's target)");
  app.add_option("--onnx-tests", a->onnxTests,
                 "folders of ONNX node tests (each test a folder with model.onnx)");
  app.add_option("--filter", a->filter, "with --onnx-tests: names with * and ?")
      ->capture_default_str();
  app.add_option("--json", a->json, "write the table as JSON (-: to stdout)");
  app.footer("\nexamples\n"
             "  gpucc check model.onnx --profile batch=4\n"
             "  gpucc check model.onnx --inputs in.npz --expect out.npz\n"
             "  gpucc check --onnx-tests DIR --filter 'test_add*'\n"
             "  gpucc check gpt.onnx --train --optimizer adamw --ranks 4 --pin dp=2,tp=2\n"
             "exit code 1: the comparison failed; the first wrong tensor is named and, of a model, the first wrong op");
  return [a] {
    if (a->tolerance && !std::isfinite(*a->tolerance))
      return fail(2, "--tolerance: found " + std::to_string(*a->tolerance) +
                         "; a finite number of at least 0 is allowed: give e.g. --tolerance 1e-3");
    if (!a->onnxTests.empty() && a->tolerance)
      return fail(2,
                  "--tolerance does not go with --onnx-tests: the tests have bounds of their own");
    if (!a->onnxTests.empty())
      return checkOnnxTests(*a);
    if (a->flags->options.model.empty())
      return fail(2, "name a model or plan, or give --onnx-tests DIR");
    // Other flags than these say how the reference is made of --model.
    auto forReference = [](const std::string &name) {
      return name != "--target" && name != "--machine" && name != "--cache" &&
             name != "--external-weights";
    };
    if (isPlanFile(a->flags->options.model))
      if (int code = a->flags->refuseForPlan(forReference))
        return code;
    if (!a->flags->training && a->flags->profiles.size() > 1)
      return fail(2, "--profile: found " + std::to_string(a->flags->profiles.size()) +
                         " profiles; one comparison takes one: call gpucc check once for each");
    if (a->flags->training)
      return checkTraining(*a);
    return checkModel(*a);
  };
}
