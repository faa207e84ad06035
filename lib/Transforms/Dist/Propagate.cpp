//===- Propagate.cpp - the pass around PropagateModule.cpp ----------------===//
#include "gpucc/Transforms/Dist/Propagate.h"

#include "gpucc/Transforms/Dist/Passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_PROPAGATE
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
struct Propagate : gpucc::impl::PropagateBase<Propagate> {
  using PropagateBase::PropagateBase;

  FailureOr<ShardingPins> readOptions() {
    ShardingPins o;
    o.dataParallel = dataParallel;
    o.tensorParallel = tensorParallel;
    o.stages = stages;
    o.microBatches = microBatches;
    o.zero = zero;
    o.beam = static_cast<size_t>(std::max<int64_t>(beam, 1));
    o.sequenceParallel = sequence == "on";
    auto mode = llvm::StringSwitch<std::optional<ReduceGradients>>(reduce)
                    .Case("auto", ReduceGradients::Auto)
                    .Case("step", ReduceGradients::Step)
                    .Case("update", ReduceGradients::Update)
                    .Default(std::nullopt);
    if (!mode)
      return getOperation().emitError("reduce-gradients is '")
             << reduce.getValue() << "'; it may be auto, step or update";
    if (sequence != "on" && sequence != "off")
      return getOperation().emitError("sp is '") << sequence.getValue() << "'; it may be on or off";
    if (o.zero != 0 && o.zero != 1)
      return getOperation().emitError("zero is ")
             << o.zero << "; stages 0 (off) and 1 (optimizer state) exist";
    if (o.dataParallel < 1 || o.tensorParallel < 1 || o.stages < 1 || o.microBatches < 1)
      return getOperation().emitError("dp, tp, pp and micro-batches must be at least 1");
    o.reduce = *mode;
    return o;
  }

  void runOnOperation() override {
    FailureOr<ShardingPins> options = readOptions();
    PropagateStatistics statistics;
    if (failed(options) || failed(propagateShardings(getOperation(), *options, statistics)))
      return signalPassFailure();
    numReshards += statistics.reshards;
    numSplit += statistics.splitParameters;
    numWhole += statistics.wholeParameters;
    sentBytes += static_cast<int64_t>(statistics.bytes);
  }
};
} // namespace
