//===- FunctionSpread.h - one function, axis after axis ---------*- C++ -*-===//
//
// Holds what is decided for a function so far and states the search problem of
// the next mesh axis (AxisSearch.h): values and ops by number, dimensions that
// other axes took closed, sizes already divided by them.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_DIST_FUNCTIONSPREAD_H
#define GPUCC_LIB_TRANSFORMS_DIST_FUNCTIONSPREAD_H

#include "dialects/Base/Base.h"
#include "gpucc/Transforms/Dist/AxisSearch.h"
#include "gpucc/Transforms/Dist/FunctionSharding.h"

namespace gpucc {

/// What the propagation allows an argument on the axis at hand.
struct ArgumentFreedom {
  int8_t state = axis::Open; ///< fixed, or Open
  bool maySplit = false, mayBePartial = false;
  /// What is computed from it alone takes the form its users want (parameters in a step).
  bool isStatic = false;
};

struct AxisOptions {
  std::string axis;
  bool splitWeights = false, splitActivations = false, keepWeightsWhole = false, keepSplit = false;
  size_t beam = 16;
};

class FunctionSpread {
public:
  FunctionSpread(mlir::func::FuncOp function, const Mesh &mesh);

  /// Decides one axis. Fails with an error at the op whose pin cannot be met.
  mlir::LogicalResult decide(const AxisOptions &options,
                             llvm::function_ref<ArgumentFreedom(mlir::BlockArgument)> freedom);
  /// Takes an axis back.
  void forget(const std::string &axis);
  /// Dimensions that `axis` splits now stay closed to other axes even after forget().
  void closeDimsOf(const std::string &axis);

  Sharding sharding(mlir::Value value) const;
  /// Everything decided so far.
  FunctionSharding result() const;
  double sentBytes() const { return bytes; }

  /// State of a sharding on one axis.
  static int8_t stateOn(const Sharding &sharding, const std::string &axis);

private:
  mlir::func::FuncOp function;
  Mesh mesh;
  std::vector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, int> index;
  std::vector<mlir::Operation *> ops;
  std::vector<ShardingRule> rules;
  std::vector<OpStrategy> strategies;
  std::vector<Sharding> shardings;       ///< per value
  std::vector<std::vector<bool>> closed; ///< per value and dimension: to axes other than `closer`
  std::string closer;
  std::vector<bool> fromWeight; ///< per value: computed from parameters
  double bytes = 0;

  int add(mlir::Value value);
  AxisProblem state(const AxisOptions &options,
                    llvm::function_ref<ArgumentFreedom(mlir::BlockArgument)> freedom) const;
  AxisProblem::Op stateOp(size_t i, const AxisOptions &options, const AxisProblem &problem) const;
};

} // namespace gpucc

#endif // GPUCC_LIB_TRANSFORMS_DIST_FUNCTIONSPREAD_H
