//===- InsertRecompute.cpp - within a budget at least extra time ----------===//
//
// Looks at the solver's choices between "keep all" and "keep the least", works
// out for each what it would really do to the peak (RecomputeProblem), and
// takes the one with the least extra time that holds the budget. Each stage of a
// pipeline chooses for itself: the budget is that of a rank.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Memory/Passes.h"

#include "RecomputeReport.h"
#include "StageMemory.h"
#include "gpucc/Transforms/Memory/Budget.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

namespace gpucc {
#define GEN_PASS_DEF_INSERTRECOMPUTE
#include "lib/Transforms/Memory/Passes.h.inc"
} // namespace gpucc

/// Choices between keeping the least and keeping all.
static std::vector<Outcome> candidates(const RecomputeProblem &problem, int points) {
  solvers::KeepOptions options;
  options.stepBudget = problem.problem().ops.size() > 400 ? 40 : 80;
  std::vector<Outcome> result;
  for (const solvers::KeepSolution &s : solvers::keepTradeOff(problem.problem(), points, options))
    if (s.feasible)
      result.push_back(problem.outcome(s));
  result.push_back(problem.unchanged());
  return result; // some may be equal
}

static void sortByCost(std::vector<Outcome> &curve) {
  llvm::stable_sort(curve, [](const Outcome &a, const Outcome &b) {
    return a.solution.extraCost < b.solution.extraCost;
  });
}

/// Adds what local search makes of the choice with the lowest peak and of keeping all.
static void refine(const RecomputeProblem &problem, std::vector<Outcome> &curve,
                   int64_t peakBudget) {
  Outcome lowest =
      *llvm::min_element(curve, [](const Outcome &a, const Outcome &b) { return a.peak < b.peak; });
  for (const Outcome &start : {lowest, problem.unchanged()}) {
    Outcome refined = problem.fitPeak(start, peakBudget);
    problem.reorder(refined);
    curve.push_back(std::move(refined));
  }
  sortByCost(curve);
}

namespace {
/// What a choice must keep to, in bytes.
struct Limits {
  std::optional<int64_t> device, activations;
};

/// One step and its choices.
class Chooser {
public:
  Chooser(const StageMemory &stage, const StepUnit &unit, Outcome unchanged)
      : stage(stage), unit(unit), before(std::move(unchanged)) {}

  void choose(Limits given, unsigned points) {
    const RecomputeProblem &problem = *unit.problem;
    limits = given;
    curve = candidates(problem, static_cast<int>(points));
    if (limits.activations)
      curve.push_back(problem.outcome(solvers::solveKeep(problem.problem(), *limits.activations)));
    sortByCost(curve);
    for (Outcome &o : curve)
      problem.reorder(o);
    best = cheapest();
    if (limits.device && (!best || !best->solution.recomputed.empty())) {
      refine(problem, curve, *limits.device - stage.persistent);
      best = cheapest();
    }
  }

  /// The choice that comes nearest to limits that none holds; the least bytes there are are looked for
  /// in steps of one percent, since a budget far below would make the local search lower what lies far
  /// from the peak.
  void takeLeast() {
    const RecomputeProblem &problem = *unit.problem;
    auto least = [&]() -> size_t {
      size_t found = 0; // unchanged is always feasible, but not always first
      for (size_t i = 0; i < curve.size(); ++i)
        if (curve[i].solution.feasible &&
            (!curve[found].solution.feasible || measure(curve[i]) < measure(curve[found])))
          found = i;
      return found;
    };
    constexpr int steps = 16;
    for (int i = 0; limits.device && i < steps; ++i) {
      const Outcome &now = curve[least()];
      Outcome next = problem.fitPeak(now, now.peak - now.peak / 100);
      problem.reorder(next);
      bool lower = measure(next) < measure(now);
      curve.push_back(std::move(next));
      if (!lower)
        break;
    }
    sortByCost(curve);
    best = &curve[least()];
  }

  int64_t bytes(const Outcome &o) const { return stage.bytesOf(unit, o); }

