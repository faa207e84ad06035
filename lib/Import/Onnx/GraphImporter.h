//===- GraphImporter.h - GraphProto to frontend ops -------------*- C++ -*-===//
//
// Walks a graph: names become SSA values, nodes become `frontend.op` in an
// order that can be executed (files need not be sorted), model-local functions
// are put in place of the nodes that call them, bodies become regions.
//
// Every fault is reported with the graph and node it lies in; the walk goes on
// where that makes sense, so that one run shows several faults.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_IMPORT_ONNX_GRAPHIMPORTER_H
#define GPUCC_IMPORT_ONNX_GRAPHIMPORTER_H

#include "dialects/Frontend/Frontend.h"
#include "gpucc/Import/Onnx.h"
#include "lib/Import/Onnx/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace gpucc::onnx_import {

/// Names of a graph and of the graphs around it.
class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}
  mlir::Value find(llvm::StringRef name) const {
    for (const Scope *s = this; s; s = s->outer)
      if (auto it = s->values.find(name); it != s->values.end())
        return it->second;
    return {};
  }
  bool define(llvm::StringRef name, mlir::Value value) {
    return values.try_emplace(name, value).second;
  }
  bool definesHere(llvm::StringRef name) const { return values.contains(name); }

private:
  const Scope *outer;
  llvm::StringMap<mlir::Value> values;
};

/// What the nodes of one graph or function body see.
struct Surroundings {
  llvm::StringMap<int64_t> opsets;                            ///< by domain; "" is the default
  llvm::StringMap<const ::onnx::AttributeProto *> attributes; ///< of the calling node
  std::string prefix;                                         ///< before node names
  unsigned depth = 0;                                         ///< of nested calls and bodies
};

class GraphImporter {
public:
  GraphImporter(mlir::MLIRContext *context, const ::onnx::ModelProto &model, const SlimModel &slim,
                llvm::StringRef file, llvm::StringRef fileName, llvm::StringRef folder,
                const OnnxOptions &options);

  /// The whole model as a module with one `frontend.graph`; null when there were errors.
  mlir::OwningOpRef<mlir::ModuleOp> importModel();

private:
  // GraphImporter.cpp
  bool readOpsets(Surroundings &around);
  void importInputs(frontend::GraphOp graph, Scope &scope);
  mlir::Value outputOf(llvm::StringRef name, llvm::StringRef graph, Scope &scope);
  mlir::Type typeOf(const ::onnx::TypeProto &type, llvm::StringRef name,
                    llvm::SmallVectorImpl<mlir::Attribute> *dims);
  // Initializers.cpp
  void importInitializers(const ::onnx::GraphProto &graph, bool isMain, Scope &scope);
  void importInitializer(const ::onnx::TensorProto &tensor, const Span *span, Scope &scope);
  int64_t fileNumber(llvm::StringRef name);
  // Nodes.cpp
  using NodeList = ::google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
  bool sortNodes(const NodeList &nodes, llvm::StringRef graphName, const Scope &scope,
                 std::vector<int> &order);
  void importNodes(const NodeList &nodes, llvm::StringRef graphName, Scope &scope,
                   const Surroundings &around);
  void defineAbsent(const NodeList &nodes, Scope &scope);
  void importNode(const ::onnx::NodeProto &node, int index, Scope &scope,
                  const Surroundings &around);
  void importCall(const ::onnx::NodeProto &node, const ::onnx::FunctionProto &function,
                  llvm::StringRef name, Scope &scope, const Surroundings &around);
  void importBody(const ::onnx::GraphProto &body, mlir::Region &region, llvm::StringRef node,
                  const Scope &scope, const Surroundings &around);
  bool operands(const ::onnx::NodeProto &node, llvm::StringRef name, const Scope &scope,
                llvm::SmallVectorImpl<mlir::Value> &values);
  // Attributes.cpp
  mlir::Attribute convertAttribute(const ::onnx::AttributeProto &attribute, llvm::StringRef node);

  mlir::Value absent();
  mlir::Location nodeLocation(llvm::StringRef node, llvm::StringRef opType);
  /// An error at a place in the file.
  void error(mlir::Location where, const llvm::Twine &text);

  const ::onnx::ModelProto &model;
  const SlimModel &slim;
  llvm::StringRef file;
  std::string fileName, folder;
  const OnnxOptions &options;
  mlir::OpBuilder builder;
  mlir::Location fileLocation;
  llvm::StringMap<const ::onnx::FunctionProto *> functions; ///< by domain:name:overload
  std::vector<std::string> files;
  unsigned errors = 0;
  int64_t imported = 0; ///< nodes, those of functions each time they are called
};

/// The names that a body reads from the graphs around it.
void capturedNames(const ::onnx::GraphProto &body, llvm::StringSet<> &names);

} // namespace gpucc::onnx_import

#endif // GPUCC_IMPORT_ONNX_GRAPHIMPORTER_H
