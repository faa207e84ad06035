//===- Register.h - all dialects and passes, for the tools ------*- C++ -*-===//
#ifndef GPUCC_PIPELINES_REGISTER_H
#define GPUCC_PIPELINES_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace gpucc {
/// gpucc's dialects and the upstream ones they lower to.
void registerAllDialects(mlir::DialectRegistry &registry);
/// gpucc's passes and phase pipelines, canonicalize, cse.
void registerAllPasses();
} // namespace gpucc

#endif // GPUCC_PIPELINES_REGISTER_H
