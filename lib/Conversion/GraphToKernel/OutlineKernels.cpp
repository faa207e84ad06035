//===- OutlineKernels.cpp - clusters become kernels and launches ----------===//
//
// Clusters are compared before anything is emitted, by what they hold: op
// names, attributes, types and the wiring, all of which are uniqued, so that a
// key is a list of pointers. Identical layers of a model cost one emission and
// share one kernel.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/GraphToKernel/Passes.h"

#include "ClusterEmitter.h"
#include "ClusterWork.h"
#include "dialects/Base/Base.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace gpucc;

namespace gpucc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "lib/Conversion/GraphToKernel/Passes.h.inc"
} // namespace gpucc

/// Equal exactly for clusters that become the same kernel.
static std::vector<const void *> keyOf(graph::ClusterOp cluster) {
  std::vector<const void *> key;
  Block &body = cluster.getBody().front();
  DenseMap<Value, uintptr_t> numbers;
  auto number = [&](Value v) { numbers.try_emplace(v, numbers.size() + 1); };
  for (BlockArgument argument : body.getArguments()) {
    number(argument);
    key.push_back(argument.getType().getAsOpaquePointer());
  }
  for (Operation &op : body) {
    key.push_back(op.getName().getAsOpaquePointer());
    key.push_back(op.getAttrDictionary().getAsOpaquePointer());
    for (Value v : op.getOperands())
      key.push_back(reinterpret_cast<const void *>(numbers.lookup(v)));
    for (Value v : op.getResults()) {
      number(v);
      key.push_back(v.getType().getAsOpaquePointer());
    }
  }
  return key;
}

/// "exp_sum_div" from the kinds of a cluster's ops, at most three of them.
static std::string nameOf(graph::ClusterOp cluster) {
  SmallVector<std::string> words;
  for (Operation &op : cluster.getBody().front().without_terminator()) {
    std::string word;
    if (roleOf(&op) == OpRole::Leaf ||
        isa<graph::BroadcastOp, graph::ConvertOp, graph::ReshapeOp>(op))
      continue;
    if (auto unary = dyn_cast<graph::UnaryOp>(op))
      word = stringifyUnaryKind(unary.getKind()).str();
    else if (auto binary = dyn_cast<graph::BinaryOp>(op))
      word = stringifyBinaryKind(binary.getKind()).str();
    else if (auto reduce = dyn_cast<graph::ReduceOp>(op))
      word = "reduce_" + stringifyReductionKind(reduce.getKind()).str();
    else
      word = op.getName().stripDialect().str();
    if (!llvm::is_contained(words, word))
      words.push_back(word);
  }
  if (words.size() > 3) // the first, the last, and a product or reduction between
    words = {
        words.front(),
        *std::find_if(words.begin() + 1, words.end() - 2,
                      [](const std::string &w) { return StringRef(w).starts_with("reduce_"); }),
        words.back()};
  std::string name =
      words.empty() ? stringifyClusterKind(cluster.getKind()).str() : llvm::join(words, "_");
  return name;
}

/// The model's name of a value; empty when it has none.
static std::string nameOf(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = func ? func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), base::nameAttr)
                     : StringAttr();
    return name ? name.str() : "";
  }
  Operation *op = v.getDefiningOp();
  if (auto weight = dyn_cast<graph::WeightOp>(op))
    return weight.getKey().str();
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  return name;
}

static void nameViews(kernel::FuncOp func, graph::ClusterOp cluster) {
  unsigned next = 0;
  auto give = [&](Value v) {
    std::string name = nameOf(v);
    if (!name.empty())
      func.setArgAttr(next, kernel::viewNameAttr, StringAttr::get(func.getContext(), name));
    ++next;
  };
  for (Value v : cluster.getInputs())
    give(v);
  for (Value v : cluster.getOutputs())
    give(v);
}

namespace {
struct OutlineKernelsPass : gpucc::impl::OutlineKernelsBase<OutlineKernelsPass> {
  using OutlineKernelsBase::OutlineKernelsBase;

  struct Kernel {
    kernel::FuncOp func;
    SmallVector<int64_t> inplace;
  };

  void runOnOperation() override {
    if (!StringRef(target).starts_with("host") && !StringRef(target).starts_with("cuda")) {
      getOperation().emitError("unknown kernel target '") << target << "'; use host or cuda";
      return signalPassFailure();
    }
    kernelTarget.cuda = StringRef(target).starts_with("cuda");
    kernels.clear();
    numbers.clear();
    SmallVector<graph::ClusterOp> clusters;
    getOperation().walk([&](graph::ClusterOp cluster) {
      if (cluster.getKind() != graph::ClusterKind::Library)
        clusters.push_back(cluster);
    });
    SymbolTable symbols(getOperation());
    for (graph::ClusterOp cluster : clusters) {
      FailureOr<Kernel *> kernel = findOrEmit(cluster, symbols);
      if (failed(kernel))
        return signalPassFailure();
      launch(cluster, **kernel);
    }
  }

  FailureOr<Kernel *> findOrEmit(graph::ClusterOp cluster, SymbolTable &symbols) {
    auto [it, isNew] = kernels.try_emplace(keyOf(cluster));
    Kernel &kernel = it->second;
    if (!isNew)
      return &kernel;
    std::string name = nameOf(cluster) + "_" + std::to_string(numbers[nameOf(cluster)]++);
    FailureOr<kernel::FuncOp> func = emitKernel(cluster, name, kernelTarget);
    if (failed(func))
      return failure();
    kernel.func = *func;
    kernel.inplace = findInplacePairs(*func, cluster.getInputs().getTypes(),
                                      cluster.getOutputs().getTypes(), kernelTarget);
    nameViews(*func, cluster);
    if (kernel::WorkAttr work = workOf(cluster))
      func->setWorkAttr(work);
    symbols.insert(*func);
    ++numKernels;
    numInplace += kernel.inplace.size() / 2;
    return &kernel;
  }

  void launch(graph::ClusterOp cluster, Kernel &kernel) {
    OpBuilder builder(cluster);
    auto op =
        kernel::LaunchOp::create(builder, cluster.getLoc(), cluster.getOutputs().getTypes(),
                                 FlatSymbolRefAttr::get(kernel.func.getNameAttr()),
                                 cluster.getInputs(), builder.getDenseI64ArrayAttr(kernel.inplace));
    op->setDiscardableAttrs(cluster->getDiscardableAttrDictionary());
    cluster.replaceAllUsesWith(op.getOutputs());
    cluster.erase();
    ++numLaunches;
  }

  KernelTarget kernelTarget;
  std::map<std::vector<const void *>, Kernel> kernels;
  std::map<std::string, unsigned> numbers;
};
} // namespace
