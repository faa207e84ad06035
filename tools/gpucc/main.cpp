//===- main.cpp - gpucc: the compiler for people --------------------------===//
#include "Commands.h"
#include "CompileOptions.h"
#include "Output.h"

#include <csignal>
#include <cstdio>

static const char *const examples = R"(
examples
  gpucc compile model.onnx -o model.plan                    for this CPU
  gpucc compile model.onnx --target cuda:sm_90a -o m.plan   for a GPU (none is needed here)
  gpucc run model.plan --inputs in.npz --outputs out.npz
  gpucc check model.onnx                                    compiled result against the reference
  gpucc check model.onnx --target cuda:sm_90a               the CUDA kernels, executed on the CPU
  gpucc compile net.onnx --train --optimizer adamw --lr 1e-3 -o net.plan
  gpucc train net.plan --data batches.npz --steps 100 --save run
  gpucc check net.onnx --train --ranks 4 --pin dp=2,tp=2    is the parallel plan right?
  gpucc explain net.plan                                    what, why, what else
  gpucc plan -w llama-3-8b -m h100 -n 64 -b 128             layout of a model on 64 GPUs (none needed)
  gpucc simulate -w llama-3-8b -m h100 -n 8 --pin zero=3    time, memory, where they go

exit codes
  0 fine, 1 comparison failed or does not fit in memory, 2 bad input or usage, 3 unsupported model)";

int main(int argc, char **argv) {
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like a full disk
  CLI::App app{"gpucc: models to plans of fused kernels, for one GPU, many, or this CPU", "gpucc"};
  app.footer(examples);
  app.set_version_flag("--version", "gpucc " GPUCC_VERSION);
  app.require_subcommand(1);
  struct Entry {
    const char *name, *summary;
    gpucc::tool::Command (*add)(CLI::App &);
    gpucc::tool::Command command;
    CLI::App *app;
  };
  Entry entries[] = {
      {"compile", "make a plan from a model", gpucc::tool::addCompile, {}, nullptr},
      {"run", "run a plan or a model", gpucc::tool::addRun, {}, nullptr},
      {"check",
       "compare with the reference, or partitioned with unpartitioned",
       gpucc::tool::addCheck,
       {},
       nullptr},
      {"train", "train a plan made with --train", gpucc::tool::addTrain, {}, nullptr},
      {"explain",
       "what a plan does and why, what else was considered",
       gpucc::tool::addExplain,
       {},
       nullptr},
      {"show", "look into a model or plan", gpucc::tool::addShow, {}, nullptr},
      {"simulate", "what a training step takes on a machine, without one", gpucc::tool::addSimulate,
       {}, nullptr},
      {"plan", "search the layout of a training step", gpucc::tool::addPlan, {}, nullptr},
      {"schedule", "pipeline schedules: print, check, draw", gpucc::tool::addSchedule, {}, nullptr},
      {"topo", "what a node is wired like, what is wrong with it, which ring collectives take",
       gpucc::tool::addTopo, {}, nullptr},
      {"completion", "print a shell completion script", gpucc::tool::addCompletion, {}, nullptr},
  };
  for (Entry &e : entries) {
    e.app = app.add_subcommand(e.name, e.summary);
    e.command = e.add(*e.app);
  }
  std::string known;
  bool isKnown = argc < 2 || argv[1][0] == '-';
  for (const Entry &e : entries) {
    known += std::string(known.empty() ? "" : ", ") + e.name;
    isKnown |= !isKnown && std::string(argv[1]) == e.name;
  }
  if (!isKnown)
    return gpucc::tool::fail(2, "no command '" + std::string(argv[1]) + "'; there are " + known +
                                    "; gpucc --help shows examples");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  for (Entry &e : entries) {
    if (!e.app->parsed())
      continue;
    CLI::Option *json = e.app->get_option_no_throw("--json");
    if (json && json->count() && json->as<std::string>() == "-")
      gpucc::tool::textToStderr();
    return e.command();
  }
  return 2;
}
