//===- ClusterEmitter.cpp - one cluster, one kernel -----------------------===//
#include "ClusterEmitter.h"

using namespace mlir;
using namespace gpucc;

OpBuilder KernelContext::builder() { return OpBuilder(func.getBody().front().getTerminator()); }

static MemRefType flatView(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get({type.getNumElements()}, scalarType(type.getElementType()));
}

static LogicalResult emitBody(KernelContext &k) {
  bool hasSkeleton = false, hasReduction = false;
  for (Operation *op : k.ops) {
    OpRole role = roleOf(op);
    if (role == OpRole::Ordered)
      return emitOrdered(k);
    if (role == OpRole::Other)
      return k.cluster.emitOpError("holds '")
             << op->getName() << "', which has no kernel form; run gpucc-prepare-fusion first";
    hasSkeleton |= role == OpRole::Skeleton;
    hasReduction |= role == OpRole::Reduction;
  }
  std::string why;
  std::optional<ClusterDomain> domain = findDomain(k.ops, k.outputs, why);
  if (!domain) {
    InFlightDiagnostic diag = k.cluster.emitOpError("cannot be one kernel: ") << why;
    diag.attachNote() << "gpucc-fuse makes only clusters that can; split this one by hand";
    return diag;
  }
  if (hasSkeleton)
    return emitSkeleton(k, *domain);
  return hasReduction ? emitReduction(k, *domain) : emitLoop(k, *domain);
}

FailureOr<kernel::FuncOp> gpucc::emitKernel(graph::ClusterOp cluster, StringRef name,
                                            const KernelTarget &target) {
  KernelContext k;
  k.cluster = cluster;
  k.target = target;
  Block &body = cluster.getBody().front();
  SmallVector<Type> tensors(cluster.getInputs().getTypes());
  llvm::append_range(tensors, cluster.getOutputs().getTypes());
  SmallVector<Type> views =
      llvm::map_to_vector(tensors, [](Type t) -> Type { return flatView(t); });
  OpBuilder builder(cluster.getContext());
  k.func = kernel::FuncOp::create(builder, cluster.getLoc(), name, views);
  auto arguments = k.func.getBody().front().getArguments();
  for (auto [argument, view] : llvm::zip(body.getArguments(), arguments))
    k.views[argument] = view;
  k.outputViews.assign(arguments.begin() + body.getNumArguments(), arguments.end());
  for (Operation &op : body.without_terminator())
    k.ops.push_back(&op);
  llvm::append_range(k.outputs, body.getTerminator()->getOperands());
  if (failed(emitBody(k))) {
    k.func.erase();
    return failure();
  }
  shapeViews(k.func, tensors);
  return k.func;
}
