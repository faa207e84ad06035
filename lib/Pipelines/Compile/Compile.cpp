//===- Compile.cpp - from a model file to a plan file ---------------------===//
#include "gpucc/Pipelines/Compile.h"

#include "CheckOptions.h"
#include "ChooseLayout.h"
#include "CodeTypes.h"
#include "Cut.h"
#include "Diagnostics.h"
#include "FitBudget.h"
#include "Kernels.h"
#include "Phases.h"
#include "dialects/Base/ModuleAttrs.h"
#include "dialects/Base/VaryingAttrs.h"
#include "dialects/Frontend/Frontend.h"
#include "dialects/Plan/Plan.h"
#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#include "gpucc/Import/Onnx.h"
#include "gpucc/Pipelines/Register.h"
#include "gpucc/Reference/Evaluator.h"
#include "gpucc/Target/Cuda/Emit.h"
#include "gpucc/Target/Host/Host.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace gpucc;

struct Compilation::State {
  CompileOptions options;
  CompileHooks hooks;
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<ConsoleDiagnostics> diagnostics;
  OwningOpRef<ModuleOp> module;
  std::string folder;
  Phase reached = Phase::Frontend;
  std::vector<KernelReport> kernels;
  LayoutChoice layout; ///< empty without --machine
  LayoutExperience experience;
  std::string recomputation; ///< JSON; what the budget led to
  std::string partitionHash; ///< of the module at the end of Phase::Dist
  std::optional<MemoryShortage> shortage;

  /// Bytes to graph functions; the exit code.
  int load(Phase phase);
  /// What --machine asks for, written into the options; the exit code.
  int search();
  /// Loads and runs the phases; a plan that needs too much leaves `shortage` and is not reported.
  int runPhases(Phase phase);
  /// With a machine: layouts until the plan of one fits; the exit code.
  int searchAndRun(Phase phase);
  /// The end of Phase::Fuse, or all up to Phase::Plan: within the memory that there is.
  int fitMemory(Phase phase);
  /// Explanation for the plan: the search's and the budget's words.
  std::string explanation() const;

  void say(const std::string &line) {
    if (hooks.progress)
      hooks.progress(line);
  }
};

Compilation::Compilation(CompileOptions options, CompileHooks hooks)
    : state(std::make_unique<State>()) {
  state->options = std::move(options);
  state->hooks = std::move(hooks);
  registerAllDialects(state->registry);
  cuda::registerCudaTarget(state->registry);
  // One thread per job: results do not depend on it, only the order of remarks would.
  state->context = std::make_unique<MLIRContext>(state->registry, MLIRContext::Threading::DISABLED);
  state->diagnostics = std::make_unique<ConsoleDiagnostics>(state->context.get(), state->hooks.quiet);
}

Compilation::~Compilation() = default;

ModuleOp Compilation::module() const { return *state->module; }
const std::string &Compilation::folder() const { return state->folder; }
const CompileOptions &Compilation::options() const { return state->options; }
const std::string &Compilation::layout() const { return state->layout.layout; }
const std::vector<KernelReport> &Compilation::kernels() const { return state->kernels; }

std::string Compilation::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16);
  state->module->print(os, flags);
  os << '\n';
  return text;
}

/// Name of the first dimension of the model's inputs, "" when it is a number everywhere.
static std::string batchSymbol(ModuleOp module) {
  std::string symbol;
  module.walk([&](frontend::GraphOp graph) {
    for (Attribute dims : graph.getDims()) {
      auto names = cast<ArrayAttr>(dims);
      if (symbol.empty() && !names.empty())
        symbol = cast<StringAttr>(names[0]).str();
    }
  });
  return symbol;
}

