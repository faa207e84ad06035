//===- SpmdEvaluate.h - runs the programs of all ranks at once --*- C++ -*-===//
//
// Every rank of every stage in one process, in lockstep: each runs its stage's
// script until it must wait; a collective happens when all its members stand at
// it. A module without a mesh is one rank, so the unpartitioned program runs
// the same way and the two are compared value by value (SpmdCompare.h).
//
//   SpmdEvaluator ranks(module);                // partitioned: dist.mesh, scripts
//   ranks.setState("fc.weight", w);             // global tensors, cut by dist.sharding
//   ranks.runStep({{{"x", x0}, {"labels", t0}}, {{"x", x1}, {"labels", t1}}}); // two micro-batches
//   HostTensor w1 = *ranks.getState("fc.weight");
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_REFERENCE_SPMDEVALUATE_H
#define GPUCC_REFERENCE_SPMDEVALUATE_H

#include "dialects/Dist/Dist.h"
#include "gpucc/Reference/Evaluator.h"

#include <functional>
#include <map>
#include <set>

namespace gpucc {

using NamedTensors = std::map<std::string, HostTensor>;

/// One result of one op on one rank.
struct SpmdObservation {
  mlir::Operation *op;
  mlir::func::FuncOp function;
  int64_t rank, microBatch;
  unsigned result;
  HostTensor value;
};

/// Blocks of a tensor on ranks put together: `block(rank)` is null for ranks without one. Copies
/// must be identical; otherwise `error` names two ranks that differ.
std::optional<HostTensor> gatherBlocks(const Mesh &mesh, const Sharding &sharding,
                                       const std::vector<int64_t> &shape, DType type,
                                       llvm::function_ref<const HostTensor *(int64_t)> block,
                                       std::string &error);
/// The block of `rank`; of a value that is partial, the first rank of the group has it, others
/// zeros.
HostTensor cutBlock(const Mesh &mesh, const Sharding &sharding, const HostTensor &whole,
                    int64_t rank);

class SpmdEvaluator {
public:
  /// `weights` may be null when no function reads weights; it must outlive the evaluator.
  explicit SpmdEvaluator(mlir::ModuleOp module, const WeightSource *weights = nullptr);

  int64_t numRanks() const { return mesh.numRanks(); }
  const Mesh &getMesh() const { return mesh; }

  /// Cuts a global state tensor and gives each rank that has it its block. State that is never set
  /// starts as zeros.
  void setState(const std::string &name, const HostTensor &whole);

  /// One pass over the scripts: all micro-batches, then the update if there is one. Inputs are
  /// global, by name. A failure has emitted its error (a deadlock names every waiting rank).
  mlir::LogicalResult runStep(const std::vector<NamedTensors> &microBatches);

  /// State as a global tensor. Fails with an error where copies on ranks differ.
  mlir::FailureOr<HostTensor> getState(const std::string &name) const;
  /// Accumulators as they were when the last update began (the summed gradients), made whole.
  mlir::FailureOr<HostTensor> getGradient(const std::string &name) const;
  /// Outputs and metrics of the last step by name and micro-batch (-1: the update's), made whole.
  mlir::FailureOr<HostTensor> getOutput(const std::string &name, int64_t microBatch) const;
  bool hasGradient(const std::string &name) const;
  bool hasOutput(const std::string &name, int64_t microBatch) const;
  mlir::MLIRContext *getContext() const { return mlir::ModuleOp(module).getContext(); }
  /// For messages. `kind` is "state", "gradient" or "output". A rank's block of such a value, null
  /// when it has none; how the value lies; and the op behind the result of that name.
  const HostTensor *blockOf(llvm::StringRef kind, const std::string &name, int64_t microBatch,
                            int64_t rank) const;
  Sharding shardingOf(llvm::StringRef kind, const std::string &name) const;
  mlir::Operation *producerOf(llvm::StringRef kind, const std::string &name) const;
  /// Names of everything a function returns as state, or as output or metric.
  std::vector<std::string> stateNames() const;
  std::vector<std::string> outputNames() const;

  /// Called for every op result on every rank.
  std::function<void(const SpmdObservation &)> observe;

private:
  /// Where and how a named value lies.
  struct Place {
    Sharding sharding;
    std::vector<int64_t> shape; ///< global
    DType type = DType::F32;
    std::set<int64_t> stages; ///< whose programs have it
  };
  struct Action {
    mlir::func::FuncOp function;
    int64_t microBatch = 0, slot = 0;
  };
  struct Rank {
    int64_t number = 0, stage = 0;
    NamedTensors state, gradients;
    std::map<std::pair<std::string, int64_t>, HostTensor> outputs;
    std::map<std::pair<int64_t, int64_t>, HostTensor> saved; ///< by key and slot
    size_t action = 0;
    mlir::Operation *at = nullptr; ///< next op; null between actions
    llvm::DenseMap<mlir::Value, HostTensor> values;
  };
  using Mailbox = std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<HostTensor>>;

  mlir::ModuleOp module;
  const WeightSource *weights;
  Mesh mesh;
  std::vector<std::vector<Action>> scripts; ///< per stage
  std::map<std::string, Place> states, outputs;
  std::vector<Rank> ranks;
  Mailbox mail; ///< by sender, receiver and channel
  const std::vector<NamedTensors> *inputs = nullptr;

  void collectPlaces(mlir::func::FuncOp function);
  void readScripts(size_t microBatches);
  mlir::LogicalResult begin(Rank &rank);
  void finish(Rank &rank, mlir::func::ReturnOp op);
  enum class Progress { Moved, Waits, Done, Failed };
  Progress advance(Rank &rank);
  Progress step(Rank &rank, mlir::Operation *op);
  void define(Rank &rank, mlir::Operation *op, llvm::ArrayRef<HostTensor> results);
  bool meet();
  mlir::LogicalResult reportDeadlock();
  std::vector<int64_t> membersOf(const Rank &rank, mlir::Operation *collective) const;
  mlir::FailureOr<HostTensor>
  makeWhole(const std::string &name, const Place &place,
            llvm::function_ref<const HostTensor *(int64_t)> block) const;
};

/// Global shape of a value whose block has `local` shape.
std::vector<int64_t> globalShape(const Mesh &mesh, const Sharding &sharding,
                                 std::vector<int64_t> local);

} // namespace gpucc

#endif // GPUCC_REFERENCE_SPMDEVALUATE_H
