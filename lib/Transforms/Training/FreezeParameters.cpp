//===- FreezeParameters.cpp - what the optimizer leaves alone -------------===//
#include "gpucc/Transforms/Training/Passes.h"

#include "Ports.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

namespace gpucc {
#define GEN_PASS_DEF_FREEZEPARAMETERS
#include "lib/Transforms/Training/Passes.h.inc"
} // namespace gpucc

/// `*` and `?` as in a shell. Linear: on a mismatch only the last star is tried further.
static bool matches(StringRef pattern, StringRef text) {
  size_t p = 0, t = 0, star = StringRef::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != StringRef::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

namespace {
struct FreezeParametersPass : gpucc::impl::FreezeParametersBase<FreezeParametersPass> {
  using FreezeParametersBase::FreezeParametersBase;
  void runOnOperation() override {
    std::vector<bool> used(patterns.size(), false);
    getOperation().walk([&](func::FuncOp f) {
      for (unsigned i = 0; i < f.getNumArguments(); ++i)
        visit(f, i, used);
    });
    for (auto [pattern, hit] : llvm::zip(patterns, used)) {
      if (hit)
        continue;
      getOperation().emitError() << "--freeze '" << pattern
                                 << "' names no parameter of the model; names are those of its "
                                    "initializers (gpucc show MODEL lists them)";
      signalPassFailure();
    }
  }

private:
  void visit(func::FuncOp f, unsigned i, std::vector<bool> &used) {
    if (!isTrainable(f, i))
      return;
    auto type = cast<RankedTensorType>(f.getArgumentTypes()[i]);
    bool freeze = type.getRank() == 0 || !isa<FloatType>(type.getElementType());
    for (auto [n, pattern] : llvm::enumerate(patterns))
      if (matches(pattern, nameOf(f, i))) {
        freeze = true;
        used[n] = true;
      }
    if (!freeze) {
      ++numTrainable;
      return;
    }
    ++numFrozen;
    base::StateAttr s = stateOf(f, i);
    f.setArgAttr(i, base::stateAttr,
                 base::StateAttr::get(f.getContext(), s.getRole(), s.getOf(), false, s.getStart()));
  }
};
} // namespace
