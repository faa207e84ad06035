//===- Phases.cpp - which passes, in which order, and why -----------------===//
//
// The order of passes and the reason for each place (docs/conventions.md says what each phase holds).
//
//===----------------------------------------------------------------------===//
#include "Phases.h"

#include "gpucc/Pipelines/Compile.h"

#include "gpucc/Conversion/GraphToKernel/Passes.h"
#include "gpucc/Conversion/GraphToSched/Passes.h"
#include "gpucc/Conversion/SchedToPlan/Passes.h"
#include "gpucc/Transforms/Dist/Passes.h"
#include "gpucc/Transforms/Fusion/Passes.h"
#include "gpucc/Transforms/Graph/Passes.h"
#include "gpucc/Transforms/Memory/Passes.h"
#include "gpucc/Transforms/Planning/Passes.h"
#include "gpucc/Transforms/Training/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace gpucc;

/// Import has bound the profiles: shapes are static. Composites are raised before differentiation and
/// sharding, which are better on composites.
static void buildGraphPhase(OpPassManager &pm, const CompileOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createFoldConstants());
  function.addPass(createCheckIndices()); // before rewrites give ops other places
  function.addPass(createSimplifyGraph());
  function.addPass(createCSEPass());
  function.addPass(createRaiseComposites());
  function.addPass(createSimplifyGraph());
  function.addPass(createCSEPass());
  // Folded filters are constants, which neither ranks share nor a lower precision converts for free.
  bool wide = options.precision == "f32" || options.precision == "tf32";
  if (!options.train && options.ranks == 1 && wide) {
    FoldWeightsOptions fold;
    fold.folder = options.modelFolder;
    function.addPass(createFoldWeights(fold));
  }
  pm.addPass(createVerifyPhaseGraph());
}

/// Mixed precision first, so that backward inherits the types and masters stay f32; CSE last, because the
/// search must see what backward really computes.
static void buildTrainPhase(OpPassManager &pm, const CompileOptions &options, bool trial = false) {
  MixedPrecisionOptions precision;
  precision.precision = options.precision;
  if (!options.train) {
    pm.addPass(createMixedPrecision(precision));
    if (trial)
      pm.addPass(createMarkSegments());
    return;
  }
  const TrainSpec &train = *options.train;
  FreezeParametersOptions freeze;
  freeze.patterns.assign(train.freeze.begin(), train.freeze.end());
  pm.addPass(createFreezeParameters(freeze));
  // Before mixed precision, whose casts would hide the weight; before stages and derivatives, so
  // that the pieces have their own.
  if (!trial && options.pins.tp.value_or(1) > 1) {
    SplitFusedProjectionsOptions split;
    split.remarks = options.remarks;
    pm.addPass(createSplitFusedProjections(split));
  }
  pm.addPass(createMixedPrecision(precision));
  pm.addPass(createNumberSamples());
  DifferentiateOptions differentiate;
  differentiate.loss = train.loss;
  differentiate.ignoreIndex = train.ignoreIndex;
  if (trial) { // handed on likewise
    pm.addPass(createMarkSegments());
  } else if (options.pins.pp.value_or(1) > 1) { // before differentiation, which hands the stage on
    AssignStagesOptions stages;
    stages.stages = *options.pins.pp;
    pm.addPass(createAssignStages(stages));
  }
  pm.addPass(createDifferentiate(differentiate));
  AddOptimizerOptions optimizer;
  optimizer.optimizer = train.optimizer;
  optimizer.learningRate = train.learningRate;
  optimizer.momentum = train.momentum;
  optimizer.weightDecay = train.weightDecay;
  optimizer.beta1 = train.beta1;
  optimizer.beta2 = train.beta2;
  optimizer.epsilon = train.epsilon;
  optimizer.clipNorm = train.clipNorm;
  optimizer.schedule = train.schedule;
  pm.addPass(createAddOptimizer(optimizer));
  // Derivatives compute with constants (x^3 gives 3 x^(3 - 1)): unfolded, these tie layers together.
  pm.addNestedPass<func::FuncOp>(createFoldConstants());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  if (!trial)
    pm.addPass(createVerifyPhaseTrain());
}

