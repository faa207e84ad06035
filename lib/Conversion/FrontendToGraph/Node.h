//===- Node.h - one node while it is converted ------------------*- C++ -*-===//
//
// What a rule sees: the node's operands as graph values, its attributes with
// defaults, and a builder. A rule ends in `yield`, or says why it cannot:
//
//   {"LeakyRelu", 6, latest, 1, [](Node &n) {
//      Value zero = n.g.splatLike(n[0], 0);
//      Value scaled = n.g.binary(BinaryKind::Mul, n[0], n.getFloat("alpha", 0.01f));
//      return n.yield(n.g.select(n.g.compare(CompareKind::Lt, n[0], zero), scaled, n[0]));
//   }},
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_NODE_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_NODE_H

#include "dialects/Frontend/Frontend.h"
#include "lib/Conversion/FrontendToGraph/GraphBuilder.h"

namespace gpucc::frontend_to_graph {

using graph::BinaryKind;
using graph::CompareKind;
using graph::ReductionKind;
using graph::UnaryKind;
using mlir::LogicalResult;
using mlir::success;

class ModelConverter;
class Node;
using Rule = LogicalResult (*)(Node &);

/// A tensor whose size along one dimension a run computes. Its value has the bound there; only the
/// first `count` entries (an i64 scalar) are real, what follows is padding of any value
/// (Rules/Varying.cpp says who keeps it harmless).
struct Varying {
  int64_t dim;
  Value count;
  std::string producer; ///< "'nz' (NonZero)", for messages
};

class Node {
public:
  Node(frontend::NodeOp op, GraphBuilder &g, ModelConverter &model, SmallVector<Value> operands)
      : g(g), model(model), op(op), operands(std::move(operands)) {
    results.resize(op.getNumResults());
  }

  GraphBuilder &g;
  ModelConverter &model;
  mutable frontend::NodeOp op; // its accessors are not const

  // Operands.
  unsigned size() const { return operands.size(); }
  bool has(unsigned i) const { return i < operands.size() && operands[i]; }
  Value operator[](unsigned i) const { return i < operands.size() ? operands[i] : Value(); }
  ArrayRef<Value> all() const { return operands; }
  int64_t rank(unsigned i) const { return rankOf(operands[i]); }
  /// How operand i varies in size; null when its size is known.
  const Varying *varying(unsigned i) const;
  void replace(unsigned i, Value value) { operands[i] = value; }

  // The node.
  llvm::StringRef kind() const { return op.getKind(); }
  int64_t version() const { return op.getVersion(); }
  unsigned numResults() const { return op.getNumResults(); }
  /// True when somebody may read result i.
  bool wants(unsigned i) const;
  bool training() const; ///< the model is converted to be trained

  // Attributes. One of another kind than the one asked for is a fault of the model.
  mlir::Attribute attr(llvm::StringRef name) const { return op.getParams().get(name); }
  bool hasAttr(llvm::StringRef name) const { return bool(attr(name)); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  float getFloat(llvm::StringRef name, float otherwise) const;
  llvm::StringRef getString(llvm::StringRef name, llvm::StringRef otherwise) const;
  std::optional<Dims> getInts(llvm::StringRef name) const;
  SmallVector<float> getFloats(llvm::StringRef name) const;
  std::optional<HostTensor> getTensor(llvm::StringRef name) const;
  /// What is wrong with an attribute that was asked for; "" when nothing.
  llvm::StringRef attributeFault() const { return wrongAttribute; }

  /// The value of a constant operand; also of a small weight, which is read from its file.
  std::optional<HostTensor> constant(unsigned i);
  /// A constant operand (1-D or scalar) as integers; fails as unsupported when it is not constant.
  std::optional<Dims> constantInts(unsigned i, llvm::StringRef what);
  std::optional<double> constantNumber(unsigned i, llvm::StringRef what);
  /// Integers that are an attribute in old versions and operand i in new ones. `present` tells
  /// whether they were given; false is returned after an error.
  bool intsFrom(llvm::StringRef name, unsigned i, Dims &values, bool &present);

  /// A dimension of a tensor of `rank` dimensions, counted from the end when negative; nothing
  /// (and an error) when there is no such dimension.
  std::optional<int64_t> dimension(int64_t axis, int64_t rank);
  bool dimensions(Dims &axes, int64_t rank); ///< all, sorted, without repetition

  // Ends of a rule.
  LogicalResult yield(Value value) { return yield(ArrayRef<Value>(value)); }
  LogicalResult yield(ArrayRef<Value> values);
  /// Result i, which was yielded, has this size.
  void setVarying(unsigned i, int64_t dim, Value count, llvm::StringRef producer);
  /// This node as the producer of results of varying size.
  std::string self() const;
  /// The node is fine, but gpucc does not do this.
  LogicalResult unsupported(const llvm::Twine &reason);
  /// The node contradicts the operator's definition.
  LogicalResult invalid(const llvm::Twine &text);

  ArrayRef<Value> resultValues() const { return results; }

private:
  template <typename Attr> Attr attrOf(llvm::StringRef name, llvm::StringRef kind) const;
  SmallVector<Value> operands, results;
  mutable std::string wrongAttribute;
};

/// One line of a table: the operator, the opset versions for which the rule holds, the number of
/// operands that must be there.
struct Entry {
  llvm::StringLiteral kind; ///< "Add", or "com.microsoft.Gelu"
  int64_t since, until;
  unsigned operands;
  Rule rule;
};
inline constexpr int64_t latest = INT64_MAX;

/// The rule for an operator at a version; null when there is none. `reason` then says why.
const Entry *findRule(llvm::StringRef domain, llvm::StringRef type, int64_t version,
                      std::string &reason);

/// A rule for operands of varying size: on the padded values, in place of the `plain` one.
using VaryingRule = LogicalResult (*)(Node &, Rule plain);
/// Null for an operator that is not known to keep padding harmless.
VaryingRule findVaryingRule(llvm::StringRef kind);

// The tables, one file each.
ArrayRef<Entry> activationRules();
ArrayRef<Entry> arithmeticRules();
ArrayRef<Entry> attentionRules();
ArrayRef<Entry> castRules();
ArrayRef<Entry> controlRules();
ArrayRef<Entry> convolutionRules();
ArrayRef<Entry> generatorRules();
ArrayRef<Entry> groupQueryRules();
ArrayRef<Entry> indexRules();
ArrayRef<Entry> listRules();
ArrayRef<Entry> lossRules();
ArrayRef<Entry> movementRules();
ArrayRef<Entry> normalizationRules();
ArrayRef<Entry> optimizerRules();
ArrayRef<Entry> poolRules();
ArrayRef<Entry> productRules();
ArrayRef<Entry> quantizationRules();
ArrayRef<Entry> quantizedOperatorRules();
ArrayRef<Entry> recurrentRules();
ArrayRef<Entry> reductionRules();
ArrayRef<Entry> resizeRules();
ArrayRef<Entry> rotaryRules();
ArrayRef<Entry> samplingRules();
ArrayRef<Entry> selectionRules();
ArrayRef<Entry> sequenceRules();
ArrayRef<Entry> shapeRules();
ArrayRef<Entry> signalRules();
ArrayRef<Entry> softmaxRules();
ArrayRef<Entry> stateSpaceRules();
ArrayRef<Entry> suppressionRules();

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_NODE_H
