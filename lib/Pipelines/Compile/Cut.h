//===- Cut.h - the first ops of a model as a program ------------*- C++ -*-===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_CUT_H
#define GPUCC_LIB_PIPELINES_COMPILE_CUT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc {

/// Ops of a function of graph ops, constants and weights aside.
size_t countOps(mlir::func::FuncOp function);

/// Ends the function after its first `count` ops: it returns what the rest would read, each result
/// named "<ordinal>: <node> as <op>". What the last op kept is.
std::string cutAfter(mlir::func::FuncOp function, size_t count);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_CUT_H
