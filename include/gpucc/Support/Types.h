//===- Types.h - between MLIR types and plain facts -------------*- C++ -*-===//
//
//   toDType(f32) == DType::F32, toDType(ui8) == DType::U8 (signless means signed)
//   toHostTensor(dense<[1, 2]> : tensor<2xi64>) holds the two values
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SUPPORT_TYPES_H
#define GPUCC_SUPPORT_TYPES_H

#include "gpucc/Facts/HostTensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace gpucc {

/// None when the element type is not one of DType.h.
std::optional<DType> toDType(mlir::Type elementType);
mlir::Type toType(mlir::MLIRContext *context, DType type);

std::vector<int64_t> toShape(mlir::Type rankedTensor);
mlir::RankedTensorType toTensorType(mlir::MLIRContext *context, DType type,
                                    llvm::ArrayRef<int64_t> shape);

/// Copies an elements attribute; none when it is not dense, not a dense resource, or of a type
/// that DType does not have.
std::optional<HostTensor> toHostTensor(mlir::ElementsAttr attr);
/// A dense attribute (a splat when all elements have equal bits). Big tensors belong into
/// `graph.weight`, not into attributes.
mlir::ElementsAttr toElementsAttr(mlir::MLIRContext *context, const HostTensor &tensor);

} // namespace gpucc

#endif // GPUCC_SUPPORT_TYPES_H
