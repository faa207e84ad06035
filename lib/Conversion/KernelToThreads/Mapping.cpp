//===- Mapping.cpp - programs and points to blocks and threads ------------===//
//
// A program that reduces rows of n points has P = tree width residues; threads * vec = P keeps the
// tree. Shorter rows of the same program may use more residues than their own tree has: the rest
// are identities, which change nothing. Rows of more than 1024 points need exactly 1024.
//
//   rows of 1000   threads 256, vec 4          rows of 40   threads 16, vec 4, 8 programs per block
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/KernelToThreads/Threads.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::threads;
using namespace gpucc::kernel;

constexpr int64_t blockThreads = 256;

int64_t Mapping::vecOf(int64_t points) const {
  if (reduces)
    return std::clamp<int64_t>(getRowTreeWidth(points) / threads, 1, 16);
  int64_t v = vec;
  while (points % v)
    v /= 2;
  return v;
}

static bool reducesRows(LoopOp loop) {
  return llvm::any_of(llvm::seq<unsigned>(0, loop.getNumResults()), [&](unsigned i) {
    return loop.getKind(i) != LoopResultKind::Keep && !loop.isColumnReduction(i);
  });
}
static bool hasTiles(LoopOp loop) {
  return llvm::any_of(loop.getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// 128 bits of the smallest element type, at most 8 elements.
static int64_t widestVector(FuncOp kernel) {
  int64_t bytes = 8;
  for (Type view : kernel.getArgumentTypes()) {
    Type element = storageType(cast<MemRefType>(view).getElementType());
    bytes = std::min<int64_t>(bytes, element.getIntOrFloatBitWidth() / 8);
  }
  return std::clamp<int64_t>(16 / std::max<int64_t>(bytes, 1), 1, 8);
}

/// Threads that divide the partial sums of a column reduction, 32 rows of its columns.
static int64_t threadsForColumns(int64_t columns) {
  int64_t threads = blockThreads;
  while (threads > 32 && columnTreeWidth * columns % threads)
    threads /= 2;
  return threads;
}

FailureOr<Mapping> threads::chooseMapping(FuncOp kernel, ProgramOp program) {
  Mapping m;
  ScheduleAttr schedule = kernel.getScheduleAttr();
  SmallVector<LoopOp> loops(program.getBody().front().getOps<LoopOp>());
  int64_t rows = 0, points = 1, columns = 0;
  bool tiles = false;
  for (LoopOp loop : loops) {
    points = std::max(points, loop.getPoints());
    tiles |= hasTiles(loop);
    if (reducesRows(loop))
      rows = std::max(rows, loop.getPoints());
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (loop.isColumnReduction(i))
        columns = std::max(columns, loop.getExtents().back());
  }
  int64_t programs = kernel.getProgramCount();
  m.vec = schedule && schedule.getVec() ? schedule.getVec() : widestVector(kernel);
  m.reduces = rows != 0;
  if (rows) {
    int64_t tree = getRowTreeWidth(rows);
    int64_t v = schedule && schedule.getVec() ? std::clamp<int64_t>(schedule.getVec(), 1, 16)
                                              : std::clamp<int64_t>(m.vec, 4, 8);
    m.threads = schedule && schedule.getThreads() ? schedule.getThreads() : tree / v;
    if (!llvm::isPowerOf2_64(m.threads) || m.threads > 1024 || tree / m.threads > 16 ||
        m.threads > tree)
      return kernel.emitOpError("schedule: ") << m.threads << " threads cannot share the " << tree
                                              << " residues of its rows; take a power of two from "
                                              << std::max<int64_t>(tree / 16, 2) << " to " << tree;
    if (columns)
      m.threads = std::max<int64_t>(m.threads, 32);
  } else if (columns) {
    m.threads = threadsForColumns(columns);
  } else if (loops.size() == 1 && loops[0].getNumResults() == 0 &&
             program.getBody().front().getOps<StoreOp>().empty()) {
    m.flat = true;
    m.threads = schedule && schedule.getThreads() ? schedule.getThreads() : blockThreads;
    return m;
  } else {
    int64_t wanted = llvm::PowerOf2Ceil(llvm::divideCeil(points, m.vecOf(points)));
    m.threads = schedule && schedule.getThreads() ? schedule.getThreads()
                                                  : std::clamp<int64_t>(wanted, 1, blockThreads);
  }
  // Tiles in shared memory belong to the block; blocks are whole warps.
  bool mayPack = !columns && (rows || !tiles);
  for (LoopOp loop : loops)
    for (Value result : loop.getResults())
      if (isa<RankedTensorType>(result.getType()))
        for (Operation *user : result.getUsers()) {
          auto load = dyn_cast<LoadOp>(user);
          auto at = user->getParentOfType<LoopOp>();
          mayPack &= load && at && at.getExtents() == loop.getExtents() &&
                     load.getMap().isIdentity() && at->getParentOp() == program &&
                     llvm::equal(load.getIndices(), at.getBody().getArguments());
        }
  if (mayPack) {
    m.packed = schedule && schedule.getPacked() ? schedule.getPacked()
                                                : std::max<int64_t>(1, 128 / m.threads);
    m.packed = std::min<int64_t>(m.packed, llvm::PowerOf2Ceil(programs));
    if (m.threads * m.packed < 32)
      m.packed = 32 / m.threads;
  } else if (m.threads < 32) {
    // The block is one warp; threads beyond the points idle. Only without rows, or with rows whose
    // tree has room.
    m.threads = 32;
  }
  return m;
}