/// Micro-batches divide the model's batch: the graph is made for one of them.
static LogicalResult divideBatch(ModuleOp module, int64_t parts, ConversionOptions &conversion) {
  if (parts == 1)
    return success();
  std::string symbol = batchSymbol(module);
  if (symbol.empty())
    return module.emitError() << "the model's batch dimension is a fixed number, so it cannot be "
                                 "split into "
                              << parts
                              << " micro-batches; export it with a symbolic batch dimension";
  for (ProfileBinding &profile : conversion.profiles) {
    auto it = profile.sizes.find(symbol);
    if (it == profile.sizes.end() || it->second % parts)
      return module.emitError() << "a batch of " << (it == profile.sizes.end() ? 1 : it->second)
                                << " does not divide into " << parts
                                << " micro-batches; choose --profile " << symbol
                                << "=N with N a multiple of " << parts;
    it->second /= parts;
  }
  if (conversion.profiles.empty())
    return module.emitError() << "micro-batches need a batch size; give --profile " << symbol
                              << "=N with N a multiple of " << parts;
  return success();
}

static void countMicroBatches(ModuleOp module, const CompileOptions &options,
                              const std::string &batch) {
  if (!options.train)
    return;
  Builder b(module.getContext());
  module->setAttr(base::microBatchesAttr,
                  b.getI64IntegerAttr(options.pins.microBatches.value_or(1)));
  module->setAttr(base::accumulateAttr, b.getI64IntegerAttr(options.train->accumulate));
  if (!batch.empty())
    module->setAttr(base::batchAttr, b.getStringAttr(batch));
}

/// A result whose size a run computes is one rank's: the parts of several would not fit together.
static LogicalResult checkVaryingSizes(ModuleOp module, int64_t ranks) {
  for (auto f : module.getOps<func::FuncOp>())
    for (unsigned i = 0; ranks > 1 && i < f.getNumResults(); ++i)
      if (f.getResultAttr(i, base::varyingDimAttr))
        return f.emitError() << "the size of output " << f.getResultAttr(i, base::nameAttr)
                             << " depends on values of a run; such outputs are computed by one "
                                "rank, not by "
                             << ranks << ": compile without --ranks";
  return success();
}

int Compilation::State::load(Phase phase) {
  say("import " + options.model);
  OnnxOptions import;
  import.followLinks = options.followLinks;
  OnnxModel model = importOnnx(context.get(), options.model, import);
  folder = options.modelFolder = model.folder;
  if (model.status != frontend::Status::Ok)
    return frontend::exitCode(model.status);
  module = std::move(model.module);
  if (phase == Phase::Frontend)
    return 0;
  ConversionOptions conversion;
  for (const auto &[name, sizes] : options.profiles)
    conversion.profiles.push_back({name, sizes});
  conversion.train = options.train.has_value();
  conversion.folder = folder;
  if (failed(divideBatch(*module, options.pins.microBatches.value_or(1), conversion)))
    return 2;
  std::string batch = batchSymbol(*module);
  Conversion outcome = convertFrontendToGraph(*module, conversion);
  if (outcome.status != frontend::Status::Ok)
    return frontend::exitCode(outcome.status);
  if (failed(checkVaryingSizes(*module, options.ranks)))
    return 3;
  countMicroBatches(*module, options, batch);
  return 0;
}

/// On a copy of the model with one micro-batch: how many there shall be is one of the questions.
int Compilation::State::search() {
  Pins given = options.pins;
  options.pins.microBatches = 1;
  int code = load(Phase::Graph);
  options.pins = given;
  if (code)
    return code;
  say("search a layout for " + options.machine);
  LogicalResult found = chooseLayout(*module, options, experience, layout);
  module = {};
  if (failed(found))
    return 2;
  say("layout " + layout.layout);
  return 0;
}

int Compilation::State::fitMemory(Phase phase) {
  DeviceLimit device;
  if (!layout.machine.empty())
    device = {static_cast<int64_t>(layout.memoryLimit),
              "a device of " + layout.machine + ", beside driver and libraries"};
  FittedPlan plan;
  FitBudget fit(*module, options, device, [this](const std::string &line) { say(line); });
  if (failed(fit.run(plan, shortage)))
    return 2;
  recomputation = plan.report;
  if (phase == Phase::Plan) {
    module = std::move(plan.module);
    reached = Phase::Plan;
    return 0;
  }
  // An earlier phase was asked for: the IR on the way to that very plan.
  PassManager pm(context.get());
  buildRecompute(pm, plan.request, options);
  return failed(pm.run(*module)) ? 2 : 0;
}

