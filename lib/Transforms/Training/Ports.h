//===- Ports.h - arguments and results of training functions ----*- C++ -*-===//
//
// Adding a state to a function is always the same: an argument with a name and
// a role, and a result of that name that overwrites it.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_TRAINING_PORTS_H
#define GPUCC_LIB_TRANSFORMS_TRAINING_PORTS_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpucc::training {

/// Attributes of an argument or result.
mlir::DictionaryAttr portAttrs(mlir::MLIRContext *context, llvm::StringRef name,
                               llvm::StringRef kind, base::StateAttr state = {},
                               std::optional<int64_t> alias = std::nullopt);

/// What an argument says of itself; "" and null where it says nothing.
llvm::StringRef nameOf(mlir::func::FuncOp function, unsigned argument);
base::StateAttr stateOf(mlir::func::FuncOp function, unsigned argument);
bool isTrainable(mlir::func::FuncOp function, unsigned argument);

/// Appends an argument; the value.
mlir::Value addArgument(mlir::func::FuncOp function, mlir::Type type, mlir::DictionaryAttr attrs);
/// Appends a result: an operand of the return and its attributes.
void addResult(mlir::func::FuncOp function, mlir::Value value, mlir::DictionaryAttr attrs);

/// A state argument and, through `setState`, the result that overwrites it.
struct State {
  mlir::Value value;
  unsigned index = 0;
};
State addState(mlir::func::FuncOp function, llvm::StringRef name, mlir::Type type,
               base::StateAttr state);
/// The existing state argument of this name, or a new one.
State getState(mlir::func::FuncOp function, llvm::StringRef name, mlir::Type type,
               base::StateAttr state);
void setState(mlir::func::FuncOp function, State state, mlir::Value newValue);

/// The state `derived` (moment, master, accumulator of the role) belongs to the parameter described
/// by `parameter`: where that is a piece of an initializer, this is the same piece of what the
/// whole parameter would have; a master begins with the same weights.
void derivePlace(mlir::func::FuncOp function, State derived, mlir::DictionaryAttr parameter,
                 base::StateRole role);

/// "w.accumulator" and so on (docs/conventions.md).
std::string derivedName(llvm::StringRef parameter, base::StateRole role);

} // namespace gpucc::training

#endif // GPUCC_LIB_TRANSFORMS_TRAINING_PORTS_H
