//===- gpucc-lsp-server.cpp - editors understand gpucc's IR ---------------===//
//
// Speaks the language server protocol for .mlir files with all dialects of
// gpucc: diagnostics while typing, definitions, hover. Set it as the MLIR server of the editor.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Pipelines/Register.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  gpucc::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