/// Of the text without locations: what every target makes its plan from, so plans with equal hashes
/// are of the same partition.
static std::string hashOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

int Compilation::State::runPhases(Phase phase) {
  if (!module)
    if (int code = load(phase))
      return code;
  bool limited = !layout.machine.empty() || !options.memoryBudget.empty();
  while (reached < phase) {
    auto next = static_cast<Phase>(static_cast<int>(reached) + 1);
    say(std::string("phase ") + name(next));
    if (next == Phase::Fuse && options.target.cuda &&
        failed(verifyArchitectures(*module, options.target.archs)))
      return 3;
    PassManager pm(context.get());
    buildPhase(pm, next, options);
    if (failed(pm.run(*module)))
      return 2;
    reached = next;
    if (next == Phase::Dist)
      partitionHash = hashOf(*module);
    if (next == Phase::Fuse && limited)
      if (int code = fitMemory(phase))
        return code;
  }
  return 0;
}

int Compilation::State::searchAndRun(Phase phase) {
  constexpr int retries = 3;
  const CompileOptions asked = options;
  std::optional<MemoryShortage> least; // of the layouts tried
  std::vector<std::string> words;      // of a search that finds nothing more
  for (int i = 0; i <= retries; ++i) {
    options = asked;
    int code = 0;
    {
      ScopedDiagnosticHandler hold(context.get(), [&](Diagnostic &d) {
        if (!least || d.getSeverity() != DiagnosticSeverity::Error)
          return failure(); // not ours: it is printed
        words.push_back("no other layout was found: " + d.str());
        return success();
      });
      code = search();
    }
    if (code && least)
      break;
    if (!code)
      code = runPhases(phase);
    if (!shortage)
      return code;
    int64_t needed = shortage->least.bytes;
    experience.underestimate =
        std::max(experience.underestimate, static_cast<double>(needed) - layout.predictedMemory);
    experience.attempts.push_back(layout.layout.substr(0, layout.layout.find(" (of")) + " needs " +
                                  std::to_string(needed) + " bytes, " +
                                  std::to_string(static_cast<int64_t>(layout.predictedMemory)) +
                                  " were expected");
    say(experience.attempts.back());
    if (!least || needed < least->least.bytes)
      least = std::move(shortage);
    shortage.reset();
    module = {};
    reached = Phase::Frontend;
  }
  std::vector<std::string> notes;
  for (const std::string &attempt : experience.attempts)
    notes.push_back("tried: " + attempt);
  notes.insert(notes.end(), words.begin(), words.end());
  module = ModuleOp::create(UnknownLoc::get(context.get()));
  least->emit(*module, notes);
  return 2;
}

int Compilation::runTo(Phase phase) {
  State &s = *state;
  if (std::string problem = s.module ? "" : checkOptions(s.options); !problem.empty()) {
    emitError(UnknownLoc::get(s.context.get())) << problem;
    return 2;
  }
  if (!s.module && !s.options.machine.empty() && phase > Phase::Graph)
    return s.searchAndRun(phase);
  int code = s.runPhases(phase);
  if (s.shortage)
    s.shortage->emit(*s.module);
  return code;
}

int Compilation::convert() {
  if (std::string problem = checkOptions(state->options); !problem.empty()) {
    emitError(UnknownLoc::get(state->context.get())) << problem;
    return 2;
  }
  return state->load(Phase::Graph);
}

std::string Compilation::State::explanation() const {
  if (recomputation.empty())
    return layout.explanation;
  nlohmann::json json = layout.explanation.empty()
                            ? nlohmann::json::object()
                            : nlohmann::json::parse(layout.explanation, nullptr, false);
  json["memory limit"] = nlohmann::json::parse(recomputation, nullptr, false);
  return json.dump();
}

