//===- VerifyPhaseTrain.cpp - what the train phase promises ---------------===//
//
// @step adds into accumulators, @update empties them. A module in which one of
// the two forgets an accumulator runs, and trains wrongly from the second step
// on; here it is an error that names the accumulator.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Training/Passes.h"

#include "Ports.h"

#include <map>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

namespace gpucc {
#define GEN_PASS_DEF_VERIFYPHASETRAIN
#include "lib/Transforms/Training/Passes.h.inc"
} // namespace gpucc

namespace {

/// Where a state was seen first, and what it was there.
struct Seen {
  func::FuncOp function;
  Type type;
  base::StateAttr state;
};

StringRef segmentOf(func::FuncOp function) {
  auto segment = function->getAttrOfType<StringAttr>(base::segmentAttr);
  return segment ? segment.getValue() : StringRef();
}

LogicalResult checkSegment(func::FuncOp function) {
  StringRef segment = segmentOf(function);
  if (segment == "step" || segment == "update")
    return success();
  auto error = function.emitOpError()
               << "is segment '" << segment << "'; a training step consists of 'step' and 'update'";
  error.attachNote() << "gpucc-differentiate makes the step, gpucc-add-optimizer the update";
  return error;
}

class Verifier {
public:
  LogicalResult check(func::FuncOp function) {
    if (failed(checkSegment(function)))
      return failure();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (stateOf(function, i) && failed(checkState(function, i)))
        return failure();
    return checkResults(function);
  }
  int64_t checked = 0;

private:
  LogicalResult checkState(func::FuncOp function, unsigned i) {
    ++checked;
    Seen here{function, function.getArgumentTypes()[i], stateOf(function, i)};
    auto [it, isNew] = states.try_emplace(nameOf(function, i).str(), here);
    base::StateAttr known = it->second.state;
    if (isNew ||
        (it->second.type == here.type && known.getRole() == here.state.getRole() &&
         known.getOf() == here.state.getOf() && known.getStart() == here.state.getStart()))
      return success();
    auto error = function.emitOpError()
                 << "state '" << it->first << "' is " << here.type << " " << here.state;
    error.attachNote(it->second.function.getLoc())
        << "in @" << it->second.function.getName() << " it is " << it->second.type << " "
        << it->second.state << "; functions share state by name: one name, one type and role";
    return error;
  }

  LogicalResult checkResults(func::FuncOp function) {
    llvm::BitVector written(function.getNumArguments());
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      ++checked;
      if (auto alias = function.getResultAttrOfType<IntegerAttr>(i, base::aliasAttr))
        written.set(static_cast<unsigned>(alias.getInt()));
      auto kind = function.getResultAttrOfType<StringAttr>(i, base::kindAttr);
      if (kind && kind.getValue() == "metric" && segmentOf(function) != "update")
        return function.emitOpError() << "result " << i
                                      << " is a metric; metrics are of a whole step and come from "
                                         "the update";
    }
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      base::StateAttr state = stateOf(function, i);
      if (!state || state.getRole() != base::StateRole::Accumulator || written.test(i))
        continue;
      auto error = function.emitOpError()
                   << "takes accumulator '" << nameOf(function, i) << "' and does not overwrite it";
      error.attachNote() << (segmentOf(function) == "step"
                                 ? "gpucc-differentiate adds the micro-batch's share to it"
                                 : "gpucc-add-optimizer zeroes it for the next step");
      return error;
    }
    return success();
  }

  std::map<std::string, Seen> states;
};

struct VerifyPhaseTrainPass : gpucc::impl::VerifyPhaseTrainBase<VerifyPhaseTrainPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto functions = getOperation().getOps<func::FuncOp>();
    if (llvm::all_of(functions, [](func::FuncOp f) { return segmentOf(f).empty(); }))
      return;
    Verifier verifier;
    for (func::FuncOp function : functions)
      if (failed(verifier.check(function)))
        return signalPassFailure();
    numChecked += verifier.checked;
  }
};

} // namespace
