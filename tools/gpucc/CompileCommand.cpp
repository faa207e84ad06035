//===- CompileCommand.cpp - gpucc compile ---------------------------------===//
#include "Commands.h"
#include "CompileOptions.h"
#include "PlanSource.h"
#include "gpucc/CostModel/Machine.h"
#include "gpucc/Pipelines/Compile.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

using namespace gpucc;
using namespace gpucc::tool;

namespace {
struct Arguments {
  std::shared_ptr<CompileFlags> flags;
  std::string output, compileTo;
  bool noPack = false;

  /// For the CPU that this is; a named level means another one.
  bool packs() const {
    const CompileOptions &o = flags->options;
    return !noPack && !o.target.cuda && o.target.cpuLevel.empty() && !o.train;
  }
};

/// What --target may be for the devices of a machine.
std::string targetOf(const std::string &machine) {
  static const std::map<std::string, std::string> architectures = {{"turing", "sm_75"},
                                                                   {"ampere", "sm_80"},
                                                                   {"ada", "sm_89"},
                                                                   {"hopper", "sm_90a"},
                                                                   {"blackwell", "sm_100a"}};
  cost::MachineOrError loaded = cost::loadMachine(machine);
  const auto *known = std::get_if<cost::Machine>(&loaded);
  auto it = architectures.find(known ? known->device.architecture : "");
  return "cuda:" + (it == architectures.end() ? "ARCH" : it->second);
}

/// The IR after a phase, into the file or to stdout.
int compileTo(const Arguments &a, Compilation &compilation) {
  std::optional<Phase> phase = parsePhase(a.compileTo);
  if (!phase)
    return fail(2, "--compile-to '" + a.compileTo +
                       "' is none of: frontend graph train dist fuse kernel sched plan; choose "
                       "one of them");
  int code = compilation.runTo(*phase);
  progress("");
  if (code)
    return code;
  if (!compilation.layout().empty())
    std::fprintf(stderr, "layout: %s\n", compilation.layout().c_str());
  std::string text = compilation.print();
  if (a.output.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  std::ofstream file(a.output, std::ios::binary);
  if (!(file << text))
    return fail(2, "cannot write '" + a.output + "'");
  return 0;
}

int compile(Arguments &a) {
  if (int code = a.flags->finish())
    return code;
  const std::string &model = a.flags->options.model;
  std::string output = a.output;
  if (output.empty() && a.compileTo.empty())
    output = std::filesystem::path(model).replace_extension(".plan").string();
  std::error_code ignored;
  if (std::filesystem::equivalent(output, model, ignored))
    return fail(2, "the output would overwrite the model '" + output + "'; choose another -o");
  Compilation compilation(a.flags->options, {progress});
  if (!a.compileTo.empty())
    return compileTo(a, compilation);
  int code = compilation.runTo(Phase::Plan);
  if (!code && !compilation.layout().empty())
    std::printf("layout: %s\n", compilation.layout().c_str());
  if (!code)
    code = compilation.writePlan(output);
  if (!code && a.packs())
    if (auto s = gpucc_rt::Plan::pack(output))
      code = failed(s);
  progress("");
  if (code)
    return code;
  int64_t launches = 0;
  for (const KernelReport &k : compilation.kernels())
    launches += k.launches;
  std::printf("%s: target %s, %zu kernels, %lld launches\n", output.c_str(),
              a.flags->options.target.dump().c_str(), compilation.kernels().size(),
              static_cast<long long>(launches));
  if (!a.flags->options.machine.empty() && !a.flags->options.target.cuda)
    std::printf("note: with --target host the layout of %s runs on CPU ranks; for its GPUs add "
                "--target %s\n",
                a.flags->options.machine.c_str(), targetOf(a.flags->options.machine).c_str());
  if (a.flags->options.train)
    std::printf("next: gpucc train %s --data FILE.npz --steps N --save DIR    gpucc explain %s\n",
                output.c_str(), output.c_str());
  else
    std::printf("next: gpucc run %s    gpucc show %s --memory\n", output.c_str(), output.c_str());
  return 0;
}
} // namespace

Command tool::addCompile(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  a->flags = addCompileFlags(app);
  app.add_option("model", a->flags->options.model, "model.onnx")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("-o,--output", a->output, "the plan (default: the model's name with .plan)");
  app.add_flag("--no-pack", a->noPack,
               "leave weights as they are: a smaller plan, whose runs pack them for their CPU");
  app.add_option(
      "--compile-to", a->compileTo,
      "stop after a phase and print the IR: frontend graph train dist fuse kernel sched plan");
  app.footer(
      "\nexamples\n"
      "  gpucc compile resnet18.onnx --profile batch=1 --profile batch=8 -o resnet18.plan\n"
      "  gpucc compile gpt.onnx --profile batch=1,seq=128 --target cuda:sm_80,sm_90a\n"
      "  gpucc compile gpt.onnx --compile-to=fuse          the IR after fusion\n"
      "  gpucc compile gpt.onnx --train --optimizer adamw --ranks 4 --pin dp=2,tp=2 -o gpt.plan\n"
      "  gpucc compile gpt.onnx --train --machine h100 --profile batch=32,seq=1024    search the "
      "layout");
  return [a] { return compile(*a); };
}
