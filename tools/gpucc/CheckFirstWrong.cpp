//===- CheckFirstWrong.cpp - which op is the first to go wrong ------------===//
//
// The outputs of a compiled model differ from the reference; which op began it?
// Halving over the model's ops: a program of the first n ops returns what the
// others would read. An n whose values differ while those of n - 1 agree names
// the op. (One, not always the first: a later op can hide an error.)
//
//   96 ops: first 48 right, 72 wrong, 60 right, ... -> op 65, after 7 programs
//
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "PlanSource.h"
#include "gpucc/Pipelines/Compile.h"

#include <cstdio>

using namespace gpucc;
using namespace gpucc::tool;

namespace {

/// One program of the first ops, compared.
struct Probe {
  std::string op, tensor; ///< the last op; the worst result
  Difference worst;
  std::vector<int64_t> shape;
};

class Search {
public:
  Search(CheckArguments &a, const std::vector<gpucc_rt::Array> &inputs) : a(a), inputs(inputs) {
    for (const gpucc_rt::Array &array : inputs)
      arguments[array.name] = toHostTensor(array);
  }

  /// 0 when the question has an answer (or none was found), else the exit code of a failure.
  int run() {
    Compilation whole(a.flags->options, {{}, /*quiet=*/true});
    if (int code = whole.runTo(Phase::Graph))
      return code;
    const size_t all = whole.countOps();
    size_t right = 0, wrong = all;
    if (all == 0)
      return 0;
    Probe found;
    if (int code = probe(wrong, found))
      return code;
    if (isRight(found))
      return blamePasses(whole);
    while (right + 1 < wrong) {
      size_t middle = right + (wrong - right) / 2;
      progress("first wrong op: between " + std::to_string(right + 1) + " and " +
               std::to_string(wrong));
      Probe half;
      if (int code = probe(middle, half))
        return code;
      if (isRight(half)) {
        right = middle;
      } else {
        wrong = middle;
        found = half;
      }
    }
    progress("");
    std::printf("first wrong op: %s, number %zu of %zu\n", found.op.c_str(), wrong, all);
    if (right > 0)
      std::printf("     compiled up to op %zu, all values that later ops read agree\n", right);
    std::printf("     compiled up to this one, '%s' has error %.2e", found.tensor.c_str(),
                found.worst.error);
    if (found.worst.problem.empty())
      std::printf(" at %s: found %.9g, expected %.9g\n",
                  place(found.worst.index, found.shape).c_str(), found.worst.found,
                  found.worst.expected);
    else
      std::printf(": %s\n", found.worst.problem.c_str());
    return 0;
  }

private:
  /// The program does what the graph phase left of the model. Was that the model?
  int blamePasses(Compilation &simplified) {
    Compilation model(a.flags->options, {{}, /*quiet=*/true});
    std::map<std::string, HostTensor> meant, left;
    if (int code = model.convert())
      return code;
    if (int code = model.evaluate(arguments, meant))
      return code;
    if (int code = simplified.evaluate(arguments, left))
      return code;
    for (const auto &[name, value] : meant)
      if (Difference d = compare(left[name], value); !(d.error <= a.tolerance.value_or(1e-3))) {
        std::printf("the ops one by one agree with the model after the graph phase, but that is another than the file's: "
                    "of '%s' the error is %.2e already there; a fault of gpucc (compare `gpucc-translate %s` with "
                    "`gpucc compile --compile-to=graph`)\n",
                    name.c_str(), d.error, a.flags->options.model.c_str());
        return 0;
      }
    std::printf("the ops one by one agree with the reference: the expected values are of another "
                "model\n");
    return 0;
  }

  bool isRight(const Probe &p) const { return p.worst.error <= a.tolerance.value_or(1e-3); }

  int probe(size_t count, Probe &p) {
    Compilation c(a.flags->options, {{}, /*quiet=*/true});
    if (int code = c.runTo(Phase::Graph))
      return code;
    p.op = c.cutAfter(count);
    std::map<std::string, HostTensor> expected;
    if (int code = c.evaluate(arguments, expected))
      return code;
    TemporaryFile file;
    if (int code = file.create())
      return code;
    if (int code = c.runTo(Phase::Plan))
      return code;
    if (int code = c.writePlan(file.path()))
      return code;
    std::vector<gpucc_rt::Array> results;
    if (int failedCode = execute(file.path(), results))
      return failedCode;
    for (const gpucc_rt::Array &array : results) {
      Difference d = compare(toHostTensor(array), expected[array.name]);
      if (p.tensor.empty() || !(d.error <= p.worst.error)) {
        p.worst = d;
        p.tensor = array.name;
        p.shape = array.shape;
      }
    }
    return 0;
  }

  int execute(const std::string &path, std::vector<gpucc_rt::Array> &results) {
    gpucc_rt::Plan plan;
    if (auto s = gpucc_rt::Plan::open(path, plan))
      return failed(s);
    gpucc_rt::RankGroup group;
    gpucc_rt::GroupOptions options;
    options.driver = a.driver;
    if (auto s = group.open(plan, options))
      return failed(s);
    if (auto s = group.writeInputs(inputs))
      return failed(s);
    if (auto s = group.run())
      return failed(s);
    return readOutputs(group, results);
  }

  CheckArguments &a;
  const std::vector<gpucc_rt::Array> &inputs;
  std::map<std::string, HostTensor> arguments;
};

} // namespace

int tool::findFirstWrong(CheckArguments &arguments, const std::vector<gpucc_rt::Array> &inputs) {
  return Search(arguments, inputs).run();
}
