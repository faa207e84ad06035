//===- PlanSource.cpp - a plan from a file, or compiled on the way --------===//
#include "PlanSource.h"

#include "gpucc/Pipelines/Compile.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace gpucc;
using namespace gpucc::tool;

TemporaryFile::~TemporaryFile() {
  if (!file.empty())
    std::remove(file.c_str());
}

int TemporaryFile::create() {
  const char *folder = std::getenv("TMPDIR");
  std::string name = std::string(folder ? folder : "/tmp") + "/gpucc-XXXXXX.plan";
  int fd = mkstemps(name.data(), 5);
  if (fd < 0)
    return fail(2, "cannot make a temporary file '" + name + "'; set TMPDIR to a writable folder");
  close(fd);
  file = name;
  return 0;
}

int PlanSource::open(CompileFlags &flags) {
  std::string path = flags.options.model;
  if (!isPlanFile(path)) {
    if (int code = flags.finish())
      return code;
    useEmulationIfNeeded(flags.options);
    if (int code = temporary.create())
      return code;
    path = temporary.path();
    Compilation compilation(flags.options, {progress});
    int code = compilation.runTo(Phase::Plan);
    if (!code)
      code = compilation.writePlan(path);
    progress("");
    if (code)
      return code;
    flags.options = compilation.options(); // with --machine, the layout that was chosen
  }
  file = path;
  if (auto status = gpucc_rt::Plan::open(path, opened))
    return failed(status);
  return 0;
}

int tool::failed(const gpucc_rt::Status &status) {
  return fail(status.code() == GPUCC_RT_UNSUPPORTED ? 3 : 2, status.message());
}

int tool::checkRanks(int64_t asked, const gpucc_rt::Plan &plan) {
  uint32_t ranks = plan.info().ranks;
  if (!asked || asked == ranks)
    return 0;
  return fail(2, "--ranks " + std::to_string(asked) + ": the plan was made for " +
                     std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
                     "; leave the option out, or compile the model again with --ranks " +
                     std::to_string(asked));
}

int tool::loadInputs(const gpucc_rt::Plan &plan, uint32_t profile, const std::string &inputs,
                     std::vector<gpucc_rt::Array> &arrays) {
  if (inputs.rfind("random:", 0) != 0) {
    if (auto s = gpucc_rt::readArrays(inputs, arrays))
      return failed(s);
    return 0;
  }
  char *end = nullptr;
  unsigned long long seed = std::strtoull(inputs.c_str() + 7, &end, 10);
  if (inputs.size() == 7 || *end)
    return fail(2, "--inputs '" + inputs + "': after random: comes a number, as random:7");
  if (auto s = gpucc_rt::randomInputs(plan, profile, seed, arrays))
    return failed(s);
  return 0;
}

int tool::readOutputs(gpucc_rt::RankGroup &group, std::vector<gpucc_rt::Array> &arrays) {
  const gpucc_rt::Plan &plan = group.plan();
  for (uint32_t i = 0; i < plan.info().tensors; ++i) {
    gpucc_rt_tensor_info tensor = plan.tensor(i);
    if (tensor.role != GPUCC_RT_OUTPUT && tensor.role != GPUCC_RT_METRIC)
      continue;
    gpucc_rt::Array array;
    if (auto s = group.readArray(tensor.name, array))
      return failed(s);
    arrays.push_back(std::move(array));
  }
  return 0;
}
