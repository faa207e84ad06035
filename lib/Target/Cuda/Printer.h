//===- Printer.h - one statement per operation ------------------*- C++ -*-===//
//
// Knows a closed list of operations and decides nothing. Printer.cpp prints
// functions, control and memory; PrintScalars.cpp arithmetic.
//
//   %3 = arith.addf %1, %2 : f32        float v3 = v1 + v2;
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TARGET_CUDA_PRINTER_H
#define GPUCC_LIB_TARGET_CUDA_PRINTER_H

#include "gpucc/Target/Cuda/Emit.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gpucc::cuda {

class Printer {
public:
  Printer(llvm::raw_ostream &os) : os(os) {}
  mlir::LogicalResult print(mlir::func::FuncOp function);

private:
  using Value = mlir::Value;
  using Operation = mlir::Operation;

  std::string type(mlir::Type t);
  std::string unsignedType(mlir::Type t);
  std::string literal(mlir::TypedAttr attr);
  /// The name of a value, or the literal of a constant.
  std::string name(Value v);
  std::string fresh(const char *prefix) { return prefix + std::to_string(next++); }
  llvm::raw_ostream &line() { return os.indent(2 * depth); }

  void define(Operation *op, const std::string &expression);
  void binary(Operation *op, const char *symbol);
  void call(Operation *op, const std::string &function);
  /// Integers wrap: computed unsigned.
  void wrapping(Operation *op, const char *symbol);
  void unsignedBinary(Operation *op, const char *symbol);

  mlir::LogicalResult printOp(Operation *op);
  /// False when the operation is not arithmetic that the printer knows.
  bool printScalar(Operation *op);
  bool printFloat(Operation *op);
  bool printInteger(Operation *op);
  bool printMath(Operation *op);
  bool printConversion(Operation *op);
  void printCompareFloat(mlir::arith::CmpFOp op);
  void printCompareInteger(mlir::arith::CmpIOp op);
  void printAlloca(mlir::memref::AllocaOp op);
  mlir::LogicalResult printFor(mlir::scf::ForOp op);
  mlir::LogicalResult printIf(mlir::scf::IfOp op);
  mlir::LogicalResult printSkeleton(kernel::SkeletonCallOp op);
  mlir::LogicalResult printBlock(mlir::Block &block);
  /// `targets` receive what a yield hands out.
  void assign(mlir::ValueRange yielded, llvm::ArrayRef<std::string> targets);
  std::string element(Value memory, mlir::ValueRange indices);
  std::string pointer(Value memory, mlir::ValueRange indices);
  std::string vectorType(mlir::VectorType type);

  llvm::raw_ostream &os;
  llvm::DenseMap<Value, std::string> names;
  int next = 0, depth = 1;
  bool wideIndex = false;
};

} // namespace gpucc::cuda

#endif // GPUCC_LIB_TARGET_CUDA_PRINTER_H
