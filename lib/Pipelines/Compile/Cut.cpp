//===- Cut.cpp - the first ops of a model as a program of their own -------===//
//
// `gpucc check` looks for the first op that a compiled model gets wrong by
// halving: it runs the first half of the ops, and compares what the second half
// would read. The cut program is compiled as the whole is, fusion included.
//
//   @main(x): a = relu x; b = exp a; c = add a, b; return c
//   cut after 2 ops: return a, b
//
//===----------------------------------------------------------------------===//
#include "Cut.h"

#include "dialects/Base/Base.h"
#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc;

static bool isLeaf(Operation &op) {
  return isa<graph::ConstantOp, graph::WeightOp, graph::IotaOp>(op) ||
         op.hasTrait<OpTrait::IsTerminator>();
}

size_t gpucc::countOps(func::FuncOp function) {
  return llvm::count_if(function.getBody().front(), [](Operation &op) { return !isLeaf(op); });
}

/// "dense/MatMul (MatMul)" or, of several joined, the first; the op's own name without any.
static std::string describe(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    if (auto named = dyn_cast<NameLoc>(loc)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  std::string kind = op->getName().getStringRef().str();
  return name.empty() ? kind : name + " as " + kind;
}

std::string gpucc::cutAfter(func::FuncOp function, size_t count) {
  Block &body = function.getBody().front();
  Operation *end = nullptr, *last = nullptr;
  size_t seen = 0;
  for (Operation &op : body) {
    if (seen == count && !isLeaf(op)) {
      end = &op;
      break;
    }
    if (!isLeaf(op)) {
      last = &op;
      ++seen;
    }
  }
  if (!end)
    end = body.getTerminator();
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  Builder builder(function.getContext());
  for (Operation &op : body) {
    if (&op == end)
      break;
    for (Value value : op.getResults()) {
      bool isRead = llvm::any_of(value.getUsers(),
                                 [&](Operation *user) { return !user->isBeforeInBlock(end); });
      if (isLeaf(op) || !isRead)
        continue;
      results.push_back(value);
      std::string name = std::to_string(results.size()) + ": " + describe(&op);
      attributes.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr(base::nameAttr, builder.getStringAttr(name)),
           builder.getNamedAttr(base::kindAttr, builder.getStringAttr("output"))}));
    }
  }
  OpBuilder before(end);
  auto yield = func::ReturnOp::create(before, function.getLoc(), results);
  while (yield->getNextNode())
    body.back().erase(); // users before what they use
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  function.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
  return last ? describe(last) : "";
}
