//===- Inplace.cpp - outputs that may take an input's memory --------------===//
//
// y may overwrite x when every point reads x only where it writes y, and not
// after it wrote:
//   * x and y have the same type, and x is read by loads alone;
//   * each load of x has the map of the store of y, with the same indices;
//   * no load of x stands behind the store of y.
//
// On the CPU a load may also stand in an earlier loop of the program, whose
// indices correspond. On a GPU it must stand in the same loop: another loop may
// give a point to another thread, and nothing orders the two accesses.
//
//===----------------------------------------------------------------------===//
#include "ClusterEmitter.h"

using namespace mlir;
using namespace gpucc;

namespace {
/// The loop (or skeleton) directly in the program (function) that an access stands in.
Operation *placeOf(Operation *access) {
  Operation *parent = access->getParentOp();
  if (isa<kernel::ProgramOp>(parent))
    return nullptr; // between loops
  Operation *outer = parent->getParentOp();
  return isa<kernel::ProgramOp, kernel::FuncOp>(outer) ? parent : nullptr;
}
} // namespace

/// Indices of two accesses name the same point: equal values, or the same variable of loops with
/// equal extents.
static bool sameIndices(Operation *loadPlace, ValueRange load, Operation *storePlace,
                        ValueRange store) {
  if (load.size() != store.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(load, store)) {
    if (a == b)
      continue;
    auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
    auto first = dyn_cast<kernel::LoopOp>(loadPlace), second = dyn_cast<kernel::LoopOp>(storePlace);
    if (!x || !y || !first || !second || x.getOwner()->getParentOp() != first ||
        y.getOwner()->getParentOp() != second || x.getArgNumber() != y.getArgNumber() ||
        first.getExtents() != second.getExtents())
      return false;
  }
  return true;
}

static bool mayShare(BlockArgument input, BlockArgument output, bool sameLoop) {
  SmallVector<kernel::StoreOp> stores;
  for (Operation *user : output.getUsers()) {
    auto store = dyn_cast<kernel::StoreOp>(user);
    if (!store || !placeOf(store))
      return false;
    stores.push_back(store);
  }
  if (stores.size() != 1)
    return false;
  kernel::StoreOp store = stores.front();
  Operation *storePlace = placeOf(store);
  for (Operation *user : input.getUsers()) {
    auto load = dyn_cast<kernel::LoadOp>(user);
    Operation *loadPlace = load ? placeOf(load) : nullptr;
    if (!loadPlace || (sameLoop && loadPlace != storePlace) || load.getMap() != store.getMap() ||
        !sameIndices(loadPlace, load.getIndices(), storePlace, store.getIndices()))
      return false;
    if (loadPlace == storePlace ? !load->isBeforeInBlock(store)
                                : !loadPlace->isBeforeInBlock(storePlace))
      return false;
  }
  return true;
}

SmallVector<int64_t> gpucc::findInplacePairs(kernel::FuncOp func, TypeRange inputs,
                                             TypeRange outputs, const KernelTarget &target) {
  SmallVector<int64_t> pairs;
  Block &body = func.getBody().front();
  for (auto [o, outputType] : llvm::enumerate(outputs))
    for (auto [i, inputType] : llvm::enumerate(inputs)) {
      BlockArgument input = body.getArgument(i), output = body.getArgument(inputs.size() + o);
      if (inputType == outputType && input.getType() == output.getType() && !input.use_empty() &&
          mayShare(input, output, target.cuda))
        pairs.append({static_cast<int64_t>(i), static_cast<int64_t>(o)});
    }
  return pairs;
}
