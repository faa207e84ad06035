//===- ShowCommand.cpp - gpucc show ---------------------------------------===//
#include "Commands.h"
#include "CompileOptions.h"
#include "PlanText.h"
#include "gpucc/Pipelines/Compile.h"

#include <cstdio>

using namespace gpucc;
using namespace gpucc::tool;

namespace {
struct Arguments {
  std::shared_ptr<CompileFlags> flags;
  PlanTextOptions text;
};

int show(Arguments &a) {
  const std::string &path = a.flags->options.model;
  if (isPlanFile(path)) {
    if (int code = a.flags->refuseForPlan([](const std::string &) { return false; }))
      return code;
    return printPlan(path, a.text);
  }
  if (a.text.kernels || a.text.memory || !a.text.json.empty())
    return fail(2, "--kernels, --memory and --json look into plans; compile the model first");
  if (int code = a.flags->finish())
    return code;
  Compilation compilation(a.flags->options);
  if (int code = compilation.runTo(Phase::Graph))
    return code;
  std::string text = compilation.print();
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}
} // namespace

Command tool::addShow(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  a->flags = addCompileFlags(app);
  app.add_option("model", a->flags->options.model, "a model (its graph IR) or a plan")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_flag(
      "--kernels", a->text.kernels,
      "kernels: launches, registers, shared memory, spills, matrix instructions, CUDA text");
  app.add_flag("--memory", a->text.memory, "arenas, largest buffers, peak");
  app.add_option("--json", a->text.json, "write the table as JSON (-: to stdout)");
  app.footer("\nexamples\n  gpucc show model.onnx\n  gpucc show model.plan --kernels\n"
             "  gpucc show model.plan --memory --json memory.json");
  return [a] { return show(*a); };
}
