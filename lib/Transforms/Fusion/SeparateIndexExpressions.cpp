//===- SeparateIndexExpressions.cpp - each reader computes its own mask ----===//
//
// A causal mask depends on indices alone: computing it costs nothing beside
// reading it. CSE makes one of all layers' masks; fusion would then make one
// kernel of all its readers, whose values would have to live together.
//
//   before  %m = compare le %iota2, %iota3       read by the softmax of each layer
//   after   one such compare in front of each reader
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Fusion/Prepare.h"

#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc;

/// True for pointwise ops and broadcasts over iota and constants.
static bool isIndexExpression(Operation *op, unsigned depth) {
  bool pointwise = op->hasTrait<OpTrait::Elementwise>() || isa<graph::BroadcastOp>(op);
  return pointwise && depth > 0 && llvm::all_of(op->getOperands(), [&](Value v) {
    Operation *def = v.getDefiningOp();
    if (!def)
      return false;
    bool leaf = def->getNumOperands() == 0 && isa<graph::IotaOp, graph::ConstantOp>(def);
    return leaf || isIndexExpression(def, depth - 1);
  });
}

unsigned fusion::separateIndexExpressions(func::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    ops.push_back(&op);
  unsigned copies = 0;
  // Readers first: their copies are readers of what comes before.
  for (Operation *op : llvm::reverse(ops)) {
    if (op->hasOneUse() || op->use_empty() || !isIndexExpression(op, /*depth=*/6))
      continue;
    SmallVector<Operation *> users;
    for (Operation *user : op->getUsers())
      if (!llvm::is_contained(users, user) && !user->hasTrait<OpTrait::IsTerminator>())
        users.push_back(user);
    for (Operation *user : llvm::drop_begin(users)) {
      OpBuilder builder(user);
      Operation *copy = builder.clone(*op);
      user->replaceUsesOfWith(op->getResult(0), copy->getResult(0));
      ++copies;
    }
  }
  return copies;
}
