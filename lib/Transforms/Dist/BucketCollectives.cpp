//===- BucketCollectives.cpp - few large all-reduces from many small ones -===//
//
// Walks a block in order and gathers all-reduces of one kind (combiner, axes,
// element type) into a bucket until it is full, or until an op cannot wait any
// longer for its result. What depends on a bucket moves behind it.
//
//   %a = all_reduce %0 : tensor<4xf32>        %p = concat (reshape %0, reshape %1)
//   %b = all_reduce %1 : tensor<2x3xf32>  ->  %r = all_reduce %p : tensor<10xf32>
//                                             %a = reshape (slice %r 0..4)
//                                             %b = reshape (slice %r 4..10)
//
// Backward makes gradients last layer first, so buckets fill in the order in
// which they can be sent while backward goes on.
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Base.h"
#include "dialects/Graph/Build.h"
#include "gpucc/Transforms/Dist/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
struct Bucket {
  SmallVector<dist::AllReduceOp> members;
  /// Ops that use results of members, directly or not, in order.
  llvm::SetVector<Operation *> waiting;
  double bytes = 0;
};

/// What must be equal in one bucket.
using Key = std::tuple<Attribute, Attribute, Attribute, Type, int>;

class Bucketing {
public:
  Bucketing(Block &block, double limit) : block(block), limit(limit) {}
  /// Returns how many all-reduces went into buckets of at least two.
  int64_t run(int64_t &buckets);

private:
  Block &block;
  double limit;
  llvm::MapVector<Key, Bucket> open;
  int64_t combined = 0, made = 0;

  bool waits(Operation *op, const Bucket &bucket) const {
    return llvm::any_of(op->getOperands(), [&](Value v) {
      Operation *def = v.getDefiningOp();
      return def && (bucket.waiting.contains(def) ||
                     llvm::any_of(bucket.members, [&](dist::AllReduceOp m) { return m == def; }));
    });
  }
  void close(Bucket &bucket);
};
} // namespace

static double bytesOf(dist::AllReduceOp op) {
  auto type = op.getType();
  return static_cast<double>(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
}

/// One all-reduce at the place of the last member, and everything that waits behind it.
void Bucketing::close(Bucket &bucket) {
  if (bucket.members.size() < 2) {
    bucket = Bucket();
    return;
  }
  dist::AllReduceOp last = bucket.members.back();
  OpBuilder builder(last);
  SmallVector<Location> locations;
  SmallVector<Value> parts;
  for (dist::AllReduceOp member : bucket.members) {
    locations.push_back(member.getLoc());
    graph::GraphBuilder g(builder, member.getLoc());
    parts.push_back(g.reshape(member.getX(), {member.getType().getNumElements()}));
  }
  graph::GraphBuilder g(builder, FusedLoc::get(builder.getContext(), locations));
  Value packed = g.concat(parts, 0);
  auto reduce = cast<dist::AllReduceOp>(builder.clone(*last));
  reduce.getXMutable().assign(packed);
  reduce.getResult().setType(cast<RankedTensorType>(packed.getType()));
  reduce->setLoc(g.loc);
  int64_t start = 0;
  SmallVector<Value> results;
  for (dist::AllReduceOp member : bucket.members) {
    int64_t size = member.getType().getNumElements();
    results.push_back(g.reshape(g.sliceDim(reduce, 0, start, size), member.getType().getShape()));
    start += size;
  }
  Operation *behind = last;
  for (Operation *op : bucket.waiting)
    if (op->isBeforeInBlock(last)) {
      op->moveAfter(behind);
      behind = op;
    }
  for (auto [member, result] : llvm::zip_equal(bucket.members, results)) {
    member.getResult().replaceAllUsesWith(result);
    member.erase();
  }
  combined += static_cast<int64_t>(results.size());
  ++made;
  bucket = Bucket();
}

int64_t Bucketing::run(int64_t &buckets) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    auto reduce = dyn_cast<dist::AllReduceOp>(op);
    bool candidate = reduce && !reduce.getChannel() && reduce.getType().getNumElements() > 0;
    for (auto &[key, bucket] : open) {
      if (!waits(op, bucket))
        continue;
      // What cannot move (it ends the block, or talks to another program) needs the results now.
      if (isa<dist::CollectiveOpInterface>(op) || !isMemoryEffectFree(op) ||
          op->hasTrait<OpTrait::IsTerminator>())
        close(bucket);
      else
        bucket.waiting.insert(op);
    }
    if (!candidate)
      continue;
    Key key{reduce.getCombinerAttr(), reduce.getMeshAttr(), reduce.getAxesAttr(),
            reduce.getType().getElementType(), op->hasAttr(base::backwardAttr) ? 1 : 0};
    Bucket &bucket = open[key];
    if (!bucket.members.empty() && bucket.bytes + bytesOf(reduce) > limit)
      close(bucket);
    bucket.members.push_back(reduce);
    bucket.bytes += bytesOf(reduce);
  }
  for (auto &[key, bucket] : open)
    close(bucket);
  buckets += made;
  return combined;
}

namespace {
struct BucketCollectives : gpucc::impl::BucketCollectivesBase<BucketCollectives> {
  using BucketCollectivesBase::BucketCollectivesBase;

  void runOnOperation() override {
    int64_t made = 0;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      numCombined +=
          Bucketing(function.getBody().front(), static_cast<double>(bucketBytes)).run(made);
    numBuckets += made;
  }
};
} // namespace
