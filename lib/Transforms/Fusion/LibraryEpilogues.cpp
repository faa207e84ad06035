//===- LibraryEpilogues.cpp - what a library does on its own result -------===//
//
// A convolution or matrix product that goes to a library takes the pointwise chain behind it along,
// as far as the library knows its links:
//
//   y = convolution(x, w)                        c = cluster library (x, w, b, r) {
//   z = relu(y + broadcast(b) + r)         →         relu(convolution(x, w) + broadcast(b) + r)
//                                                }
//
// The chain runs over values with one user each. It is worth while for a convolution always: its
// result is as large as its input and would be read and written once more. Behind a matrix product
// the next kernel usually reads the result anyway (a norm, a softmax, a move of heads) and does the
// cheap links on the way; so there a chain must reach an activation.
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Graph.h"
#include "gpucc/Analysis/PostOps.h"
#include "lib/Transforms/Fusion/BuildClusters.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

static bool isActivation(const PostOp &post) {
  return post.kind != "bias" && post.kind != "add_operand" && post.kind != "multiply_operand" &&
         post.kind != "linear";
}

/// The library's op, and in order of use what makes its operands and the links behind it.
static SmallVector<Operation *> chainOf(Operation *library) {
  SmallVector<Operation *> chain{library};
  bool convolution = isa<graph::ConvolutionOp>(library);
  size_t worthwhile = 0;
  for (Value v = library->getResult(0); v.hasOneUse(); v = chain.back()->getResult(0)) {
    Operation *user = *v.getUsers().begin();
    std::optional<PostOp> post = asPostOp(user, v, library);
    if (!post || user->getBlock() != library->getBlock())
      break;
    if (post->perChannel) // the broadcast happens inside
      for (Value operand : user->getOperands())
        if (auto broadcast = operand.getDefiningOp<graph::BroadcastOp>();
            broadcast && broadcast.getX() == post->operand)
          chain.push_back(broadcast);
    chain.push_back(user);
    if (convolution || isActivation(*post))
      worthwhile = chain.size();
  }
  chain.truncate(worthwhile);
  return chain;
}

unsigned fusion::takeEpilogues(Block &block, const Policy &policy) {
  SmallVector<Operation *> work;
  for (Operation &op : block)
    if (isa<graph::ContractOp, graph::ConvolutionOp>(op) && policy.isLibraryCall(&op))
      work.push_back(&op);
  unsigned count = 0;
  for (Operation *library : work) {
    SmallVector<Operation *> chain = chainOf(library);
    if (chain.size() < 2)
      continue;
    Value result = chain.back()->getResult(0);
    OpBuilder builder(chain.back());
    graph::ClusterOp cluster = buildCluster(builder, chain, result, graph::ClusterKind::Library);
    result.replaceAllUsesWith(cluster.getResult(0));
    for (Operation *op : llvm::reverse(chain))
      if (op->use_empty())
        op->erase();
    ++count;
  }
  return count;
}
