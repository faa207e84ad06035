//===- OpInstances.h - at least one well-typed use of every graph op ------===//
//
// Functions whose last op before the return is the op under test (others make
// constants). Floats are f64, so that laws can be checked closely. Argument
// attributes say where inputs lie: `test.range = [lo, hi]` (floats, default
// [-2, 2]) and `test.ints = [lo, hi]` (integers lo ≤ i < hi, default [0, 2]).
// `test.distinct` draws floats that keep a distance from each other, away from
// the ties where a function has no derivative.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_REFERENCE_OPINSTANCES_H
#define GPUCC_TEST_REFERENCE_OPINSTANCES_H

#include "gpucc/Reference/Evaluator.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>

namespace gpucc::test {

/// A context with the dialects that the tests need; unregistered attributes are allowed.
void loadDialects(mlir::MLIRContext &context);

/// All instances, parsed and verified.
mlir::OwningOpRef<mlir::ModuleOp> parseInstances(mlir::MLIRContext &context);

/// The op under test of an instance.
mlir::Operation *opUnderTest(mlir::func::FuncOp instance);

/// Inputs for an instance, drawn as its argument attributes say.
llvm::SmallVector<HostTensor> drawInputs(mlir::func::FuncOp instance, std::mt19937_64 &random);

/// Uniform in [0, 1), the same on every platform.
double uniform(std::mt19937_64 &random);

} // namespace gpucc::test

#endif // GPUCC_TEST_REFERENCE_OPINSTANCES_H