/// No canonicalizer between propagate and partition: it would lose shardings.
static void buildDistPhase(OpPassManager &pm, const CompileOptions &options) {
  if (options.ranks == 1)
    return;
  const Pins &pins = options.pins;
  PropagateOptions propagate;
  propagate.tensorParallel = pins.tp.value_or(1);
  propagate.stages = pins.pp.value_or(1);
  propagate.dataParallel =
      pins.dp.value_or(options.ranks / (propagate.tensorParallel * propagate.stages));
  propagate.sequence = pins.sequence.value_or(false) ? "on" : "off";
  propagate.zero = static_cast<int>(pins.zero.value_or(0));
  propagate.microBatches =
      pins.microBatches.value_or(1) * (options.train ? options.train->accumulate : 1);
  pm.addPass(createPropagate(propagate));
  if (options.train) { // stages first: meshes are per stage, then SPMD
    CutStagesOptions cut;
    cut.microBatches = propagate.microBatches;
    cut.schedule = pins.schedule.value_or("1f1b");
    pm.addPass(createCutStages(cut));
  }
  pm.addPass(createPartition());
  // Before fusion, so that packing and the transposes of collectives fuse.
  pm.addPass(createBucketCollectives());
  pm.addPass(createOverlapCollectives());
  pm.addPass(createLowerStageReductions());
  pm.addPass(createPrepareCollectives());
  pm.addPass(createVerifyPhaseDist());
  pm.addPass(createVerifyCollectives()); // a proof, not a check of the compiler: always
}

/// On the shapes that execute. Fusion after partition, so that pack and unpack around collectives fuse.
static void buildFusePhase(OpPassManager &pm, const CompileOptions &options) {
  std::string target = options.target.cuda ? "cuda" : "host";
  PrepareFusionOptions prepare;
  prepare.target = target;
  pm.addNestedPass<func::FuncOp>(createPrepareFusion(prepare));
  FuseOptions fuse;
  fuse.target = target;
  fuse.remarks = options.remarks;
  pm.addNestedPass<func::FuncOp>(createFuse(fuse));
  pm.addPass(createVerifyPhaseFuse());
}

/// On clusters: only what is materialised counts, and the clones are the same kernels. No CSE from here
/// on: it would merge them with their originals.
void gpucc::buildRecompute(OpPassManager &pm, const RecomputeRequest &request,
                           const CompileOptions &options) {
  if (!request.any())
    return;
  InsertRecomputeOptions recompute;
  recompute.memoryBudget = request.memory;
  recompute.activationBudget = request.activations;
  recompute.leastOtherwise = request.leastOtherwise;
  recompute.remarks = options.remarks;
  pm.addPass(createInsertRecompute(recompute));
  pm.addPass(createVerifyPhaseFuse());
}

/// Identical clusters share one kernel.
static void buildKernelPhase(OpPassManager &pm, const CompileOptions &options) {
  OutlineKernelsOptions outline;
  outline.target = options.target.cuda ? "cuda" : "host";
  pm.addPass(createOutlineKernels(outline));
  pm.addPass(createVerifyPhaseKernel());
}

/// The last view of values: what fusion and recomputation have left is what takes memory.
static void buildSchedPhase(OpPassManager &pm, const CompileOptions &options) {
  OrderOptions order;
  order.remarks = options.remarks;
  pm.addNestedPass<func::FuncOp>(createOrder(order));
  pm.addPass(createGraphToSched());
  pm.addPass(createVerifyPhaseSched());
}

/// Offsets last: what an asynchronous collective touches lives until it is waited for.
static void buildPlanPhase(OpPassManager &pm) {
  pm.addPass(createSchedToPlan());
  pm.addPass(createVerifyPhasePlan());
  pm.addPass(createVerifyPlanCollectives()); // of the commands that will run, with their scripts
}

void gpucc::buildTrial(OpPassManager &pm, const CompileOptions &options) {
  buildGraphPhase(pm, options);
  buildTrainPhase(pm, options, true);
}

void gpucc::buildPhase(OpPassManager &pm, Phase phase, const CompileOptions &options) {
  switch (phase) {
  case Phase::Frontend:
    return;
  case Phase::Graph:
    return buildGraphPhase(pm, options);
  case Phase::Train:
    return buildTrainPhase(pm, options);
  case Phase::Dist:
    return buildDistPhase(pm, options);
  case Phase::Fuse:
    return buildFusePhase(pm, options);
  case Phase::Kernel:
    return buildKernelPhase(pm, options);
  case Phase::Sched:
    return buildSchedPhase(pm, options);
  case Phase::Plan:
    return buildPlanPhase(pm);
  }
}

void gpucc::registerPhasePipelines() {
  for (Phase phase : {Phase::Graph, Phase::Train, Phase::Dist, Phase::Fuse, Phase::Kernel,
                      Phase::Sched, Phase::Plan}) {
    std::string flag = std::string("gpucc-phase-") + name(phase);
    registerPassPipeline(
        flag, "what gpucc runs to reach this phase",
        [phase](OpPassManager &pm, StringRef, function_ref<LogicalResult(const Twine &)>) {
          CompileOptions options;
          if (phase == Phase::Train)
            options.train.emplace();
          buildPhase(pm, phase, options);
          return success();
        },
        [](function_ref<void(const mlir::detail::PassOptions &)>) {});
  }
}
