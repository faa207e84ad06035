//===- InsertRecompute.cpp - within a budget at least extra time ----------===//
//
// Looks at the solver's choices between "keep all" and "keep the least", works
// out for each what it would really do to the peak (RecomputeProblem), and
// takes the one with the least extra time that holds the budget.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Memory/Passes.h"

#include "Budget.h"
#include "RecomputeProblem.h"

#include <map>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

namespace gpucc {
#define GEN_PASS_DEF_INSERTRECOMPUTE
#include "lib/Transforms/Memory/Passes.h.inc"
} // namespace gpucc

/// Bytes of state, inputs and outputs of the module's functions: the same (name, kind) is the same
/// storage. Each micro-batch of a step has inputs and outputs of its own.
static int64_t persistentBytes(ModuleOp module) {
  auto count = [&](StringRef name) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 1;
  };
  int64_t slots = count("base.micro_batches") * count("base.accumulate");
  std::map<std::string, int64_t> storage;
  auto add = [&](DictionaryAttr attrs, Type type, bool result) {
    auto name = attrs ? attrs.getAs<StringAttr>(base::nameAttr) : StringAttr();
    auto kind = attrs ? attrs.getAs<StringAttr>(base::kindAttr) : StringAttr();
    bool state = kind && (kind.getValue() == "state" || kind.getValue() == "metric");
    std::string key = name ? name.str() : std::string();
    key += state ? ":state" : result ? ":output" : ":input";
    storage[key] = plainBytes(type) * (state ? 1 : slots);
  };
  module.walk([&](func::FuncOp f) {
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      add(f.getArgAttrDict(i), f.getArgumentTypes()[i], false);
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      add(f.getResultAttrDict(i), f.getResultTypes()[i], true);
  });
  int64_t bytes = 0;
  for (auto &[key, size] : storage)
    bytes += size;
  return bytes;
}

/// Greatest arena of the functions that nothing can be recomputed in.
static int64_t otherPeak(ModuleOp module) {
  int64_t peak = 0;
  module.walk([&](func::FuncOp f) {
    if (f.isExternal() || RecomputeProblem(f).hasBackward())
      return;
    solvers::OrderProblem problem = FunctionMemory(f).orderProblem();
    solvers::OrderOptions quick;
    quick.stepBudget = 2000;
    quick.beamWidth = 4;
    for (int i = 0; i < problem.numOps; ++i)
      quick.start.push_back(i);
    peak = std::max(peak, solvers::solveOrder(problem, quick).peak);
  });
  return peak;
}

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

static std::string describe(func::FuncOp f, const Outcome &before, const Outcome &chosen,
                            const std::vector<Outcome> &curve) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto point = [&](const Outcome &o) {
    os << "{\"activation_bytes\":" << o.crossing << ",\"peak_bytes\":" << o.peak
       << ",\"added_flops\":" << static_cast<int64_t>(o.flops)
       << ",\"repeated_ops\":" << o.solution.recomputed.size() << "}";
  };
  os << "{\"function\":\"" << f.getName()
     << "\",\"saved_bytes\":" << before.crossing - chosen.crossing << ",\"without\":";
  point(before);
  os << ",\"chosen\":";
  point(chosen);
  os << ",\"trade_off\":[";
  int64_t last = -1;
  bool first = true;
  for (const Outcome &o : curve) {
    if (o.crossing == last || !o.solution.feasible)
      continue;
    os << (first ? "" : ",");
    point(o);
    last = o.crossing;
    first = false;
  }
  os << "]}";
  return text;
}

namespace {
struct InsertRecomputePass : gpucc::impl::InsertRecomputeBase<InsertRecomputePass> {
  using InsertRecomputeBase::InsertRecomputeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (memoryBudget.empty() && activationBudget.empty())
      return;
    std::string error, report;
    auto memory = parse(memoryBudget, error), activations = parse(activationBudget, error);
    if (!error.empty()) {
      module.emitError(error);
      return signalPassFailure();
    }
    int64_t persistent = persistentBytes(module), other = otherPeak(module);
    for (auto f : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (f.isExternal())
        continue;
      RecomputeProblem problem(f);
      if (!problem.hasBackward())
        continue;
      if (failed(insert(f, problem, memory, activations, persistent, other, report)))
        return signalPassFailure();
    }
    module->setAttr(base::recomputeReportAttr,
                    StringAttr::get(module.getContext(), "[" + report + "]"));
  }

private:
  static std::optional<Budget> parse(const std::string &text, std::string &error) {
    return text.empty() ? std::nullopt : Budget::parse(text, error);
  }

