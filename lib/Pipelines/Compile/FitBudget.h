//===- FitBudget.h - plans until the arenas hold the budget -----*- C++ -*-===//
//
// insert-recompute works with values; what counts is the memory that is allotted
// in the end, with its holes, workspaces and buffers of collectives. So the rest
// of the way is gone on a copy, the arenas are measured, and when they exceed
// the limit the excess is subtracted from what the pass is asked for:
//
//   limit 1000   ask 1000 → arenas 1040   ask 960 → arenas 990: fits
//                ask 970 (10 are unused) → arenas 1000, fewer repetitions: taken
//
// At most three times; then the least there is is tried once. What fits with
// bytes to spare is asked for more, at most twice. Bytes are those of the
// fullest rank.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_FITBUDGET_H
#define GPUCC_LIB_PIPELINES_COMPILE_FITBUDGET_H

#include "DeviceMemory.h"
#include "gpucc/Pipelines/Options.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace gpucc {

/// What insert-recompute is asked for; both empty: it does not run.
struct RecomputeRequest {
  std::string memory, activations;
  bool leastOtherwise = false;
  bool any() const { return !memory.empty() || !activations.empty(); }
};

struct FittedPlan {
  RecomputeRequest request;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< at Phase::Plan
  DeviceMemory memory;
  std::string report; ///< JSON for the plan's explanation: {"budget", "measured", "steps"}; or ""
};

class FitBudget {
public:
  /// `fused` is at Phase::Fuse without recomputation. `device`: what the machine allows, if any.
  FitBudget(mlir::ModuleOp fused, const CompileOptions &options, DeviceLimit device,
            std::function<void(const std::string &)> say)
      : fused(fused), options(options), limit(std::move(device)), say(std::move(say)) {}

  /// Fails with `shortage` set when nothing holds the limit, with emitted errors otherwise.
  mlir::LogicalResult run(FittedPlan &plan, std::optional<MemoryShortage> &shortage);

private:
  struct Attempt {
    RecomputeRequest request;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    DeviceMemory memory;
    bool feasible = true; ///< in the pass's own account
    int64_t repeated = 0; ///< ops that run again
    std::vector<mlir::Diagnostic> remarks;
  };
  void readBudget(RecomputeRequest &request, double &ratio);
  mlir::FailureOr<Attempt> attempt(const RecomputeRequest &request);
  mlir::LogicalResult search(FittedPlan &plan, std::optional<MemoryShortage> &shortage);
  Attempt useSlack(Attempt fitting, int64_t ask);
  void accept(Attempt attempt, FittedPlan &plan);

  mlir::ModuleOp fused;
  const CompileOptions &options;
  DeviceLimit limit;
  std::function<void(const std::string &)> say;
  int64_t without = 0; ///< measured without recomputation; 0: not measured
  int attempts = 0, lowered = 0;
};

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_FITBUDGET_H
