//===- Pass.cpp - --gpucc-frontend-to-graph -------------------------------===//
#include "mlir/Pass/Pass.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_FRONTENDTOGRAPH
#include "lib/Conversion/FrontendToGraph/Passes.h.inc"
namespace registration {
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/FrontendToGraph/Passes.h.inc"
} // namespace registration
} // namespace gpucc

using namespace mlir;

namespace {
struct FrontendToGraphPass : gpucc::impl::FrontendToGraphBase<FrontendToGraphPass> {
  using FrontendToGraphBase::FrontendToGraphBase;

  void runOnOperation() override {
    gpucc::ConversionOptions chosen;
    std::string error;
    chosen.train = train;
    chosen.folder = folder;
    if (!gpucc::parseProfiles(profiles, chosen.profiles, error)) {
      getOperation().emitError() << error;
      return signalPassFailure();
    }
    gpucc::Conversion outcome = gpucc::convertFrontendToGraph(getOperation(), chosen);
    if (outcome.status != gpucc::frontend::Status::Ok)
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      (void)function;
      ++numFunctions;
    }
  }
};
} // namespace

void gpucc::registerConversionFrontendToGraphPasses() {
  registration::registerConversionFrontendToGraphPasses();
}