  LogicalResult insert(func::FuncOp f, RecomputeProblem &problem, std::optional<Budget> memory,
                       std::optional<Budget> activations, int64_t persistent, int64_t other,
                       std::string &report) {
    Outcome before = problem.unchanged();
    problem.reorder(before);
    std::vector<Outcome> curve = candidates(problem, static_cast<int>(points));
    int64_t most = persistent + std::max(before.peak, other);
    int64_t peakBudget = memory ? memory->of(most) - persistent : before.peak;
    int64_t keepBudget = activations ? activations->of(before.crossing) : before.crossing;
    if (activations)
      curve.push_back(problem.outcome(solvers::solveKeep(problem.problem(), keepBudget)));
    sortByCost(curve);
    auto fits = [&](const Outcome &o) {
      return o.solution.feasible && (!memory || std::max(o.peak, other) <= peakBudget) &&
             (!activations || o.crossing <= keepBudget);
    };
    for (Outcome &o : curve)
      problem.reorder(o);
    auto cheapest = [&] {
      auto it = llvm::find_if(curve, fits); // they are sorted by cost
      return it == curve.end() ? nullptr : &*it;
    };
    const Outcome *best = cheapest();
    if (memory && (!best || !best->solution.recomputed.empty())) {
      refine(problem, curve, peakBudget);
      best = cheapest();
    }
    if (!best)
      return infeasible(f, curve, memory, activations, persistent, other, most, before.crossing);
    report += (report.empty() ? "" : ",") + describe(f, before, *best, curve);
    bytesBefore += static_cast<unsigned>(before.crossing);
    bytesAfter += static_cast<unsigned>(best->crossing);
    peakBefore.updateMax(static_cast<uint64_t>(before.peak));
    peakAfter.updateMax(static_cast<uint64_t>(best->peak));
    if (remarks)
      f.emitRemark() << "@" << f.getName() << ": " << best->solution.recomputed.size()
                     << " ops run again in backward; bytes alive from forward to backward "
                     << before.crossing << " -> " << best->crossing << ", peak of values "
                     << before.peak << " -> " << best->peak << ", flops added "
                     << static_cast<int64_t>(best->flops);
    numCloned += static_cast<unsigned>(problem.apply(*best));
    return success();
  }

  LogicalResult infeasible(func::FuncOp f, const std::vector<Outcome> &curve,
                           std::optional<Budget> memory, std::optional<Budget> activations,
                           int64_t persistent, int64_t other, int64_t most, int64_t crossing) {
    int64_t leastPeak = INT64_MAX, leastCrossing = INT64_MAX;
    for (const Outcome &o : curve) {
      if (!o.solution.feasible)
        continue;
      leastPeak = std::min(leastPeak, persistent + std::max(o.peak, other));
      leastCrossing = std::min(leastCrossing, o.crossing);
    }
    InFlightDiagnostic error = f.emitError();
    if (memory)
      error << "the memory budget of " << memory->of(most) << " bytes does not hold @"
            << f.getName() << ": the least that recomputation reaches is " << leastPeak
            << " bytes, of which " << persistent << " are state, inputs and outputs; without it "
            << most << " are needed";
    else
      error << "the activation budget of " << activations->of(crossing) << " bytes does not hold @"
            << f.getName() << ": the least is " << leastCrossing << " bytes; without recomputation "
            << crossing << " are alive from forward to backward";
    error.attachNote() << "raise the budget, or make the micro-batches smaller (--pin "
                          "micro-batches=N) or spread the model over more ranks (--ranks, --pin)";
    return error;
  }
};
} // namespace
