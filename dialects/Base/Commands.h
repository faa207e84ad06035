//===- Commands.h - what a rank does ----------------------------*- C++ -*-===//
// See Commands.td. The verifiers that sched and plan share stand here, as templates over the op.
#ifndef GPUCC_BASE_COMMANDS_H
#define GPUCC_BASE_COMMANDS_H

#include "dialects/Base/Base.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

namespace gpucc::base {

/// One view that a command touches.
struct Access {
  ViewAttr view;
  bool reads = false, writes = false;
};

/// Operands that a library call of this kind takes, 0 for an unknown kind.
unsigned numLibraryOperands(llvm::StringRef kind);

/// Accesses from parallel lists of views and letters; library operands are read but for the last.
llvm::SmallVector<Access> launchAccesses(mlir::ArrayAttr views, llvm::StringRef letters);
llvm::SmallVector<Access> libraryAccesses(mlir::ArrayAttr operands, mlir::DictionaryAttr config);

// The numbered constraints of Commands.td.
llvm::LogicalResult verifyLaunch(mlir::Operation *op, mlir::ArrayAttr views, llvm::StringRef access);
llvm::LogicalResult verifyLibraryCall(mlir::Operation *op, llvm::StringRef kind,
                                      mlir::ArrayAttr operands);
llvm::LogicalResult verifyCopy(mlir::Operation *op, ViewAttr source, ViewAttr destination,
                               int64_t bytes, int64_t rows, int64_t sourcePitch,
                               int64_t destinationPitch);
llvm::LogicalResult verifyFill(mlir::Operation *op, ViewAttr destination, int64_t patternSize);
llvm::LogicalResult verifyCollective(mlir::Operation *op, llvm::StringRef kind, bool hasInput,
                                     bool hasOutput, bool hasAxes, bool hasPeerStage);
llvm::LogicalResult verifyTensor(mlir::Operation *op, llvm::StringRef role, mlir::Type type,
                                 mlir::ArrayAttr slices);
llvm::LogicalResult verifyInitialize(mlir::Operation *op, bool hasValue, bool hasKey);
llvm::LogicalResult verifyScript(mlir::Operation *op, mlir::ArrayAttr segments,
                                 llvm::ArrayRef<int64_t> slots);

} // namespace gpucc::base

#include "dialects/Base/CommandsInterfaces.h.inc"

/// Defines the members of one dialect's command ops by the functions above.
#define GPUCC_DEFINE_COMMANDS                                                                      \
  SmallVector<base::Access> LaunchOp::getAccesses() {                                              \
    return base::launchAccesses(getViews(), getAccess());                                          \
  }                                                                                                \
  LogicalResult LaunchOp::verify() { return base::verifyLaunch(*this, getViews(), getAccess()); }  \
  SmallVector<base::Access> LibraryCallOp::getAccesses() {                                         \
    return base::libraryAccesses(getArgs(), getConfig());                                  \
  }                                                                                                \
  LogicalResult LibraryCallOp::verify() {                                                          \
    return base::verifyLibraryCall(*this, getKind(), getArgs());                           \
  }                                                                                                \
  SmallVector<base::Access> CopyOp::getAccesses() {                                                \
    return {{getSource(), true, false}, {getDestination(), false, true}};                          \
  }                                                                                                \
  LogicalResult CopyOp::verify() {                                                                 \
    return base::verifyCopy(*this, getSource(), getDestination(), getBytes(), getRows(),           \
                            getSourcePitch(), getDestinationPitch());                              \
  }                                                                                                \
  SmallVector<base::Access> FillOp::getAccesses() { return {{getDestination(), false, true}}; }    \
  LogicalResult FillOp::verify() {                                                                 \
    return base::verifyFill(*this, getDestination(), getPatternSize());                            \
  }                                                                                                \
  SmallVector<base::Access> CollectiveOp::getAccesses() {                                          \
    SmallVector<base::Access> result;                                                              \
    if (getInput())                                                                                \
      result.push_back({*getInput(), true, false});                                                \
    if (getOutput())                                                                               \
      result.push_back({*getOutput(), false, true});                                               \
    return result;                                                                                 \
  }                                                                                                \
  LogicalResult CollectiveOp::verify() {                                                           \
    return base::verifyCollective(*this, getKind(), getInput().has_value(),                        \
                                  getOutput().has_value(), !getAxes().empty(),                     \
                                  getPeerStage().has_value());                                     \
  }                                                                                                \
  LogicalResult TensorOp::verify() {                                                               \
    return base::verifyTensor(*this, getRole(), getType(), getSlices());                           \
  }                                                                                                \
  LogicalResult InitializeOp::verify() {                                                           \
    return base::verifyInitialize(*this, getValue().has_value(), getKey().has_value());            \
  }                                                                                                \
  LogicalResult ScriptOp::verify() { return base::verifyScript(*this, getSegments(), getSlots()); }

#endif // GPUCC_BASE_COMMANDS_H
