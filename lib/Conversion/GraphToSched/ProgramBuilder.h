//===- ProgramBuilder.h - buffers and tensor table of one program -*- C++ -*-===//
//
// What the segments of one stage share: io, state, weight and saved buffers by
// name, entries of the tensor table, and what is written at prepare. A state
// that forward reads and update overwrites is one buffer because it has one
// name; a constant that three segments use is written once.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_CONVERSION_GRAPHTOSCHED_PROGRAMBUILDER_H
#define GPUCC_LIB_CONVERSION_GRAPHTOSCHED_PROGRAMBUILDER_H

#include "dialects/Dist/Dist.h"
#include "dialects/Graph/Graph.h"
#include "dialects/Sched/Sched.h"
#include "gpucc/Facts/Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc::sched {

/// Bytes of a tensor value.
struct Storage {
  mlir::FlatSymbolRefAttr buffer;
  int64_t offset = 0, bytes = 0;
  base::ViewAttr view() const { return base::ViewAttr::get(buffer.getContext(), buffer, offset, bytes); }
};

/// Bytes that a value of this type takes, packed.
int64_t byteSize(mlir::Type tensor);

/// An argument or a result of a function: type and attributes.
struct Port {
  mlir::RankedTensorType type;
  mlir::DictionaryAttr attrs;
  llvm::StringRef name() const;
  llvm::StringRef kind() const;
  Sharding sharding() const; ///< replicated when none is given
};
Port argumentPort(mlir::func::FuncOp function, unsigned index);
Port resultPort(mlir::func::FuncOp function, unsigned index);

class ProgramBuilder {
public:
  /// Creates an empty sched.program at the end of `module`. `slots`: micro-batches that one
  /// execution consumes; `inFlight`: those that are between forward and backward at once.
  ProgramBuilder(mlir::ModuleOp module, llvm::StringRef name, int64_t stage, Mesh mesh,
                 base::ProfileAttr profile, int64_t slots, int64_t inFlight);

  ProgramOp getProgram() { return program; }
  const Mesh &getMesh() const { return mesh; }
  /// Inserts behind everything the program holds.
  mlir::OpBuilder &atEnd() {
    builder.setInsertionPointToEnd(&program.getBody().front());
    return builder;
  }

  /// Storage of an input, label, state or saved argument, made on first use.
  llvm::FailureOr<Storage> argument(mlir::func::FuncOp function, unsigned index);
  /// Storage where a result must lie in the end.
  llvm::FailureOr<Storage> result(mlir::func::FuncOp function, unsigned index);
  Storage weight(graph::WeightOp op);
  Storage constant(graph::ConstantOp op);
  Storage axisIndex(dist::AxisIndexOp op);
  Storage scratch(int64_t bytes);

private:
  Storage makeBuffer(llvm::StringRef prefix, BufferKind kind, int64_t bytes, int64_t slots = 1);
  Storage ioPort(const Port &port, mlir::Location loc, bool isResult);
  Storage statePort(const Port &port, mlir::Location loc);
  Storage savedPort(const Port &port);
  void initializeState(const Port &port, Storage storage, mlir::Location loc);
  bool isBatched(const Port &port);
  void addTensor(const Port &port, llvm::StringRef role, Storage storage, int64_t slots,
                 mlir::Location loc);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  ProgramOp program;
  Mesh mesh;
  int64_t slots, inFlight;
  unsigned counter = 0;
  std::map<std::string, Storage> io, states, saved;
  llvm::DenseMap<mlir::Attribute, Storage> constants;
  std::map<std::string, Storage> weights, rankConstants;
};

} // namespace gpucc::sched

#endif // GPUCC_LIB_CONVERSION_GRAPHTOSCHED_PROGRAMBUILDER_H
