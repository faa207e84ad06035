//===- FunctionMemory.cpp - which bytes a function's values take ----------===//
#include "FunctionMemory.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

Value memory::rootOf(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getX();
  return value;
}

int64_t memory::plainBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element = tensor ? toDType(tensor.getElementType()) : std::nullopt;
  return element ? gpucc::byteSize(*element, tensor.getNumElements()) : 0;
}

int64_t memory::arenaBytes(Value value) {
  constexpr int64_t alignment = 256;
  return (plainBytes(value.getType()) + alignment - 1) / alignment * alignment;
}

bool memory::isFree(Operation *op) {
  return isa<graph::ReshapeOp, graph::WeightOp>(op) || op->hasTrait<OpTrait::ConstantLike>() ||
         op->getName().getStringRef() == "dist.axis_index"; // written at prepare
}

FunctionMemory::FunctionMemory(func::FuncOp function) : function(function) {
  for (Operation &op : function.getBody().front().without_terminator()) {
    index[&op] = static_cast<int>(ops.size());
    ops.push_back(&op);
  }
  findPlaced();
}

bool FunctionMemory::inArena(Value root) const {
  Operation *op = root.getDefiningOp();
  return op && !isFree(op) && !placed.contains(root);
}

/// Whether `result` may take the bytes of `old`, which its op reads. Launches say so; a cluster is
/// not a kernel yet, and an update of state is pointwise in all of them that optimizers make.
static bool isInPlace(Value result, Value old) {
  Operation *op = result.getDefiningOp();
  if (op->getName().getStringRef() != "kernel.launch")
    return isa<graph::ClusterOp>(op) || op->hasTrait<OpTrait::Elementwise>();
  auto pairs = op->getAttrOfType<DenseI64ArrayAttr>("inplace");
  unsigned number = cast<OpResult>(result).getResultNumber();
  for (int64_t p = 0; pairs && p + 1 < pairs.size(); p += 2)
    if (pairs[p + 1] == number && rootOf(op->getOperand(static_cast<unsigned>(pairs[p]))) == old)
      return true;
  return false;
}

void FunctionMemory::findPlaced() {
  llvm::DenseMap<Value, int> lastReader;
  for (auto [i, op] : llvm::enumerate(ops))
    for (Value operand : op->getOperands())
      lastReader[rootOf(operand)] = static_cast<int>(i);
  Operation *ret = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
    Value root = rootOf(value);
    bool first = returned.insert(root).second;
    Operation *op = root.getDefiningOp();
    if (!op || isFree(op) || !first)
      continue;
    auto alias =
        function.getResultAttrOfType<IntegerAttr>(static_cast<unsigned>(i), base::aliasAttr);
    if (!alias) {
      placed.insert(root);
      continue;
    }
    Value old = function.getArgument(static_cast<unsigned>(alias.getInt()));
    overwrites[op].push_back(old);
    auto it = lastReader.find(old);
    int now = index.lookup(op);
    if (it == lastReader.end() || it->second < now || (it->second == now && isInPlace(root, old)))
      placed.insert(root);
  }
}

/// An op that other ranks wait for, or with an effect: these keep their order.
static bool isOrdered(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool collective = dialect == "dist" && op->getName().getStringRef() != "dist.axis_index";
  return collective || !isMemoryEffectFree(op);
}

void FunctionMemory::addStateEdges(solvers::OrderProblem &problem, size_t count,
                                   llvm::function_ref<Operation *(size_t)> opAt) const {
  int last = -1;
  llvm::DenseMap<Value, std::vector<int>> readers;
  for (size_t i = 0; i < count; ++i) {
    Operation *op = opAt(i);
    int now = static_cast<int>(i);
    if (auto it = overwrites.find(op); it != overwrites.end())
      for (Value old : it->second)
        for (int reader : readers[old])
          problem.precedence.push_back({reader, now});
    for (Value operand : op->getOperands())
      if (Value root = rootOf(operand); isa<BlockArgument>(root))
        readers[root].push_back(now);
    if (!isOrdered(op))
      continue;
    if (last >= 0)
      problem.precedence.push_back({last, now});
    last = now;
  }
}

solvers::OrderProblem FunctionMemory::orderProblem() const {
  solvers::OrderProblem problem;
  problem.numOps = static_cast<int>(ops.size());
  llvm::DenseMap<Value, size_t> tensors;
  for (auto [i, op] : llvm::enumerate(ops)) {
    llvm::DenseSet<Value> seen;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && seen.insert(operand).second)
        problem.precedence.push_back({index.lookup(producer), static_cast<int>(i)});
      auto tensor = tensors.find(rootOf(operand));
      if (tensor == tensors.end())
        continue;
      std::vector<int> &consumers = problem.tensors[tensor->second].consumers;
      if (consumers.empty() || consumers.back() != static_cast<int>(i))
        consumers.push_back(static_cast<int>(i));
    }
    for (Value result : op->getResults()) {
      if (!inArena(result))
        continue;
      tensors[result] = problem.tensors.size();
      problem.tensors.push_back({arenaBytes(result), static_cast<int>(i), {}, isReturned(result)});
    }
  }
  addStateEdges(problem, ops.size(), [&](size_t i) { return ops[i]; });
  return problem;
}
