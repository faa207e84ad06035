//===- CompileOptions.cpp - flags that several subcommands share ----------===//
#include "CompileOptions.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace gpucc;
using namespace gpucc::tool;

int tool::fail(int code, const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}

void tool::progress(const std::string &line) {
  if (isatty(2))
    std::fprintf(stderr, "\r\033[K%.100s", line.empty() ? "" : ("gpucc: " + line + " ...").c_str());
}

void tool::useEmulationIfNeeded(CompileOptions &options) {
  auto &archs = options.target.archs;
  if (!options.target.cuda || std::find(archs.begin(), archs.end(), "simt") != archs.end())
    return;
  void *driver = std::getenv("GPUCC_LIBCUDA") ? nullptr : dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver)
    archs.push_back("simt");
}

bool tool::isPlanFile(const std::string &path) {
  char magic[8] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  return std::memcmp(magic, "GPUCCPLN", sizeof(magic)) == 0;
}

std::shared_ptr<CompileFlags> tool::addCompileFlags(CLI::App &app) {
  auto f = std::make_shared<CompileFlags>();
  std::vector<CLI::Option *> before = app.get_options();
  CompileOptions &o = f->options;
  app.add_option("--target", f->target,
                 "host | host:x86-64-v3 | host:x86-64-v4 | cuda:sm_90a[,sm_80,...,simt]")
      ->capture_default_str();
  app.add_option("--profile", f->profiles,
                 "sizes of symbolic dimensions, as batch=8,seq=128; several profiles may be given")
      ->take_all();
  app.add_option("--precision", o.precision, "f32 | tf32 | bf16 | f16 | mixed-bf16")
      ->check(CLI::IsMember({"f32", "tf32", "bf16", "f16", "mixed-bf16"}))
      ->capture_default_str();
  app.add_option("--jobs", o.jobs, "kernels compiled at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--ranks", f->ranks,
                 "ranks of the plan (default: 1, with --machine all its devices)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option(
      "--pin", f->pins,
      "fixed parts of the layout: dp=2,tp=2,sp=on,pp=1,zero=1,schedule=1f1b,micro-batches=4");
  app.add_option("--machine", o.machine,
                 "search the layout for a machine: h100, a100-80gb, v100 (8 devices; h100-8x4: "
                 "four nodes), or a file.yaml");
  app.add_option("--dump-problem", o.dumpProblem, "write what the search looks at as JSON")
      ->group("");
  app.add_option("--memory-budget", o.memoryBudget,
                 "device bytes per rank (as 12GiB): a plan that needs more is refused; training recomputes "
                 "to hold it, and may give a ratio of the bytes without recomputation (0.5); "
                 "activations=0.5 limits only the bytes that forward keeps for backward");
  app.add_option("--cache", o.cacheFolder, "folder of compiled kernels");
  app.add_flag("--external-weights", o.externalWeights,
               "refer to weight files beside the plan instead of copying them");
  app.add_flag("--follow-links", o.followLinks,
               "external data may be links out of the model's folder");
  app.add_flag("--remarks", o.remarks, "say what passes chose and why");
  CLI::Option_group *train = app.add_option_group("training");
  train->add_flag("--train", f->training, "make a training step of the model");
  // All of this group but --train itself mean nothing without it (checked in finish).
  train->add_option("--loss", f->train.loss, "cross-entropy | mse | output:NAME | output-sum:NAME")
      ->capture_default_str();
  train->add_option("--optimizer", f->train.optimizer, "sgd | adamw")
      ->check(CLI::IsMember({"sgd", "adamw"}))
      ->capture_default_str();
  train->add_option("--lr", f->train.learningRate, "learning rate")->capture_default_str();
  train->add_option("--momentum", f->train.momentum, "of sgd")->capture_default_str();
  train->add_option("--weight-decay", f->train.weightDecay, "pull toward zero")
      ->capture_default_str();
  train->add_option("--accumulate", f->train.accumulate, "batches per optimizer step")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  train
      ->add_option("--clip-norm", f->train.clipNorm,
                   "greatest global norm of the gradient; 0: none")
      ->capture_default_str();
  train->add_option("--lr-schedule", f->train.schedule, "constant | warmup:W | cosine:W:T[:MIN]")
      ->capture_default_str();
  train->add_option("--freeze", f->train.freeze,
                    "pattern of parameters not to train; may be repeated");
  train->add_option("--ignore-index", f->train.ignoreIndex, "label that does not count")
      ->capture_default_str();
  for (const CLI::Option *option : train->get_options())
    if (option->get_name() != "--train")
      f->trainingOptions.push_back(option);
  for (const CLI::Option *option : app.get_options())
    if (std::find(before.begin(), before.end(), option) == before.end())
      f->all.push_back(option);
  for (const CLI::Option *option : train->get_options())
    f->all.push_back(option);
  return f;
}

