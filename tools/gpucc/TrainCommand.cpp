//===- TrainCommand.cpp - gpucc train -------------------------------------===//
#include "Commands.h"
#include "PlanSource.h"
#include "gpucc_rt/TrainLoop.h"

#include <cmath>
#include <cstdio>

using namespace gpucc;
using namespace gpucc::tool;

namespace {
struct Arguments {
  std::string plan, data, save, resume, driver;
  uint64_t steps = 1, saveEvery = 0;
  uint32_t ranks = 0, threads = 0;
};

int train(Arguments &a) {
  if (!isPlanFile(a.plan))
    return fail(2,
                "'" + a.plan + "' is no plan; make one: gpucc compile MODEL --train -o " + a.plan);
  gpucc_rt::Plan plan;
  if (auto s = gpucc_rt::Plan::open(a.plan, plan))
    return failed(s);
  if (!plan.info().training)
    return fail(2, "the plan is for inference; compile the model with --train");
  if (int code = checkRanks(a.ranks, plan))
    return code;
  std::vector<gpucc_rt::Array> data;
  if (auto s = gpucc_rt::readArrays(a.data, data))
    return failed(s);
  gpucc_rt::RankGroup group;
  gpucc_rt::GroupOptions options;
  options.driver = a.driver;
  options.threads = a.threads;
  if (auto s = group.open(plan, options))
    return failed(s);
  gpucc_rt::TrainOptions loop;
  loop.data = &data;
  loop.steps = a.steps;
  loop.saveFolder = a.save;
  loop.saveEvery = a.saveEvery;
  loop.resumeFolder = a.resume;
  loop.warning = [](const std::string &text) {
    std::fprintf(stderr, "warning: %s\n", text.c_str());
  };
  loop.progress = [said = false](const gpucc_rt::StepReport &report) mutable {
    std::printf("%s\n", gpucc_rt::formatStep(report).c_str());
    std::fflush(stdout);
    for (const auto &[name, value] : report.metrics)
      if (name == "loss" && !std::isfinite(value.value_or(NAN)) && !said) {
        said = true;
        std::fprintf(stderr,
                     "warning: the loss of step %llu is not finite: NaN or infinity in the data or "
                     "the weights, or every label ignored; look at the data, or lower --lr\n",
                     static_cast<unsigned long long>(report.step));
      }
  };
  gpucc_rt::TrainResult result;
  if (auto s = gpucc_rt::train(group, loop, result))
    return failed(s);
  if (!a.save.empty())
    std::printf("state: %s/state.safetensors    log: %s/log.jsonl\n", a.save.c_str(),
                a.save.c_str());
  return 0;
}
} // namespace

Command tool::addTrain(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  app.add_option("plan", a->plan, "plan made by gpucc compile --train")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--data", a->data,
                 "FILE.npz: arrays by input name plus `labels`, samples along the first dimension")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--steps", a->steps, "optimizer steps in all")
      ->required()
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--save", a->save, "folder for state.safetensors and log.jsonl")->required();
  app.add_option("--save-every", a->saveEvery, "steps between saves (default: at the end)");
  app.add_option("--resume", a->resume, "folder of an earlier run to go on from");
  app.add_option("--ranks", a->ranks, "must be the plan's number of ranks");
  app.add_option("--threads", a->threads, "threads per rank (default: cores / ranks)");
  app.add_option("--driver", a->driver, "host | cuda (default: the plan's target)");
  app.footer("\nexamples\n"
             "  gpucc train net.plan --data batches.npz --steps 100 --save run --save-every 10\n"
             "  gpucc train net.plan --data batches.npz --steps 200 --save run --resume run");
  return [a] { return train(*a); };
}
