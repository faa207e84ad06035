//===- gpucc-opt.cpp - runs passes and phase pipelines on text ------------===//
//
//   gpucc-opt --gpucc-fuse model.mlir          one pass
//   gpucc-opt --gpucc-phase-graph model.mlir   what the product runs up to that phase
//
//===----------------------------------------------------------------------===//
#include "gpucc/Pipelines/Compile.h"
#include "gpucc/Pipelines/Register.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  gpucc::registerAllDialects(registry);
  gpucc::registerAllPasses();
  gpucc::registerPhasePipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "gpucc optimizer driver\n", registry));
}