int CompileFlags::refuseForPlan(const std::function<bool(const std::string &)> &allowed) const {
  for (const CLI::Option *option : all)
    if (option->count() > 0 && !allowed(option->get_name()))
      return fail(2, option->get_name() + ": found a plan ('" + options.model +
                         "'), which was compiled already; this option is allowed with a model: "
                         "compile that with it, or "
                         "leave the option out");
  return 0;
}

/// Where wheels of CUDA libraries lie: the Python environment of the build, next to the program,
/// and the active one.
static std::vector<std::string> wheelFolders() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> environments;
  fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  environments.push_back(program.parent_path().parent_path() / "venv");
  if (const char *active = std::getenv("VIRTUAL_ENV"))
    environments.push_back(active);
  std::vector<std::string> folders;
  for (const fs::path &environment : environments)
    for (const fs::directory_entry &python : fs::directory_iterator(environment / "lib", ignored))
      folders.push_back((python.path() / "site-packages").string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

int CompileFlags::finishProfiles() {
  std::string error;
  options.profiles.clear();
  for (size_t i = 0; i < profiles.size(); ++i) {
    auto sizes = parseSizes(profiles[i], error);
    if (!sizes)
      return fail(2, "--profile: " + error);
    for (const auto &[name, others] : options.profiles)
      if (others == *sizes)
        return fail(2, "--profile: '" + profiles[i] +
                           "' is given twice; each profile is allowed once: remove one");
    for (const auto &[symbol, size] : *sizes)
      if (training && size == 0)
        return fail(2, "--profile: '" + profiles[i] +
                           "' has no samples; a training step needs sizes of at least 1: choose "
                           "another " +
                           symbol);
    options.profiles.push_back({"p" + std::to_string(i), *sizes});
  }
  if (training && profiles.size() > 1)
    return fail(2, "--profile: found " + std::to_string(profiles.size()) +
                       " profiles; a training step is compiled for one: give one --profile, and "
                       "make a plan for each");
  return 0;
}

int CompileFlags::finish() {
  std::string error;
  options.libraryFolders = wheelFolders();
  std::optional<TargetSpec> parsed = TargetSpec::parse(target, error);
  if (!parsed)
    return fail(2, "--target: " + error);
  options.target = *parsed;
  std::optional<Pins> parsedPins = Pins::parse(pins, error);
  if (!parsedPins)
    return fail(2, "--pin: " + error);
  options.pins = *parsedPins;
  if (int code = finishProfiles())
    return code;
  if (!training)
    for (const CLI::Option *option : trainingOptions)
      if (option->count() > 0)
        return fail(2, option->get_name() + " belongs to training; add --train");
  for (const CLI::Option *option : trainingOptions)
    if (option->get_name() == "--momentum" && option->count() > 0 && train.optimizer != "sgd")
      return fail(2, "--momentum: found with --optimizer " + train.optimizer +
                         ", which takes none; it is allowed with sgd: leave it out, or choose "
                         "--optimizer sgd");
  if (std::string problem = train.check(); training && !problem.empty())
    return fail(2, problem);
  if (!options.machine.empty()) { // the search checks pins against the ranks, and says which rule
    options.ranks = ranks;
    options.train = training ? std::optional<TrainSpec>(train) : std::nullopt;
    return 0;
  }
  options.ranks = std::max<int64_t>(ranks, 1);
  int64_t fixed =
      options.pins.dp.value_or(1) * options.pins.tp.value_or(1) * options.pins.pp.value_or(1);
  if (options.ranks % fixed ||
      (options.pins.dp && options.pins.tp && options.pins.pp && options.ranks != fixed))
    return fail(2, "--pin " + options.pins.dump() + " needs " + std::to_string(fixed) +
                       " ranks or, where dp is free, a multiple; --ranks is " +
                       std::to_string(options.ranks));
  if (training)
    options.train = train;
  else if (!pins.empty() &&
           (options.pins.zero || options.pins.schedule || options.pins.microBatches))
    return fail(2, "--pin zero, schedule and micro-batches belong to training; add --train");
  return 0;
}
