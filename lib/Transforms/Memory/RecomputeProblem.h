//===- RecomputeProblem.h - a step as a problem of what to keep -*- C++ -*-===//
//
// Splits a step's ops into forward and backward and translates forward into a
// solvers::KeepProblem: one tensor per value in the arena, one op per op that
// runs. What a solution means for the step is a list of *runs* in order
// (forward, then backward with the repeated ops in front of their first
// reader), from which peaks follow without touching the IR.
//
//   forward  a = exp x;  b = gelu a;  l = sum b        backward  g = f(b, a)
//   keep {b}: runs  a, b, l, a again, g                (a dies after b, lives again for g)
//
// A pipeline stage runs forward and backward apart, several micro-batches in between. What crosses
// then lies in buffers of its own, one per micro-batch in flight, for the whole step:
//
//   one function   peak = most bytes alive at once, crossing ones among them
//   a stage        peak = in flight * crossing + most of the other bytes alive at once
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_MEMORY_RECOMPUTEPROBLEM_H
#define GPUCC_LIB_TRANSFORMS_MEMORY_RECOMPUTEPROBLEM_H

#include "FunctionMemory.h"
#include "gpucc/Solvers/Recompute.h"
#include "llvm/ADT/SetVector.h"

namespace gpucc::memory {

/// One execution of an op. `again`: a repetition of a forward op.
struct Run {
  mlir::Operation *op;
  bool again = false;
};

/// What a choice costs and brings. Bytes are rounded to 256 per value.
struct Outcome {
  solvers::KeepSolution solution;
  std::vector<Run> runs;
  int64_t crossing =
      0;            ///< bytes that forward makes and backward reads, of all micro-batches in flight
  int64_t peak = 0; ///< most bytes of the arena taken at once, in the order of the runs
  double flops = 0; ///< of the repeated ops
};

/// How forward and backward of one step lie in memory.
struct StepStorage {
  int64_t inFlight = 0; ///< 0: one function; else buffers of crossing values in a pipeline stage
  /// Arguments that a stage's forward overwrites: backward reads a saved copy.
  llvm::DenseSet<mlir::Value> overwritten;
};

class RecomputeProblem {
public:
  explicit RecomputeProblem(mlir::func::FuncOp function, StepStorage storage = {});

  /// False when nothing runs backward here.
  bool hasBackward() const { return !backward.empty(); }
  const solvers::KeepProblem &problem() const { return keep; }
  bool isStage() const { return storage.inFlight > 0; }
  /// The forward op behind an op of problem().
  mlir::Operation *forwardOp(int op) const { return keepOps[static_cast<size_t>(op)]; }
  /// FLOP and cost (in the unit of KeepOp::cost) of one run of forward and backward.
  std::pair<double, double> workOfStep() const;
  /// FLOP of one op.
  static double flopsOf(mlir::Operation *op);

  /// The program as it is: forward first, nothing repeated.
  Outcome unchanged() const;
  Outcome outcome(const solvers::KeepSolution &solution) const;
  /// Repeats single ops more or less, first those whose values are alive where `budget` is exceeded
  /// most, until the peak fits or nothing helps; then drops repetitions that the budget does not
  /// need. The solver prices kept bytes, not peaks: a chain of repetitions that starts far back may
  /// hold more than it saves.
  Outcome fitPeak(const Outcome &start, int64_t budget) const;
  /// The same runs in an order with a lower peak, where a quick search finds one.
  void reorder(Outcome &outcome) const;

  /// Puts the runs into the function: moves ops, clones the repeated ones, and lets the readers in
  /// backward read the clones. The number of clones.
  int64_t apply(const Outcome &outcome);

private:
  void split();
  void addTensors();
  int tensorOf(mlir::Value root);
  std::vector<char> repeatedOf(const Outcome &outcome) const;
  Outcome outcomeOf(const std::vector<char> &repeated) const;
  void repeatWithProducers(int op, int depth, std::vector<char> &repeated) const;
  /// Bytes alive at each run.
  std::vector<int64_t> liveBytes(const Outcome &outcome) const;
  /// Ops whose values are alive at run `position` and that may be repeated.
  std::vector<int> repeatableAt(const Outcome &outcome, int position) const;
  std::vector<Run> listRuns(const std::vector<char> &repeated) const;
  solvers::OrderProblem orderProblem(const Outcome &outcome) const;
  void reorderRange(Outcome &outcome, size_t begin, size_t end) const;
  /// Values of forward that backward reads and that are not repeated.
  llvm::SetVector<mlir::Value> crossingRoots(const Outcome &outcome) const;
  int64_t crossingBytes(const Outcome &outcome) const;
  bool isRepeated(mlir::Value root, const std::vector<char> &repeated) const;
  /// Lies where backward can read it without taking bytes of its own: in an output.
  bool staysAnyway(mlir::Value root) const { return !isStage() && memory.isReturned(root); }
  int64_t copies() const { return std::max<int64_t>(1, storage.inFlight); }

  FunctionMemory memory;
  StepStorage storage;
  std::vector<mlir::Operation *> forward, backward; ///< all ops, free ones too
  std::vector<mlir::Operation *> keepOps;           ///< forward op of each op of `keep`
  llvm::DenseMap<mlir::Operation *, int> keepIndex;
  llvm::DenseMap<mlir::Value, int> tensors;
  llvm::DenseSet<mlir::Operation *> isBackward;
  solvers::KeepProblem keep;
};

} // namespace gpucc::memory

#endif // GPUCC_LIB_TRANSFORMS_MEMORY_RECOMPUTEPROBLEM_H
