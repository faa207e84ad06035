//===- Diagnostics.h - errors as people read them ---------------*- C++ -*-===//
//
//   mlp.onnx: fc2 (Gemm): error: (C2) lhs dimension 1 has size 3, its partner, rhs dimension 0, has 4
//     note: paired dimensions have equal sizes
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_DIAGNOSTICS_H
#define GPUCC_LIB_PIPELINES_COMPILE_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <set>

namespace gpucc {

/// Prints the context's diagnostics on stderr while it lives; equal warnings and remarks once.
class ConsoleDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  ConsoleDiagnostics(mlir::MLIRContext *context, bool quiet);

private:
  std::set<std::string> said; ///< warnings and remarks
};

/// "file: node (Op): " as far as the location says.
std::string placeOf(mlir::Location location);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_DIAGNOSTICS_H
