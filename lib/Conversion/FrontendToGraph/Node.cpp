//===- Node.cpp - one node while it is converted --------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

#include "lib/Conversion/FrontendToGraph/ModelConverter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

const Varying *Node::varying(unsigned i) const {
  return has(i) ? model.varyingOf(operands[i]) : nullptr;
}

void Node::setVarying(unsigned i, int64_t dim, Value count, StringRef producer) {
  if (i < results.size() && results[i])
    model.setVarying(results[i], {dim, count, producer.str()});
}

std::string Node::self() const {
  StringRef type = op.getKind();
  type.consume_front("onnx.");
  return ("'" + op.getNode() + "' (" + type + ")").str();
}

bool Node::wants(unsigned i) const {
  return i < op.getNumResults() && model.isRead(op.getResult(i));
}
bool Node::training() const { return model.options.train; }

/// "a number", "integers", ...: how an attribute is written.
static StringRef kindOf(Attribute a) {
  return llvm::TypeSwitch<Attribute, StringRef>(a)
      .Case<IntegerAttr>([](auto) { return "an integer"; })
      .Case<FloatAttr>([](auto) { return "a number"; })
      .Case<StringAttr>([](auto) { return "a string"; })
      .Case<DenseI64ArrayAttr>([](auto) { return "integers"; })
      .Case<DenseF32ArrayAttr>([](auto) { return "numbers"; })
      .Case<ElementsAttr>([](auto) { return "a tensor"; })
      .Default([](Attribute) { return "of another kind"; });
}

template <typename Attr> Attr Node::attrOf(StringRef name, StringRef kind) const {
  Attribute written = attr(name);
  auto a = dyn_cast_or_null<Attr>(written);
  if (written && !a && !isa<TypeAttr>(written) && wrongAttribute.empty())
    wrongAttribute =
        ("its attribute '" + name + "' is " + kindOf(written) + "; allowed is " + kind).str();
  return a;
}

int64_t Node::getInt(StringRef name, int64_t otherwise) const {
  auto a = attrOf<IntegerAttr>(name, "an integer");
  return a ? a.getInt() : otherwise;
}
float Node::getFloat(StringRef name, float otherwise) const {
  auto a = attrOf<FloatAttr>(name, "a number");
  return a ? a.getValue().convertToFloat() : otherwise;
}
StringRef Node::getString(StringRef name, StringRef otherwise) const {
  auto a = attrOf<StringAttr>(name, "a string");
  return a ? a.getValue() : otherwise;
}
std::optional<Dims> Node::getInts(StringRef name) const {
  auto a = attrOf<DenseI64ArrayAttr>(name, "a list of integers");
  return a ? std::optional<Dims>(Dims(a.asArrayRef())) : std::nullopt;
}
SmallVector<float> Node::getFloats(StringRef name) const {
  auto a = attrOf<DenseF32ArrayAttr>(name, "a list of numbers");
  return a ? SmallVector<float>(a.asArrayRef()) : SmallVector<float>();
}
std::optional<HostTensor> Node::getTensor(StringRef name) const {
  auto a = attrOf<ElementsAttr>(name, "a tensor");
  return a ? toHostTensor(a) : std::nullopt;
}

std::optional<HostTensor> Node::constant(unsigned i) {
  Value value = (*this)[i];
  if (!value)
    return std::nullopt;
  if (auto tensor = g.constantOf(value))
    return tensor;
  if (auto weight = value.getDefiningOp<graph::WeightOp>())
    return model.reader.read(weight);
  return std::nullopt;
}

std::optional<Dims> Node::constantInts(unsigned i, StringRef what) {
  std::optional<HostTensor> tensor = constant(i);
  if (!tensor) {
    model.needValue((*this)[i]);
    (void)unsupported(what + " (operand " + Twine(i) +
                      ") is computed at run time; gpucc needs it while compiling");
    return std::nullopt;
  }
  Dims values;
  for (int64_t e = 0; e < tensor->numElements(); ++e)
    values.push_back(gpucc::isFloat(tensor->dtype()) ? static_cast<int64_t>(tensor->getFloat(e))
                                                     : tensor->getInt(e));
  return values;
}

std::optional<double> Node::constantNumber(unsigned i, StringRef what) {
  std::optional<HostTensor> tensor = constant(i);
  if (tensor && tensor->numElements() == 1)
    return tensor->getFloat(0);
  if (!tensor)
    model.needValue((*this)[i]);
  (void)unsupported(what + " (operand " + Twine(i) +
                    (tensor ? ") is not a single number" : ") is computed at run time"));
  return std::nullopt;
}

bool Node::intsFrom(StringRef name, unsigned i, Dims &values, bool &present) {
  present = false;
  if (auto written = getInts(name)) {
    values = *written;
    present = true;
    return true;
  }
  if (!has(i))
    return true;
  auto given = constantInts(i, name);
  if (!given)
    return false;
  values = *given;
  present = true;
  return true;
}

std::optional<int64_t> Node::dimension(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)invalid("axis " + Twine(axis) + " is outside [" + Twine(-rank) + ", " + Twine(rank - 1) +
                "], the dimensions of a tensor of rank " + Twine(rank));
  return std::nullopt;
}

bool Node::dimensions(Dims &axes, int64_t rank) {
  for (int64_t &axis : axes) {
    auto d = dimension(axis, rank);
    if (!d)
      return false;
    axis = *d;
  }
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) == axes.end())
    return true;
  (void)invalid("an axis is listed twice; each is allowed once");
  return false;
}

LogicalResult Node::yield(ArrayRef<Value> values) {
  if (g.failed())
    return failure();
  for (auto [i, value] : llvm::enumerate(values))
    if (i < results.size())
      results[i] = value;
  return success();
}

LogicalResult Node::unsupported(const Twine &reason) {
  model.reportMissing(op, reason);
  return failure();
}

LogicalResult Node::invalid(const Twine &text) {
  model.reportInvalid(op, text);
  return failure();
}
