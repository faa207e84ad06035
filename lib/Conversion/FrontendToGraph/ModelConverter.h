//===- ModelConverter.h - a frontend.graph under one profile ----*- C++ -*-===//
//
// Makes one function: arguments with bound shapes, values of the frontend
// mapped to values of the graph dialect, rules applied in order, results.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_MODELCONVERTER_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_MODELCONVERTER_H

#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#include "lib/Conversion/FrontendToGraph/Node.h"
#include "lib/Conversion/FrontendToGraph/WeightReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace gpucc::frontend_to_graph {

class ModelConverter {
public:
  ModelConverter(mlir::ModuleOp module, frontend::GraphOp source, const ConversionOptions &options,
                 const ProfileBinding &profile, WeightReader &reader, Conversion &outcome);

  /// Builds `name`; the outcome's status says how it went.
  void run(llvm::StringRef name, bool withProfile);

  // For rules.
  const ConversionOptions &options;
  WeightReader &reader;
  /// Converts the nodes of a body with its arguments mapped to `arguments`; the yielded values.
  /// `conditional`: a condition at run time says whether the results count, so that indices of the
  /// body may be out of range where they do not (graph::conditionalAttr).
  std::optional<SmallVector<Value>> convertBody(mlir::Region &body, ArrayRef<Value> arguments,
                                                bool conditional = false);
  void reportMissing(frontend::NodeOp node, const llvm::Twine &reason);
  void reportInvalid(frontend::NodeOp node, const llvm::Twine &text);
  /// Notes that conversion wanted the value of `value`, when that is an input.
  void needValue(Value value);
  /// `value` is an argument that holds running statistics: never trained, overwritten by `next`.
  void updateStatistic(Value value, Value next);
  /// The argument that counts completed steps (under training), made when first asked for.
  Value stepCounter();
  /// The ordinal of the next random op, in order of the model.
  int64_t nextOrdinal() { return ordinal++; }
  /// The graph value of a frontend value (an initializer is materialized when first read).
  Value valueOf(Value frontendValue);
  /// The tensors of a sequence that is known while converting (Rules/Lists.cpp); null for others.
  using List = SmallVector<Value>;
  const List *listOf(Value frontendValue) const {
    auto it = lists.find(frontendValue);
    return it == lists.end() ? nullptr : &it->second;
  }
  void setList(Value frontendValue, List list) { lists[frontendValue] = std::move(list); }
  /// How a graph value varies in size; null for one of known size.
  const Varying *varyingOf(Value value) const {
    auto it = varying.find(value);
    return it == varying.end() ? nullptr : it->second.get();
  }
  void setVarying(Value value, Varying size) {
    varying[value] = std::make_unique<const Varying>(std::move(size));
  }
  /// Live nodes only are converted; results nobody reads need not be computed.
  bool isRead(Value frontendValue) const { return read.contains(frontendValue); }

private:
  bool makeArguments();
  bool convertNode(frontend::NodeOp node);
  LogicalResult applyRule(Node &node, const Entry &entry);
  void markRead(mlir::Block &block);
  Value weight(frontend::InitializerOp op);
  Value stateArgument(frontend::InitializerOp op, RankedTensorType type);
  bool makeResults(frontend::YieldOp yield);
  bool addVaryingSize(Value result, mlir::NamedAttrList &attrs);
  void addCounts();
  bool compareDeclared(llvm::StringRef name, unsigned index, mlir::ArrayAttr dims, Value computed);
  void finishFunction(llvm::StringRef name, bool withProfile);
  graph::WeightDataOp weightData(frontend::InitializerOp op);
  mlir::DictionaryAttr valueAttributes(llvm::StringRef name, llvm::StringRef kind,
                                       mlir::Attribute dims);

  mlir::ModuleOp module;
  frontend::GraphOp source;
  const ProfileBinding &profile;
  Conversion &outcome;
  mlir::OpBuilder builder;
  GraphBuilder g;
  mlir::func::FuncOp function;
  mlir::Block *entry = nullptr;
  SmallVector<mlir::DictionaryAttr> argumentAttributes, resultAttributes;
  SmallVector<Value> resultValues;
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<Value, List> lists;
  llvm::DenseMap<Value, std::unique_ptr<const Varying>> varying;
  llvm::MapVector<Value, std::string> counts; ///< of outputs: the value, its name
  llvm::DenseSet<Value> read;
  llvm::DenseSet<mlir::Operation *> live;
  llvm::StringMap<graph::WeightDataOp> weightTable; ///< by the initializer's name
  llvm::DenseMap<Value, std::string> inputNames;    ///< of arguments that are inputs
  llvm::MapVector<Value, Value> statistics;         ///< argument, its next value
  Value counter;
  int64_t ordinal = 0;
  int64_t converted = 0; ///< nodes, those of unrolled bodies each time
};

/// Tells conversions apart by their worst: BadInput wins over Unsupported.
void worsen(frontend::Status &status, frontend::Status by);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_MODELCONVERTER_H
