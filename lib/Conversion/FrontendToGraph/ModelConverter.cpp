//===- ModelConverter.cpp - nodes of a frontend.graph ---------------------===//
#include "lib/Conversion/FrontendToGraph/ModelConverter.h"

#include "dialects/Graph/Conditional.h"
#include "lib/Conversion/FrontendToGraph/Schemas.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

/// Unrolled loops may not make programs without end.
static constexpr int64_t maxConverted = 500000;

void frontend_to_graph::worsen(frontend::Status &status, frontend::Status by) {
  if (by == frontend::Status::BadInput || status == frontend::Status::Ok)
    status = by;
}

ModelConverter::ModelConverter(ModuleOp module, frontend::GraphOp source,
                               const ConversionOptions &options, const ProfileBinding &profile,
                               WeightReader &reader, Conversion &outcome)
    : options(options), reader(reader), module(module), source(source), profile(profile),
      outcome(outcome), builder(module.getContext()), g(builder) {}

void ModelConverter::run(StringRef name, bool withProfile) {
  Location loc = source.getLoc();
  builder.setInsertionPoint(source);
  function = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  auto yield = cast<frontend::YieldOp>(source.getBody().front().getTerminator());
  for (Value value : yield.getValues())
    read.insert(value);
  markRead(source.getBody().front());
  if (!makeArguments())
    return;
  for (Operation &op : source.getBody().front().without_terminator())
    if (auto node = dyn_cast<frontend::NodeOp>(op); node && live.contains(node))
      convertNode(node);
  if (makeResults(yield))
    finishFunction(name, withProfile);
}

/// From the last node to the first: a node whose result is read is live, and reads its operands
/// and what its bodies capture.
void ModelConverter::markRead(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    auto node = dyn_cast<frontend::NodeOp>(op);
    if (!node || llvm::none_of(node.getResults(), [&](Value v) { return read.contains(v); }))
      continue;
    live.insert(node);
    node->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        read.insert(operand);
    });
  }
}

Value ModelConverter::valueOf(Value frontendValue) {
  auto it = values.find(frontendValue);
  if (it != values.end())
    return it->second;
  if (auto initializer = frontendValue.getDefiningOp<frontend::InitializerOp>())
    return values[frontendValue] = weight(initializer);
  return {};
}

/// What a value is when no tensor type expresses it, else "".
static StringRef opaqueWhat(Value value) {
  auto type = dyn_cast<frontend::ValueType>(value.getType());
  return type ? type.getWhat() : "";
}

static std::string operatorName(frontend::NodeOp node) {
  StringRef kind = node.getKind();
  kind.consume_front("onnx.");
  return (node.getDomain().empty() ? Twine(kind) : node.getDomain() + "." + kind).str();
}

/// "batch=4,seq=16"; "" without symbols.
static std::string sizesText(const ProfileBinding &profile) {
  std::string text;
  for (const auto &[symbol, size] : profile.sizes)
    text += (text.empty() ? "" : ",") + symbol + "=" + std::to_string(size);
  return text;
}

/// Whatever is wrong at a node (a verifier's rule, too) is mended where the model is made: a note
/// says so.
static LogicalResult addRemedy(Diagnostic &diagnostic, frontend::NodeOp node, const std::string &profile) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  for (Diagnostic &note : diagnostic.getNotes())
    if (StringRef(note.str()).starts_with("remedy: "))
      return failure(); // an inner node's
  Diagnostic &note = diagnostic.attachNote() << "remedy: ";
  if (!profile.empty())
    note << "if the sizes do not suit the model (" << profile << "), choose others with --profile; else ";
  note << "correct node '" << node.getNode() << "' (" << operatorName(node)
       << ") or what feeds it, and export the model again";
  return failure(); // go on to who prints it
}

static bool isListRule(const Entry &entry) {
  ArrayRef<Entry> rules = listRules();
  return &entry >= rules.begin() && &entry < rules.end();
}

/// The rule, or the one for operands of varying size when there are such.
LogicalResult ModelConverter::applyRule(Node &node, const Entry &entry) {
  for (unsigned i = 0; i < node.size(); ++i) {
    const Varying *size = node.varying(i);
    if (!size)
      continue;
    if (VaryingRule rule = findVaryingRule(entry.kind))
      return rule(node, entry.rule);
    return node.unsupported("the size of operand " + Twine(i) + " depends on values of a run (" +
                            size->producer +
                            " gives it), and gpucc cannot keep its padding out of "
                            "this operator's result");
  }
  return entry.rule(node);
}

