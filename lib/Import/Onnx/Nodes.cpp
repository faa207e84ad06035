//===- Nodes.cpp - nodes in an order that can be executed -----------------===//
#include "lib/Import/Onnx/GraphImporter.h"

#include <queue>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::onnx_import;

/// Bodies and calls may nest this deep, and functions that call functions may make this many nodes.
static constexpr unsigned maxDepth = 64;
static constexpr int64_t maxNodes = 2000000;

void gpucc::onnx_import::capturedNames(const ::onnx::GraphProto &body, llvm::StringSet<> &names) {
  llvm::StringSet<> own, used;
  for (const auto &input : body.input())
    own.insert(input.name());
  for (const auto &tensor : body.initializer())
    own.insert(tensor.name());
  for (const auto &node : body.node()) {
    for (const std::string &output : node.output())
      own.insert(output);
    for (const std::string &input : node.input())
      used.insert(input);
    for (const auto &a : node.attribute())
      if (a.has_g())
        capturedNames(a.g(), used);
  }
  for (const auto &output : body.output())
    used.insert(output.name());
  for (const auto &name : used)
    if (!name.getKey().empty() && !own.contains(name.getKey()))
      names.insert(name.getKey());
}

/// A stable topological order (Kahn 1962, always the smallest index that is ready): sorted files
/// keep their order. Reports cycles.
bool GraphImporter::sortNodes(const NodeList &nodes, StringRef graphName, const Scope &scope,
                              std::vector<int> &order) {
  llvm::StringMap<int> producer;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        producer.try_emplace(output, i);
  std::vector<std::vector<int>> users(nodes.size());
  std::vector<int> waiting(nodes.size(), 0);
  for (int i = 0; i < nodes.size(); ++i) {
    llvm::StringSet<> reads;
    for (const std::string &input : nodes[i].input())
      reads.insert(input);
    for (const auto &a : nodes[i].attribute())
      if (a.has_g())
        capturedNames(a.g(), reads);
    for (const auto &name : reads)
      if (auto it = producer.find(name.getKey()); it != producer.end()) {
        users[it->second].push_back(i);
        ++waiting[i];
      }
  }
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0)
      ready.push(i);
  while (!ready.empty()) {
    int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int user : users[i])
      if (--waiting[user] == 0)
        ready.push(user);
  }
  if (static_cast<int>(order.size()) == nodes.size())
    return true;
  for (int i = 0; i < nodes.size(); ++i)
    if (waiting[i] > 0) {
      StringRef name = nodes[i].name();
      if (name.empty() && nodes[i].output_size())
        name = nodes[i].output(0);
      error(nodeLocation(name, nodes[i].op_type()),
            "graph '" + graphName + "' has a cycle through node '" + name + "': it reads, over " +
                Twine(nodes.size() - order.size()) +
                " nodes, its own result; a graph must be acyclic (use Loop for iteration)");
      break;
    }
  return false;
}

void GraphImporter::importNodes(const NodeList &nodes, StringRef graphName, Scope &scope,
                                const Surroundings &around) {
  std::vector<int> order;
  if (!sortNodes(nodes, graphName, scope, order))
    return defineAbsent(nodes, scope);
  for (int i : order) {
    if (++imported > maxNodes) {
      if (imported == maxNodes + 1)
        error(fileLocation, "the model has more than " + Twine(maxNodes) +
                                " nodes once its functions are put in place, which is what is "
                                "allowed; export it with functions that call each other less");
      return defineAbsent(nodes, scope);
    }
    importNode(nodes[i], i, scope, around);
  }
}

/// After an error: what the nodes would have made is not missed, too.
void GraphImporter::defineAbsent(const NodeList &nodes, Scope &scope) {
  for (const ::onnx::NodeProto &node : nodes)
    for (const std::string &output : node.output())
      scope.define(output, absent());
}

bool GraphImporter::operands(const ::onnx::NodeProto &node, StringRef name, const Scope &scope,
                             SmallVectorImpl<Value> &values) {
  bool fine = true;
  for (const std::string &input : node.input()) {
    Value value = input.empty() ? absent() : scope.find(input);
    if (!value) {
      error(nodeLocation(name, node.op_type()),
            "node '" + name + "' (" + node.op_type() + ") reads '" + input +
                "', which no node, input or initializer defines; correct the name or add what "
                "produces it");
      fine = false;
      value = absent();
    }
    values.push_back(value);
  }
  return fine;
}

