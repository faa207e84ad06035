//===- Schemas.cpp - what a node of an operator may look like -------------===//
#include "lib/Conversion/FrontendToGraph/Schemas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <tuple>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

ArrayRef<NodeSchema> frontend_to_graph::onnxSchemas() {
  static constexpr NodeSchema rows[] = {
#include "lib/Conversion/FrontendToGraph/OnnxSchemas.inc"
  };
  return rows;
}

const NodeSchema *frontend_to_graph::findSchema(StringRef kind, int64_t version) {
  // Other domains are known in version 1 only; a newer one may say anything.
  if (kind.contains('.') && version != 1)
    return nullptr;
  for (ArrayRef<NodeSchema> rows : {onnxSchemas(), microsoftSchemas()}) {
    auto after = llvm::upper_bound(rows, std::tuple(kind, version), [](auto key, auto &row) {
      return key < std::tuple(StringRef(row.kind), int64_t(row.since));
    });
    if (after != rows.begin() && std::prev(after)->kind == kind)
      return &*std::prev(after);
  }
  return nullptr;
}

namespace {
struct AttributeSchema {
  char kind;
  bool required;
  StringRef name;
};

/// A node against its row.
class SchemaCheck {
public:
  SchemaCheck(frontend::NodeOp node, const NodeSchema &schema, StringRef kind)
      : node(node), schema(schema), kind(kind) {
    for (StringRef rest = schema.attributes; !rest.empty();) {
      auto [entry, more] = rest.split(' ');
      attributes.push_back({entry[0], entry[1] == '!', entry.drop_front(2)});
      rest = more;
    }
  }

  std::string run() {
    std::string fault = countFault(node.getInputs().size(), schema.minOperands, schema.maxOperands,
                                   "operand", "takes");
    if (fault.empty())
      fault =
          countFault(node.getNumResults(), schema.minResults, schema.maxResults, "result", "gives");
    for (NamedAttribute a : node.getParams())
      if (fault.empty())
        fault = attributeFault(a.getName(), letterOf(a.getValue()));
    for (Attribute name : node.getBodyNames())
      if (fault.empty())
        fault = attributeFault(cast<StringAttr>(name).getValue(), 'g');
    for (const AttributeSchema &a : attributes)
      if (fault.empty() && a.required && !isGiven(a.name))
        fault = ("has no attribute '" + a.name + "'; the operator has no default for it").str();
    return fault;
  }

private:
  /// How an attribute is written; '?' for a kind that the importer has no value for.
  static char letterOf(Attribute a) {
    return llvm::TypeSwitch<Attribute, char>(a)
        .Case<IntegerAttr>([](auto) { return 'i'; })
        .Case<FloatAttr>([](auto) { return 'f'; })
        .Case<StringAttr>([](auto) { return 's'; })
        .Case<DenseI64ArrayAttr>([](auto) { return 'I'; })
        .Case<DenseF32ArrayAttr>([](auto) { return 'F'; })
        .Case<ArrayAttr>([](auto) { return 'S'; })
        .Case<ElementsAttr>([](auto) { return 't'; })
        .Case<TypeAttr>([](TypeAttr opaque) { // in words: "tensor of string"
          auto value = dyn_cast<frontend::ValueType>(opaque.getValue());
          return value && value.getWhat().starts_with("tensor of ") ? 't' : '?';
        })
        .Default([](Attribute) { return '?'; });
  }

  static StringRef spell(char letter) {
    switch (letter) {
    case 'i':
      return "an integer";
    case 'f':
      return "a number";
    case 's':
      return "a string";
    case 't':
      return "a tensor";
    case 'g':
      return "a graph";
    case 'I':
      return "a list of integers";
    case 'F':
      return "a list of numbers";
    case 'S':
      return "a list of strings";
    case 'T':
      return "a list of tensors";
    case 'G':
      return "a list of graphs";
    default:
      return "of another kind";
    }
  }

  static std::string counted(int64_t count, StringRef what) {
    return (Twine(count) + " " + what + (count == 1 ? "" : "s")).str();
  }

  /// "Softmax since opset 13"
  std::string operatorAndVersion() const {
    return (kind + " since " + (kind.contains('.') ? "version " : "opset ") + Twine(schema.since))
        .str();
  }

  std::string countFault(int64_t found, int least, int most, StringRef what, StringRef verb) const {
    if (found >= least && (most < 0 || found <= most))
      return "";
    std::string allowed = most < 0       ? "at least " + std::to_string(least)
                          : least < most ? std::to_string(least) + " to " + std::to_string(most)
                                         : std::to_string(least);
    return "has " + counted(found, what) + "; " + operatorAndVersion() + " " + verb.str() + " " +
           allowed;
  }

  std::string attributeFault(StringRef name, char letter) const {
    auto known = llvm::find_if(attributes, [&](auto &a) { return a.name == name; });
    if (known == attributes.end())
      return name.starts_with("__") ? "" : unknownAttribute(name);
    bool isOpaque = !StringRef("ifstgIFS").contains(known->kind); // then it may be
    if (letter == known->kind || (letter == '?' && isOpaque))
      return "";
    return ("its attribute '" + name + "' is " + spell(letter) + "; allowed is " +
            spell(known->kind))
        .str();
  }

  std::string unknownAttribute(StringRef name) const {
    std::string text = "has the attribute '" + name.str() + "', which " + operatorAndVersion() +
                       " does not have; ";
    if (attributes.empty())
      return text + "it has none";
    const AttributeSchema *nearest = nullptr;
    unsigned best = std::min<size_t>(3, name.size() / 2 + 1); // as many changes are another word
    for (const AttributeSchema &a : attributes)
      if (unsigned changes = name.edit_distance(a.name, /*AllowReplacements=*/true, best);
          changes < best)
        nearest = &a, best = changes;
    if (nearest)
      return text + "did you mean '" + nearest->name.str() + "'?";
    return text + "allowed are " +
           llvm::join(llvm::map_range(attributes, [](auto &a) { return a.name.str(); }), ", ");
  }

  bool isGiven(StringRef name) const {
    return node.getParams().contains(name) || llvm::any_of(node.getBodyNames(), [&](Attribute a) {
             return cast<StringAttr>(a).getValue() == name;
           });
  }

  mutable frontend::NodeOp node; // its accessors are not const
  const NodeSchema &schema;
  StringRef kind;
  SmallVector<AttributeSchema> attributes;
};
} // namespace

std::string frontend_to_graph::schemaFault(frontend::NodeOp node) {
  StringRef type = node.getKind();
  type.consume_front("onnx.");
  std::string kind = node.getDomain().empty() ? type.str() : (node.getDomain() + "." + type).str();
  const NodeSchema *schema = findSchema(kind, static_cast<int64_t>(node.getVersion()));
  return schema ? SchemaCheck(node, *schema, kind).run() : "";
}
