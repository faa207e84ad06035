//===- FitBudget.cpp - plans until the arenas hold the budget -------------===//
#include "FitBudget.h"

#include "Phases.h"
#include "gpucc/Transforms/Memory/Budget.h"
#include "gpucc/Transforms/Memory/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace gpucc;

/// "activations=0.5" is about crossing values only; the rest about all bytes: into the limit, or,
/// a ratio, for later.
void FitBudget::readBudget(RecomputeRequest &request, double &ratio) {
  constexpr llvm::StringLiteral kept = "activations=";
  StringRef text = options.memoryBudget;
  bool activations = text.consume_front(kept);
  if (text.empty() && !activations)
    return;
  std::string checked; // checkOptions has
  memory::Budget budget = *memory::Budget::parse(text, checked);
  if (activations)
    request.activations = text.str();
  else if (budget.ratio > 0)
    ratio = budget.ratio;
  else
    limit.lower(budget.bytes, "--memory-budget " + options.memoryBudget);
}

/// What the pass says of its choice.
static void readReport(ModuleOp module, bool &feasible, int64_t &repeated) {
  auto text = module->getAttrOfType<StringAttr>(base::recomputeReportAttr);
  if (!text)
    return;
  llvm::json::Value report = llvm::cantFail(llvm::json::parse(text.getValue()));
  for (const llvm::json::Value &step : *report.getAsArray()) {
    feasible &= step.getAsObject()->getBoolean("feasible").value_or(true);
    repeated += step.getAsObject()->getObject("chosen")->getInteger("repeated_ops").value_or(0);
  }
}

/// The rest of the way on a copy. Remarks are held back: most attempts are not what is emitted.
FailureOr<FitBudget::Attempt> FitBudget::attempt(const RecomputeRequest &request) {
  Attempt a;
  a.request = request;
  a.module = fused.clone();
  ++attempts;
  std::vector<Diagnostic> errors;
  PassManager pm(fused.getContext());
  buildRecompute(pm, request, options);
  for (Phase phase : {Phase::Kernel, Phase::Sched, Phase::Plan})
    buildPhase(pm, phase, options);
  LogicalResult ran = failure();
  {
    ScopedDiagnosticHandler hold(fused.getContext(), [&](Diagnostic &d) {
      bool isRemark = d.getSeverity() == DiagnosticSeverity::Remark;
      (isRemark ? a.remarks : errors).push_back(std::move(d));
      return success();
    });
    ran = pm.run(*a.module);
  }
  for (Diagnostic &d : errors)
    fused.getContext()->getDiagEngine().emit(std::move(d));
  if (failed(ran))
    return failure();
  readReport(*a.module, a.feasible, a.repeated);
  a.memory = measureMemory(*a.module);
  return a;
}

static std::string reportOf(ModuleOp module, const DeviceLimit &limit, const DeviceMemory &memory,
                            const std::string &asked, int64_t without, int attempts, int lowered) {
  auto steps = module->getAttrOfType<StringAttr>(base::recomputeReportAttr);
  if (!steps && !limit && asked.empty())
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    if (!asked.empty())
      json.attribute("asked", asked);
    if (limit) {
      json.attribute("limit_bytes", limit.bytes);
      json.attribute("limit_origin", limit.origin);
    }
    json.attribute("planned_bytes", memory.bytes);
    json.attribute("planned_stage", memory.stage);
    if (without)
      json.attribute("planned_bytes_without", without);
    json.attribute("attempts", attempts);
    json.attribute("lowered", lowered); // attempts whose arenas exceeded the limit
    json.attributeBegin("steps"); // empty: nothing had to be recomputed
    json.rawValue(steps ? steps.getValue() : "[]");
    json.attributeEnd();
  });
  return text;
}

void FitBudget::accept(Attempt a, FittedPlan &plan) {
  for (Diagnostic &d : a.remarks)
    fused.getContext()->getDiagEngine().emit(std::move(d));
  plan.request = a.request;
  plan.memory = a.memory;
  plan.report = reportOf(*a.module, limit, a.memory, options.memoryBudget, without, attempts, lowered);
  plan.module = std::move(a.module);
}

/// A plan that recomputes and leaves bytes unused may do with less recomputation: the pass is asked
/// for that many bytes more, as long as that fits.
FitBudget::Attempt FitBudget::useSlack(Attempt fitting, int64_t ask) {
  constexpr int raises = 2;
  for (int i = 0; i < raises && fitting.repeated > 0 && fitting.memory.bytes < limit.bytes; ++i) {
    ask += limit.bytes - fitting.memory.bytes;
    FailureOr<Attempt> more = attempt({std::to_string(ask), "", true});
    if (failed(more) || more->memory.bytes > limit.bytes || more->repeated >= fitting.repeated)
      break;
    fitting = std::move(*more);
  }
  return fitting;
}

/// Recomputation under a limit, asked for less as long as the arenas exceed it.
LogicalResult FitBudget::search(FittedPlan &plan, std::optional<MemoryShortage> &shortage) {
  constexpr int retries = 3;
  int64_t ask = limit.bytes;
  DeviceMemory least;
  for (int i = 0; i <= retries + 1; ++i) {
    if (i == retries + 1)
      ask = 1; // the least there is
    FailureOr<Attempt> a = attempt({std::to_string(ask), "", true});
    if (failed(a))
      return failure();
    if (a->memory.bytes <= limit.bytes) {
      accept(useSlack(std::move(*a), ask), plan);
      return success();
    }
    if (least.bytes == 0 || a->memory.bytes < least.bytes)
      least = a->memory;
    int64_t excess = a->memory.bytes - limit.bytes;
    ++lowered;
    say("arenas exceed the budget by " + std::to_string(excess) + " bytes, once more");
    if (!a->feasible) // less was not found; the last try looks for the least only
      i = std::max(i, retries);
    ask = std::max<int64_t>(1, ask - excess);
  }
  if (without == 0) {
    FailureOr<Attempt> plain = attempt({});
    if (failed(plain))
      return failure();
    without = plain->memory.bytes;
  }
  shortage = MemoryShortage{limit, least, without};
  return failure();
}

LogicalResult FitBudget::run(FittedPlan &plan, std::optional<MemoryShortage> &shortage) {
  RecomputeRequest request;
  double ratio = 0;
  readBudget(request, ratio);
  bool searches = options.train && request.activations.empty() && (limit || ratio > 0);
  if (!searches || ratio > 0) {
    FailureOr<Attempt> plain = attempt(request);
    if (failed(plain))
      return failure();
    if (ratio > 0) {
      without = plain->memory.bytes;
      limit.lower(static_cast<int64_t>(ratio * static_cast<double>(without)),
                  "--memory-budget " + options.memoryBudget + " of " + std::to_string(without));
    }
    if (!limit || plain->memory.bytes <= limit.bytes) {
      accept(std::move(*plain), plan);
      return success();
    }
    if (!searches) {
      shortage = MemoryShortage{limit, plain->memory, 0};
      return failure();
    }
  }
  return search(plan, shortage);
}