void GraphImporter::importNode(const ::onnx::NodeProto &node, int index, Scope &scope,
                               const Surroundings &around) {
  std::string name = node.name();
  if (name.empty())
    name = node.output_size() && !node.output(0).empty() ? node.output(0)
                                                         : "node " + std::to_string(index);
  name = around.prefix + name;
  StringRef domain = node.domain() == frontend::onnxDomain ? "" : StringRef(node.domain());
  auto function = functions.find(node.domain() + ":" + node.op_type() + ":" + node.overload());
  if (function != functions.end())
    return importCall(node, *function->second, name, scope, around);

  Location loc = nodeLocation(name, node.op_type());
  SmallVector<Value> values;
  operands(node, name, scope, values);
  auto opset = around.opsets.find(domain);
  int64_t version = opset != around.opsets.end() ? opset->second : 1;
  SmallVector<NamedAttribute> attributes;
  SmallVector<Attribute> names, bodyNames;
  SmallVector<const ::onnx::GraphProto *> bodies;
  llvm::StringSet<> seen;
  for (const auto &written : node.attribute()) {
    const auto *a = &written;
    if (!a->ref_attr_name().empty()) { // inside a function: the caller's attribute
      if (around.prefix.empty())
        error(loc, "node '" + name + "' takes the attribute '" + written.name() +
                       "' from the caller's '" + a->ref_attr_name() +
                       "', but the graph has no caller; references are allowed in functions: "
                       "write the value");
      auto it = around.attributes.find(a->ref_attr_name());
      if (it == around.attributes.end())
        continue;
      a = it->second;
    }
    if (written.name().empty() || !seen.insert(written.name()).second) {
      error(loc, "node '" + name + "' has the attribute '" + written.name() +
                     "' twice or without a name; each has its own: remove or rename one");
      continue;
    }
    if (a->has_g()) {
      bodyNames.push_back(builder.getStringAttr(written.name()));
      bodies.push_back(&a->g());
    } else if (Attribute converted = convertAttribute(*a, name)) {
      attributes.push_back(builder.getNamedAttr(written.name(), converted));
    }
  }
  for (const std::string &output : node.output())
    names.push_back(builder.getStringAttr(output));
  SmallVector<Type> types(node.output_size(), frontend::ValueType::get(builder.getContext(), ""));
  std::string kind = "onnx." + node.op_type();
  auto op = frontend::NodeOp::create(
      builder, loc, types, builder.getStringAttr(kind), values, builder.getStringAttr(domain),
      builder.getI64IntegerAttr(std::max<int64_t>(version, 1)), builder.getStringAttr(name),
      builder.getArrayAttr(names), builder.getDictionaryAttr(attributes),
      builder.getArrayAttr(bodyNames), bodies.size());
  for (auto [body, region] : llvm::zip(bodies, op.getBodies()))
    importBody(*body, region, name, scope, around);
  for (auto [output, value] : llvm::zip(node.output(), op.getOutputs()))
    if (!output.empty() && !scope.define(output, value))
      error(loc,
            "node '" + name + "' produces '" + output +
                "', which is produced or stored already; every value has one producer: rename it");
}

void GraphImporter::importBody(const ::onnx::GraphProto &body, Region &region, StringRef node,
                               const Scope &scope, const Surroundings &around) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = region.emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  if (around.depth >= maxDepth) {
    error(fileLocation,
          "graphs are nested more than " + Twine(maxDepth) + " deep at '" + node +
              "', which is what is allowed; export the model with fewer If or Loop inside another");
    frontend::YieldOp::create(builder, fileLocation, ValueRange());
    return;
  }
  Surroundings inside = around;
  ++inside.depth;
  Scope inner(&scope);
  for (const auto &input : body.input())
    inner.define(input.name(),
                 block.addArgument(typeOf(input.type(), input.name(), nullptr),
                                   NameLoc::get(builder.getStringAttr(input.name()))));
  importInitializers(body, /*isMain=*/false, inner);
  importNodes(body.node(), body.name(), inner, inside);
  SmallVector<Value> values;
  for (const auto &output : body.output())
    values.push_back(outputOf(output.name(), body.name(), inner));
  frontend::YieldOp::create(builder, fileLocation, values);
}

void GraphImporter::importCall(const ::onnx::NodeProto &node, const ::onnx::FunctionProto &function,
                               StringRef name, Scope &scope, const Surroundings &around) {
  if (around.depth >= maxDepth) {
    for (const std::string &output : node.output())
      scope.define(output, absent());
    return error(
        nodeLocation(name.take_front(60), node.op_type()),
        "function '" + function.name() + "' calls itself, or calls are nested more than " +
            Twine(maxDepth) +
            " deep, which is what is allowed; export the model with its functions inlined");
  }
  auto tooMany = [&](int found, int allowed, StringRef what) {
    if (found > allowed)
      error(nodeLocation(name, node.op_type()),
            "node '" + name + "' has " + Twine(found) + " " + what + "; the function '" +
                function.name() + "' has " + Twine(allowed) + ": remove the others");
  };
  tooMany(node.input_size(), function.input_size(), "operands");
  tooMany(node.output_size(), function.output_size(), "results");
  SmallVector<Value> values;
  operands(node, name, scope, values);
  Surroundings inside;
  inside.depth = around.depth + 1;
  inside.prefix = name.str() + "/";
  inside.opsets = around.opsets;
  for (const auto &opset : function.opset_import())
    inside.opsets[opset.domain() == frontend::onnxDomain ? "" : opset.domain()] = opset.version();
  for (const auto &a : function.attribute_proto())
    inside.attributes[a.name()] = &a;
  for (const auto &a : node.attribute()) {
    const auto *given = &a;
    if (!a.ref_attr_name().empty()) {
      auto it = around.attributes.find(a.ref_attr_name());
      if (it == around.attributes.end())
        continue;
      given = it->second;
    }
    inside.attributes[a.name()] = given;
  }
  Scope inner;
  for (auto [i, input] : llvm::enumerate(function.input()))
    inner.define(input, i < values.size() ? values[i] : absent());
  importNodes(function.node(), function.name(), inner, inside);
  for (auto [i, output] : llvm::enumerate(node.output())) {
    if (output.empty() || int(i) >= function.output_size())
      continue;
    Value value = outputOf(function.output(int(i)), function.name(), inner);
    if (!scope.define(output, value))
      error(nodeLocation(name, node.op_type()),
            "node '" + name + "' produces '" + output +
                "', which is produced already; every value has one producer: rename it");
  }
}
