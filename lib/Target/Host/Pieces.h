//===- Pieces.h - the steps of compileHostImage -----------------*- C++ -*-===//
#ifndef GPUCC_LIB_TARGET_HOST_PIECES_H
#define GPUCC_LIB_TARGET_HOST_PIECES_H

#include "gpucc/Target/Host/Host.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace gpucc::host {

/// Skeletons, joined dimensions, functions: kernel.func as the lowering takes it (Lower.cpp).
mlir::LogicalResult prepareKernels(mlir::ModuleOp module);
/// Prepared kernel.func → llvm dialect, in place (Lower.cpp).
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module, int64_t width);

/// A machine for the level, with contraction of multiplications and additions off (Codegen.cpp).
std::unique_ptr<llvm::TargetMachine> createMachine(llvm::StringRef cpuLevel, std::string &error);
/// Gives every kernel the ABI of plans and runs the lean list of LLVM passes (Codegen.cpp).
llvm::Error optimize(llvm::Module &module, llvm::TargetMachine &machine, int64_t width);
/// Defines __truncsfbf2, which code generation calls where the machine has no bf16 registers.
void addBf16Rounding(llvm::Module &module);
/// ELF object code (Codegen.cpp).
llvm::Expected<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine);

/// Object code → shared library (Link.cpp).
llvm::Expected<std::string> linkSharedLibrary(llvm::StringRef object, llvm::StringRef linker);

} // namespace gpucc::host

#endif // GPUCC_LIB_TARGET_HOST_PIECES_H
