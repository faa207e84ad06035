//===- Prove.h - partition a program and compare it -------------*- C++ -*-===//
//
// Reads a module, partitions a copy by a textual pass pipeline, gives both the
// same random state and inputs, and compares them step by step.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_TRANSFORMS_DIST_PROVE_H
#define GPUCC_TEST_TRANSFORMS_DIST_PROVE_H

#include "gpucc/Reference/SpmdCompare.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

struct Proof {
  bool ran = false; ///< parsed, partitioned and executed
  std::vector<gpucc::SpmdReport> steps;
  std::string diagnostics; ///< everything that was emitted
  std::string ir;          ///< the partitioned module
  int64_t collectives = 0;

  bool equal() const;
  std::string dump() const;
};

struct ProofOptions {
  std::string pipeline; ///< passes that partition the program, whose ops are numbered
  int64_t microBatches = 1;
  int steps = 2;
  /// Spoils the partitioned module before it runs.
  std::function<void(mlir::ModuleOp)> spoil = nullptr;
  std::string before = ""; ///< passes that the unpartitioned program runs too
};

/// A context with every dialect and pass that the proofs need.
void prepare(mlir::MLIRContext &context);
Proof prove(const std::string &text, const ProofOptions &options);
std::string readInput(const std::string &file);

#endif
