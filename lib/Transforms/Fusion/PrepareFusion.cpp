//===- PrepareFusion.cpp - the forms that fusion knows --------------------===//
//
// In front of fusion, not inside: afterwards every op is one that groups
// understand, and fusion itself only moves ops into regions.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Fusion/Passes.h"
#include "lib/Transforms/Fusion/Prepare.h"

#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

namespace gpucc {
#define GEN_PASS_DEF_PREPAREFUSION
#include "lib/Transforms/Fusion/Passes.h.inc"
} // namespace gpucc

namespace {
struct PrepareFusionPass : gpucc::impl::PrepareFusionBase<PrepareFusionPass> {
  using PrepareFusionBase::PrepareFusionBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::optional<Policy> policy = Policy::get(target);
    if (!policy) {
      function.emitError("unknown fusion target '") << target << "'; use host or cuda";
      return signalPassFailure();
    }
    if (function.isExternal())
      return;
    numEmpty += foldEmptyTensors(function);
    numExpanded += expandComposites(function, *policy);
    numEmpty += foldEmptyTensors(function); // parts of a composite with several results
    numChannelsLast += putChannelsLast(function, *policy);
    numFoldedTransposes += foldTransposesIntoContracts(function);
    normalizeContracts(function);
    numSmallProducts += expandSmallContracts(function, *policy);
    numSplit += splitReductions(function);
    separateIndexExpressions(function);
  }
};
} // namespace