bool ModelConverter::convertNode(frontend::NodeOp node) {
  ScopedDiagnosticHandler remedies(module.getContext(),
                                   [&](Diagnostic &d) { return addRemedy(d, node, sizesText(profile)); });
  auto poison = [&] {
    for (Value result : node.getResults())
      values[result] = Value();
    return false;
  };
  StringRef kind = node.getKind();
  kind.consume_front("onnx.");
  std::string reason;
  if (++converted > maxConverted) {
    reportMissing(node, "its body is unrolled to more than " + Twine(maxConverted) + " nodes");
    return poison();
  }
  const Entry *entry = findRule(node.getDomain(), kind, node.getVersion(), reason);
  if (!entry) {
    reportMissing(node, reason);
    return poison();
  }
  if (std::string fault = schemaFault(node); !fault.empty()) {
    reportInvalid(node, fault);
    return poison();
  }
  SmallVector<Value> operands;
  for (auto [i, input] : llvm::enumerate(node.getInputs())) {
    Value value = valueOf(input);
    bool absent = input.getDefiningOp<frontend::AbsentOp>() && opaqueWhat(input).empty();
    if (!opaqueWhat(input).empty()) {
      reportMissing(node, "operand " + Twine(i) + " is a " + opaqueWhat(input) +
                              ", a type that gpucc does not have");
      return poison();
    }
    if (listOf(input) && !isListRule(*entry)) {
      reportMissing(node, "operand " + Twine(i) +
                              " is a sequence; gpucc takes sequences apart only "
                              "by the Sequence operators");
      return poison();
    }
    if (!value && !absent && !listOf(input))
      return poison(); // its producer was reported
    if (absent && i < entry->operands) {
      reportInvalid(node, "operand " + Twine(i) + " is missing; the operator needs it");
      return poison();
    }
    operands.push_back(value);
  }
  if (operands.size() < entry->operands) {
    reportInvalid(node, "has " + Twine(operands.size()) + " operands; the operator needs " +
                            Twine(entry->operands));
    return poison();
  }
  while (!operands.empty() && !operands.back())
    operands.pop_back();
  g.location = node.getLoc();
  Node state(node, g, *this, std::move(operands));
  bool fine = succeeded(applyRule(state, *entry));
  if (StringRef fault = state.attributeFault(); !fault.empty()) {
    reportInvalid(node, fault);
    fine = false;
  }
  if (g.failed()) { // a builder has said why
    worsen(outcome.status, frontend::Status::BadInput);
    g.resetFailure();
    fine = false;
  }
  if (!fine)
    return poison();
  for (auto [i, result] : llvm::enumerate(node.getResults())) {
    Value value = state.resultValues()[i];
    if (!value && isRead(result) && !listOf(result)) {
      reportMissing(node, "result " + Twine(i) + " is not computed");
      return poison();
    }
    values[result] = value;
  }
  return true;
}

std::optional<SmallVector<Value>>
ModelConverter::convertBody(Region &body, ArrayRef<Value> arguments, bool conditional) {
  Block *built = g.builder.getInsertionBlock();
  Operation *before = built->empty() ? nullptr : &built->back();
  Block &block = body.front();
  if (block.getNumArguments() != arguments.size() || arguments.size() > 10000)
    return std::nullopt;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    values[argument] = value;
  auto yield = cast<frontend::YieldOp>(block.getTerminator());
  for (Value value : yield.getValues())
    read.insert(value);
  markRead(block);
  Location outside = g.location;
  bool fine = true;
  for (Operation &op : block.without_terminator())
    if (auto node = dyn_cast<frontend::NodeOp>(op); node && live.contains(node))
      fine &= convertNode(node);
  g.location = outside;
  if (conditional)
    for (Operation &op :
         llvm::make_range(before ? std::next(before->getIterator()) : built->begin(), built->end()))
      if (isa<graph::GatherOp>(op))
        op.setAttr(graph::conditionalAttr, g.builder.getUnitAttr());
  SmallVector<Value> results;
  for (Value value : yield.getValues()) {
    results.push_back(valueOf(value));
    if (listOf(value))
      reportMissing(cast<frontend::NodeOp>(yield->getParentOp()), "its body gives a sequence");
    if (const Varying *size = results.back() ? varyingOf(results.back()) : nullptr) {
      reportMissing(cast<frontend::NodeOp>(yield->getParentOp()),
                    "its body gives a tensor whose size depends on values of a run (" +
                        size->producer + " gives it)");
      fine = false;
    }
    fine &= bool(results.back());
  }
  return fine ? std::optional(results) : std::nullopt;
}

void ModelConverter::reportMissing(frontend::NodeOp node, const Twine &reason) {
  worsen(outcome.status, frontend::Status::Unsupported);
  frontend::MissingOp missing{node.getNode().str(), operatorName(node),
                              static_cast<int64_t>(node.getVersion()), reason.str()};
  outcome.missing.push_back(missing);
}

void ModelConverter::reportInvalid(frontend::NodeOp node, const Twine &text) {
  worsen(outcome.status, frontend::Status::BadInput);
  emitError(node.getLoc()) << "node '" << node.getNode() << "' (" << operatorName(node)
                           << ", opset " << static_cast<int64_t>(node.getVersion())
                           << "): " << text.str();
}

/// Every small input from which `value` is computed.
void ModelConverter::needValue(Value value) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (!v || !seen.insert(v).second)
      continue;
    if (auto it = inputNames.find(v); it != inputNames.end()) {
      if (typeOf(v).getNumElements() <= 1024 &&
          !llvm::is_contained(outcome.neededInputs, it->second))
        outcome.neededInputs.push_back(it->second);
    } else if (Operation *op = v.getDefiningOp()) {
      llvm::append_range(work, op->getOperands());
    }
  }
}
