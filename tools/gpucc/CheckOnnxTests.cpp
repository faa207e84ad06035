//===- CheckOnnxTests.cpp - the official ONNX node tests ------------------===//
//
// Each test is compiled to a plan file, the plan is executed, and the outputs
// are compared as the tests' authors say (gpucc/Pipelines/OnnxTests.h).
//
//===----------------------------------------------------------------------===//
#include "Output.h"
#include "gpucc/Pipelines/OnnxTests.h"

#include "Check.h"
#include "PlanSource.h"
#include "gpucc/Pipelines/Compile.h"

#include <cstdio>
#include <nlohmann/json.hpp>

using namespace gpucc;
using namespace gpucc::tool;

namespace {

gpucc_rt::Status runPlan(const std::string &path, const std::map<std::string, HostTensor> &inputs,
                         std::vector<HostTensor> &outputs) {
  gpucc_rt::Plan plan;
  if (auto s = gpucc_rt::Plan::open(path, plan))
    return s;
  gpucc_rt::RankGroup group;
  gpucc_rt::GroupOptions options;
  options.threads = 1;
  if (auto s = group.open(plan, options))
    return s;
  for (const auto &[name, tensor] : inputs) {
    uint32_t index = 0;
    if (gpucc_rt::Status(gpucc_rt_plan_find_tensor(plan.get(), name.c_str(), &index)))
      continue; // an input that nothing reads
    if (auto s = group.write(name, tensor.bytes(), static_cast<uint64_t>(tensor.byteSize())))
      return s;
  }
  if (auto s = group.run())
    return s;
  for (uint32_t i = 0; i < plan.info().tensors; ++i) {
    gpucc_rt_tensor_info info = plan.tensor(i);
    if (info.role != GPUCC_RT_OUTPUT)
      continue;
    gpucc_rt::Array array;
    if (auto s = group.readArray(info.name, array))
      return s;
    outputs.push_back(toHostTensor(array));
  }
  return {};
}

} // namespace

int tool::checkOnnxTests(CheckArguments &a) {
  if (int code = a.flags->finish())
    return code;
  useEmulationIfNeeded(a.flags->options);
  OnnxTestOptions options;
  options.filter = a.filter;
  options.jobs = a.flags->options.jobs;
  nlohmann::json table = nlohmann::json::array();
  options.report = [&](const OnnxTestResult &result) {
    const char *words[] = {"pass", "FAIL", "unsupported"};
    const char *word = words[static_cast<int>(result.verdict)];
    std::printf("%-12s%s%s%s\n", word, result.name.c_str(), result.detail.empty() ? "" : ": ",
                result.detail.c_str());
    std::fflush(stdout);
    table.push_back({{"test", result.name}, {"verdict", word}, {"detail", result.detail}});
  };
  CompileOptions compileOptions = a.flags->options;
  compileOptions.jobs = 1;
  auto execute = [&](mlir::ModuleOp module, const std::string &folder,
                     const std::map<std::string, HostTensor> &inputs,
                     std::vector<HostTensor> &outputs, std::string &error) {
    TemporaryFile plan;
    if (plan.create())
      return TestVerdict::Fail;
    if (int code = compileGraphModule(module, compileOptions, folder, plan.path(), error))
      return code == 3 ? TestVerdict::Unsupported : TestVerdict::Fail;
    if (auto s = runPlan(plan.path(), inputs, outputs)) {
      error = s.message();
      return TestVerdict::Fail;
    }
    return TestVerdict::Pass;
  };
  std::vector<OnnxTestResult> results = runOnnxTests(a.onnxTests, options, execute);
  if (results.empty())
    return fail(2, "no folder with a model.onnx below the given ones fits --filter '" + a.filter +
                       "'");
  if (!a.json.empty()) {
    if (int code = writeText(a.json, table.dump(1) + "\n"))
      return code;
  }
  std::printf("%s\n", summaryLine(results).c_str());
  for (const OnnxTestResult &r : results)
    if (r.verdict == TestVerdict::Fail)
      return 1;
  return 0;
}