/// Compiles the kernels of a module at Phase::Plan and writes the file.
static LogicalResult finishPlan(ModuleOp module, const CompileOptions &options,
                                const std::string &folder, const std::string &path,
                                std::vector<KernelReport> &kernels,
                                const std::string &explanation = "",
                                const std::string &partitionHash = "") {
  KernelCode code;
  if (failed(compileKernels(module, options, code, kernels)))
    return failure();
  module->walk([&](plan::LaunchOp launch) {
    for (KernelReport &k : kernels)
      k.launches += k.name == launch.getKernel();
  });
  PlanOptions plan;
  plan.producer = "gpucc " GPUCC_VERSION;
  plan.model = llvm::sys::path::stem(options.model).str();
  plan.modelFolder = folder;
  plan.cuda = options.target.cuda;
  plan.architectures = options.target.archs;
  if (!plan.cuda)
    plan.architectures = {options.target.cpuLevel.empty() ? host::getNativeCpuLevel()
                                                          : options.target.cpuLevel};
  plan.training = options.train.has_value();
  plan.externalWeights = options.externalWeights;
  plan.explanation = explanation;
  plan.partitionHash = partitionHash;
  return gpucc::writePlan(module, code, plan, path);
}

int Compilation::writePlan(const std::string &path) {
  State &s = *state;
  s.say("kernels, then " + path);
  return failed(finishPlan(*s.module, s.options, s.folder, path, s.kernels, s.explanation(),
                           s.partitionHash))
             ? 2
             : 0;
}

size_t Compilation::countOps() const {
  auto main = state->module->lookupSymbol<func::FuncOp>("main");
  return main ? gpucc::countOps(main) : 0;
}

std::string Compilation::cutAfter(size_t count) {
  return gpucc::cutAfter(state->module->lookupSymbol<func::FuncOp>("main"), count);
}

int gpucc::compileGraphModule(ModuleOp module, const CompileOptions &options,
                              const std::string &folder, const std::string &path,
                              std::string &error) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error && error.empty())
      error = d.str();
    return success();
  });
  DialectRegistry registry;
  registerAllDialects(registry);
  cuda::registerCudaTarget(registry);
  module.getContext()->appendDialectRegistry(registry);
  if (options.target.cuda && failed(verifyArchitectures(module, options.target.archs)))
    return 3;
  PassManager pm(module.getContext());
  CompileOptions located = options;
  located.modelFolder = folder;
  for (Phase phase : {Phase::Graph, Phase::Fuse, Phase::Kernel, Phase::Sched, Phase::Plan})
    buildPhase(pm, phase, located);
  std::vector<KernelReport> kernels;
  bool ok =
      succeeded(pm.run(module)) && succeeded(finishPlan(module, options, folder, path, kernels));
  return ok ? 0 : 2;
}

int Compilation::evaluate(const std::map<std::string, HostTensor> &arguments,
                          std::map<std::string, HostTensor> &results, const std::string &function) {
  auto f = state->module->lookupSymbol<func::FuncOp>(function);
  if (!f) {
    state->module->emitError() << "there is no function @" << function << " to evaluate";
    return 2;
  }
  SmallVector<HostTensor> values;
  for (unsigned i = 0; i < f.getNumArguments(); ++i) {
    auto name = f.getArgAttrOfType<StringAttr>(i, base::nameAttr);
    auto it = name ? arguments.find(name.str()) : arguments.end();
    if (it == arguments.end()) {
      f.emitError() << "argument " << i << " ('" << (name ? name.getValue() : "")
                    << "') was not given a value";
      return 2;
    }
    values.push_back(it->second);
  }
  FileWeights weights(state->folder);
  FailureOr<SmallVector<HostTensor>> outcome = evaluateFunction(f, values, weights);
  if (failed(outcome) || failed(cutToSize(f, *outcome)))
    return 2;
  for (unsigned i = 0; i < f.getNumResults(); ++i)
    if (auto name = f.getResultAttrOfType<StringAttr>(i, base::nameAttr))
      results[name.str()] = (*outcome)[i];
  return 0;
}