  const StageMemory &stage;
  const StepUnit &unit;
  Outcome before;
  Limits limits;
  std::vector<Outcome> curve;    ///< by extra cost
  const Outcome *best = nullptr; ///< null: none within the limits

private:
  int64_t measure(const Outcome &o) const { return limits.device ? bytes(o) : o.crossing; }
  const Outcome *cheapest() const {
    auto fits = [&](const Outcome &o) {
      return o.solution.feasible && (!limits.device || bytes(o) <= *limits.device) &&
             (!limits.activations || o.crossing <= *limits.activations);
    };
    auto it = llvm::find_if(curve, fits); // they are sorted by cost
    return it == curve.end() ? nullptr : &*it;
  }
};

struct InsertRecomputePass : gpucc::impl::InsertRecomputeBase<InsertRecomputePass> {
  using InsertRecomputeBase::InsertRecomputeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (memoryBudget.empty() && activationBudget.empty())
      return;
    std::string error;
    auto memory = parse(memoryBudget, error), activations = parse(activationBudget, error);
    if (!error.empty()) {
      module.emitError(error);
      return signalPassFailure();
    }
    std::vector<StageMemory> stages = findStages(module);
    std::vector<Chooser> choosers = makeChoosers(stages);
    std::string report;
    for (Chooser &chooser : choosers)
      if (failed(insert(chooser, memory, activations, mostBytes(choosers), report)))
        return signalPassFailure();
    module->setAttr(base::recomputeReportAttr,
                    StringAttr::get(module.getContext(), "[" + report + "]"));
  }

private:
  static std::optional<Budget> parse(const std::string &text, std::string &error) {
    return text.empty() ? std::nullopt : Budget::parse(text, error);
  }

  static std::vector<Chooser> makeChoosers(const std::vector<StageMemory> &stages) {
    std::vector<Chooser> choosers;
    for (const StageMemory &stage : stages)
      for (const StepUnit &unit : stage.units) {
        Outcome before = unit.problem->unchanged();
        unit.problem->reorder(before);
        choosers.emplace_back(stage, unit, std::move(before));
      }
    return choosers;
  }

  /// Without recomputation, on the fullest rank: what a ratio is of.
  static int64_t mostBytes(const std::vector<Chooser> &choosers) {
    int64_t most = 0;
    for (const Chooser &chooser : choosers)
      most = std::max(most, chooser.bytes(chooser.before));
    return most;
  }

  LogicalResult insert(Chooser &chooser, std::optional<Budget> memory,
                       std::optional<Budget> activations, int64_t most, std::string &report) {
    Limits limits;
    if (memory)
      limits.device = memory->of(most);
    if (activations)
      limits.activations = activations->of(chooser.before.crossing);
    chooser.choose(limits, points);
    bool feasible = chooser.best;
    if (!feasible)
      chooser.takeLeast();
    if (!feasible && !leastOtherwise)
      return infeasible(chooser);
    const StepUnit &unit = chooser.unit;
    const Outcome &best = *chooser.best, &before = chooser.before;
    report += (report.empty() ? "" : ",") +
              describe(chooser.stage, unit, {&before, &best, &chooser.curve, feasible});
    bytesBefore += before.crossing;
    bytesAfter += best.crossing;
    peakBefore.updateMax(static_cast<uint64_t>(before.peak));
    peakAfter.updateMax(static_cast<uint64_t>(best.peak));
    if (remarks)
      func::FuncOp(unit.function).emitRemark()
          << unit.name() << ": " << best.solution.recomputed.size()
          << " ops run again in backward; bytes alive from forward to backward " << before.crossing
          << " -> " << best.crossing << ", peak of values " << before.peak << " -> " << best.peak
          << ", flops added " << static_cast<int64_t>(best.flops);
    apply(unit, best);
    return success();
  }

  /// A stage whose ops all stay as they are keeps its functions.
  void apply(const StepUnit &unit, const Outcome &best) {
    if (unit.stage && best.solution.recomputed.empty())
      return unit.stage->discard();
    numCloned += unit.problem->apply(best);
    if (unit.stage)
      unit.stage->split();
  }

  LogicalResult infeasible(const Chooser &chooser) {
    InFlightDiagnostic error = func::FuncOp(chooser.unit.function).emitError();
    if (chooser.limits.device)
      error << "the memory budget of " << *chooser.limits.device << " bytes does not hold "
            << chooser.unit.name() << ": the least that recomputation reaches is "
            << chooser.bytes(*chooser.best)
            << " bytes, of which " << chooser.stage.persistent
            << " are state, inputs, outputs and constants; without it "
            << chooser.bytes(chooser.before) << " are needed";
    else
      error << "the activation budget of " << *chooser.limits.activations << " bytes does not hold "
            << chooser.unit.name() << ": the least is "
            << chooser.best->crossing
            << " bytes; without recomputation " << chooser.before.crossing
            << " are alive from forward to backward";
    error.attachNote() << "raise the budget, or make the micro-batches smaller (--pin "
                          "micro-batches=N) or spread the model over more ranks (--ranks, --pin)";
    return error;
  }
};
} // namespace
