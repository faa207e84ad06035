//===- VerifyPhaseGraph.cpp - what the graph phase promises ---------------===//
#include "dialects/Base/Base.h"
#include "dialects/Base/VaryingAttrs.h"
#include "gpucc/Transforms/Graph/Passes.h"

namespace gpucc {
#define GEN_PASS_DEF_VERIFYPHASEGRAPH
#include "lib/Transforms/Graph/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

static LogicalResult checkValue(func::FuncOp function, DictionaryAttr attrs, Type type,
                                StringRef what, unsigned index) {
  auto fail = [&]() { return function.emitOpError() << what << " " << index << " "; };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    auto diag = fail() << "has type " << type << "; the graph phase has static tensors only";
    diag.attachNote() << "gpucc-frontend-to-graph binds symbolic dimensions by its profiles";
    return diag;
  }
  auto name = attrs ? attrs.getAs<StringAttr>(base::nameAttr) : StringAttr();
  auto kind = attrs ? attrs.getAs<StringAttr>(base::kindAttr) : StringAttr();
  if (!name || !kind) {
    auto diag = fail() << "has no " << (name ? base::kindAttr : base::nameAttr);
    diag.attachNote() << "every argument and result is named and has a kind (docs/conventions.md)";
    return diag;
  }
  auto alias = attrs.getAs<IntegerAttr>(base::aliasAttr);
  if (!alias)
    return success();
  int64_t to = alias.getInt();
  if (to < 0 || to >= function.getNumArguments())
    return fail() << "aliases argument " << to << "; the function has "
                  << function.getNumArguments();
  auto other = function.getArgAttrOfType<StringAttr>(to, base::nameAttr);
  if (function.getArgumentTypes()[to] != type || other != name)
    return fail() << "aliases argument " << to << " ('" << (other ? other.getValue() : "") << "', "
                  << function.getArgumentTypes()[to] << "), but is '" << name.getValue() << "', "
                  << type << "; state keeps its name and type";
  return success();
}

/// An output whose size a step computes names one of its dimensions and an i64 scalar result that
/// counts.
static LogicalResult checkVarying(func::FuncOp function, unsigned index) {
  auto dim = function.getResultAttrOfType<IntegerAttr>(index, base::varyingDimAttr);
  auto count = function.getResultAttrOfType<StringAttr>(index, base::countAttr);
  if (!dim && !count)
    return success();
  auto type = cast<RankedTensorType>(function.getResultTypes()[index]);
  bool counted = false;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto scalar = dyn_cast<RankedTensorType>(function.getResultTypes()[i]);
    auto kind = function.getResultAttrOfType<StringAttr>(i, base::kindAttr);
    counted |= scalar && kind && kind.getValue() == "count" && scalar.getRank() == 0 &&
               scalar.getElementType().isSignlessInteger(64) &&
               function.getResultAttrOfType<StringAttr>(i, base::nameAttr) == count;
  }
  if (dim && dim.getInt() >= 0 && dim.getInt() < type.getRank() && counted)
    return success();
  auto diag = function.emitOpError()
              << "result " << index << " has a size that varies along dimension "
              << (dim ? dim.getInt() : -1) << ", counted by '" << (count ? count.getValue() : "")
              << "'";
  diag.attachNote() << "base.varying_dim is one of its dimensions, and base.count names an i64 "
                       "scalar result of kind count";
  return diag;
}

static LogicalResult checkSignature(func::FuncOp function) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(checkValue(function, function.getArgAttrDict(i), type, "argument", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(checkValue(function, function.getResultAttrDict(i), type, "result", i)) ||
        failed(checkVarying(function, i)))
      return failure();
  return success();
}

static LogicalResult checkOp(Operation *op) {
  StringRef dialect = op->getDialect() ? op->getDialect()->getNamespace() : "";
  if (dialect == "graph" || isa<func::FuncOp, func::ReturnOp, ModuleOp>(op))
    return success();
  auto diag = op->emitOpError() << "must not occur in the graph phase";
  diag.attachNote() << (dialect == "frontend" ? "gpucc-frontend-to-graph should have converted it"
                                              : "only graph ops in functions belong here");
  return diag;
}

namespace {
struct VerifyPhaseGraphPass : gpucc::impl::VerifyPhaseGraphBase<VerifyPhaseGraphPass> {
  using VerifyPhaseGraphBase::VerifyPhaseGraphBase;

  void runOnOperation() override {
    WalkResult outcome = getOperation().walk([&](Operation *op) {
      ++numChecked;
      auto function = dyn_cast<func::FuncOp>(op);
      bool fine = succeeded(checkOp(op)) && (!function || succeeded(checkSignature(function)));
      return fine ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (outcome.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
