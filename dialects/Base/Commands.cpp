//===- Commands.cpp - what a rank does ------------------------------------===//
#include "dialects/Base/Commands.h"
#include "gpucc/Support/Types.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::base;

#include "dialects/Base/CommandsInterfaces.cpp.inc"

unsigned base::numLibraryOperands(StringRef kind) {
  return llvm::StringSwitch<unsigned>(kind)
      .Cases({"matmul", "conv", "conv_backward_data", "conv_backward_weights"}, 3)
      .Cases({"reorder", "pool_max", "pool_average", "pool_average_include_padding"}, 2)
      .Default(0);
}

std::optional<int64_t> base::endOf(int64_t offset, int64_t rows, int64_t pitch, int64_t bytes) {
  if (offset < 0 || rows < 1 || pitch < 0 || bytes < 0)
    return std::nullopt;
  std::optional<int64_t> last = llvm::checkedMulAdd(rows - 1, pitch, offset);
  return last ? llvm::checkedAdd(*last, bytes) : std::nullopt;
}

SmallVector<Access> base::launchAccesses(ArrayAttr views, StringRef letters) {
  SmallVector<Access> result;
  for (auto [view, letter] : llvm::zip(views, letters))
    result.push_back({cast<ViewAttr>(view), letter != 'w', letter != 'r'});
  return result;
}

SmallVector<Access> base::libraryAccesses(ArrayAttr operands, DictionaryAttr config) {
  SmallVector<Access> result;
  for (Attribute a : operands)
    result.push_back({cast<OperandAttr>(a).getView(), true, false});
  result.back().writes = true;
  result.back().reads = config.contains("accumulate");
  if (auto bias = config.getAs<OperandAttr>("bias"))
    result.push_back({bias.getView(), true, false});
  if (auto postOps = config.getAs<ArrayAttr>("post_ops"))
    for (Attribute post : postOps)
      if (auto operand = cast<DictionaryAttr>(post).getAs<OperandAttr>("operand"))
        result.push_back({operand.getView(), true, false});
  return result;
}

/// Tensors of types that have an encoding in the plan, and of a size that an i64 holds.
static bool isKnownTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto dtype = tensor ? toDType(tensor.getElementType()) : std::nullopt;
  if (!dtype || !tensor.hasStaticShape())
    return false;
  std::optional<int64_t> bits = bitWidth(*dtype);
  for (int64_t size : tensor.getShape())
    bits = bits ? llvm::checkedMul(*bits, size) : std::nullopt;
  return bits.has_value();
}
static int64_t byteSizeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return byteSize(*toDType(tensor.getElementType()), tensor.getNumElements());
}

LogicalResult base::verifyLaunch(Operation *op, ArrayAttr views, StringRef access,
                                 std::optional<ArrayAttr> scalars) {
  if (views.size() != access.size())
    return op->emitOpError() << "(C1) has " << views.size() << " views and " << access.size()
                             << " access letters; give one of r, w, b per view";
  for (char c : access)
    if (c != 'r' && c != 'w' && c != 'b')
      return op->emitOpError() << "(C1) access letter '" << StringRef(&c, 1)
                               << "' is not one of r, w, b";
  for (Attribute scalar : scalars.value_or(ArrayAttr::get(op->getContext(), {})))
    if (!isa<IntegerAttr, RankValueAttr>(scalar))
      return op->emitOpError() << "(C2) scalar " << scalar
                               << " is neither an integer nor a #base.rank_value; give the bits of "
                                  "other numbers as an integer";
  return success();
}

/// (C3) of a library call.
static LogicalResult verifyOperand(Operation *op, OperandAttr operand, const Twine &what) {
  RankedTensorType type = operand.getType();
  ArrayRef<int64_t> strides = operand.getStrides();
  if (!isKnownTensor(type) || (!strides.empty() && strides.size() != type.getShape().size()))
    return op->emitOpError() << "(C3) " << what << " is " << type << " with " << strides.size()
                             << " strides; give a static tensor of numbers, and one stride per "
                                "dimension or none";
  DType dtype = *toDType(type.getElementType());
  int64_t elements = type.getNumElements();
  std::optional<int64_t> needed = elements; // elements, then bits, then bytes
  if (!strides.empty() && elements > 0) {
    needed = 1;
    for (auto [size, stride] : llvm::zip(type.getShape(), strides))
      needed = needed ? endOf(*needed, size, stride, 0) : std::nullopt;
  }
  needed = needed ? llvm::checkedMul(*needed, int64_t(bitWidth(dtype))) : std::nullopt;
  if (needed && (*needed + 7) / 8 <= operand.getView().getBytes())
    return success();
  InFlightDiagnostic error = op->emitOpError() << "(C3) " << what << " needs ";
  if (needed)
    error << (*needed + 7) / 8;
  else
    error << "no number of";
  return error << " bytes for " << type << " with strides [" << strides << "]; its view holds "
               << operand.getView().getBytes() << ", and strides are at least 0";
}

/// One entry of post_ops.
static bool isPostOp(Attribute attr) {
  auto post = dyn_cast<DictionaryAttr>(attr);
  auto kind = post ? post.getAs<StringAttr>("kind") : StringAttr();
  static constexpr StringLiteral alone[] = {"relu", "gelu_erf", "gelu_tanh", "sigmoid",
                                            "silu", "tanh",     "clip",      "linear"};
  if (!kind)
    return false;
  bool two = kind.getValue() == "add_operand" || kind.getValue() == "multiply_operand";
  for (NamedAttribute entry : post) {
    StringRef name = entry.getName().getValue();
    if (name != "kind" &&
        !((name == "alpha" || name == "beta") && isa<FloatAttr>(entry.getValue())) &&
        !(name == "operand" && isa<OperandAttr>(entry.getValue())))
      return false;
  }
  return post.contains("operand") == two && (two || llvm::is_contained(alone, kind.getValue()));
}

/// (C4) of a library call.
static LogicalResult verifyConfig(Operation *op, DictionaryAttr config) {
  for (NamedAttribute entry : config) {
    StringRef name = entry.getName();
    bool fine = false;
    if (llvm::is_contained({"strides", "dilations", "pads_begin", "pads_end", "window", "constant"},
                           name))
      fine = isa<DenseI64ArrayAttr>(entry.getValue());
    else if (name == "groups")
      fine = isa<IntegerAttr>(entry.getValue());
    else if (name == "bias")
      fine = isa<OperandAttr>(entry.getValue());
    else if (name == "accumulate")
      fine = isa<UnitAttr>(entry.getValue());
    else if (name == "post_ops")
      fine = isa<ArrayAttr>(entry.getValue()) &&
             llvm::all_of(cast<ArrayAttr>(entry.getValue()), isPostOp);
    else if (name == "math")
      if (auto math = dyn_cast<StringAttr>(entry.getValue()))
        fine = llvm::is_contained({"strict", "tf32", "bf16"}, math.getValue());
    if (!fine)
      return op->emitOpError()
             << "(C4) config entry '" << name << "' = " << entry.getValue()
             << "; allowed are i64 arrays strides, dilations, pads_begin, "
                "pads_end, window, constant; i64 groups; #base.operand bias; unit "
                "accumulate; math \"strict\", \"tf32\" or \"bf16\"; post_ops, an array of {kind, "
                "alpha, beta, operand}";
  }
  return success();
}

LogicalResult base::verifyLibraryCall(Operation *op, StringRef kind, ArrayAttr operands,
                                      DictionaryAttr config) {
  unsigned expected = numLibraryOperands(kind);
  if (!expected)
    return op->emitOpError() << "(C1) kind '" << kind
                             << "' is not matmul, conv, conv_backward_data, conv_backward_weights, "
                                "reorder, pool_max, pool_average or pool_average_include_padding";
  if (operands.size() != expected)
    return op->emitOpError() << "(C2) " << kind << " takes " << expected << " operands, found "
                             << operands.size();
  if (failed(verifyConfig(op, config)))
    return failure();
  for (auto [i, operand] : llvm::enumerate(operands))
    if (failed(verifyOperand(op, cast<OperandAttr>(operand), "operand " + Twine(i))))
      return failure();
  if (auto posts = config.getAs<ArrayAttr>("post_ops"))
    for (auto [i, post] : llvm::enumerate(posts))
      if (auto operand = cast<DictionaryAttr>(post).getAs<OperandAttr>("operand"))
        if (failed(verifyOperand(op, operand, "operand of post-op " + Twine(i))))
          return failure();
  auto bias = config.getAs<OperandAttr>("bias");
  return bias ? verifyOperand(op, bias, "the bias") : success();
}

LogicalResult base::verifyCopy(Operation *op, ViewAttr source, ViewAttr destination, int64_t bytes,
                               int64_t rows, int64_t sourcePitch, int64_t destinationPitch) {
  auto fits = [&](ViewAttr view, int64_t pitch, StringRef what) -> LogicalResult {
    std::optional<int64_t> last = endOf(0, rows, pitch, bytes);
    if (last && *last <= view.getBytes())
      return success();
    InFlightDiagnostic error =
        op->emitOpError() << "(C1) the " << what << " view holds " << view.getBytes() << " bytes; "
                          << rows << " rows of " << bytes << " bytes at pitch " << pitch;
    if (last)
      return error << " need " << *last;
    return error << " are no piece of memory: at least one row, bytes and pitch not negative";
  };
  if (failed(fits(source, sourcePitch, "source")))
    return failure();
  return fits(destination, destinationPitch, "destination");
}

LogicalResult base::verifyFill(Operation *op, ViewAttr destination, int64_t patternSize) {
  if ((patternSize != 1 && patternSize != 2 && patternSize != 4 && patternSize != 8) ||
      destination.getBytes() % patternSize)
    return op->emitOpError() << "(C1) pattern_size is " << patternSize << ", the view has "
                             << destination.getBytes()
                             << " bytes; use 1, 2, 4 or 8, dividing the bytes";
  return success();
}

LogicalResult base::verifyCollective(Operation *op, const CollectiveFacts &facts) {
  StringRef kind = facts.kind;
  bool pair = kind == "send" || kind == "recv", hasAxes = !facts.axes.empty();
  bool known =
      pair || llvm::is_contained(
                  {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute"}, kind);
  if (!known)
    return op->emitOpError() << "(C1) kind '" << kind
                             << "' is not all_reduce, all_gather, reduce_scatter, all_to_all, "
                                "permute, send or recv";
  if (facts.input.has_value() != (kind != "recv") || facts.output.has_value() != (kind != "send"))
    return op->emitOpError() << "(C2) " << kind << " needs "
                             << (kind == "send"   ? "an input only"
                                 : kind == "recv" ? "an output only"
                                                  : "an input and an output");
  if (hasAxes == facts.hasPeerStage || pair != facts.hasPeerStage)
    return op->emitOpError()
           << "(C3) give mesh axes to a collective, a peer stage to send and recv";
  if (!toDType(facts.type) || !llvm::is_contained({"sum", "max", "min", "mean"}, facts.reduce))
    return op->emitOpError() << "(C4) reduces " << facts.type << " by '" << facts.reduce
                             << "'; give a type of numbers, and sum, max, min or mean";
  return success();
}

static LogicalResult verifySliceCount(Operation *op, StringRef constraint, Type type,
                                      ArrayAttr slices) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  bool fit = tensor && (slices.empty() || slices.size() == static_cast<size_t>(tensor.getRank()));
  if (!fit || !llvm::all_of(slices, [](Attribute a) { return isa<SliceAttr>(a); }))
    return op->emitOpError() << constraint << " has " << slices.size() << " slices for type "
                             << type << "; give none, or one per dimension";
  return success();
}

/// (C5) of a tensor.
static LogicalResult verifySource(Operation *op, const TensorFacts &facts) {
  ArrayRef<int64_t> shape = facts.sourceShape.value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> base = facts.sourceBase.value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> own = cast<RankedTensorType>(facts.type).getShape();
  bool fine = facts.sourceShape.has_value() == facts.sourceBase.has_value();
  if (facts.sourceShape) {
    fine &= facts.sourceName && shape.size() == own.size() && base.size() == own.size();
    for (size_t d = 0; fine && d < own.size(); ++d)
      fine = base[d] >= 0 && base[d] <= shape[d] && own[d] <= shape[d] - base[d];
  }
  if (fine)
    return success();
  return op->emitOpError() << "(C5) is the part of shape [" << own << "] at [" << base
                           << "] of a saved tensor of shape [" << shape << "]"
                           << (facts.sourceName ? "" : " without a name")
                           << "; name the saved tensor, and give a shape and a base that hold it";
}

/// (C8) of a tensor.
static LogicalResult verifyVarying(Operation *op, const TensorFacts &facts) {
  if (!facts.varyingDim && !facts.count)
    return success();
  int64_t rank = cast<RankedTensorType>(facts.type).getRank();
  if (facts.varyingDim && facts.count && facts.role == "output" && facts.slots == 1 &&
      facts.slices.empty() && *facts.varyingDim >= 0 && *facts.varyingDim < rank)
    return success();
  return op->emitOpError() << "(C8) is a '" << facts.role << "' of rank " << rank << " with "
                           << facts.slots << " slots whose dimension "
                           << facts.varyingDim.value_or(-1) << " varies, counted by '"
                           << facts.count.value_or("")
                           << "'; give an output in one piece, one of its dimensions and the name "
                              "of its count";
}

LogicalResult base::verifyTensor(Operation *op, const TensorFacts &facts) {
  if (failed(verifySliceCount(op, "(C1)", facts.type, facts.slices)))
    return failure();
  if (!llvm::is_contained({"input", "label", "output", "parameter", "moment", "master", "statistic",
                           "counter", "gradient_accumulator", "metric", "tap", "count"},
                          facts.role))
    return op->emitOpError() << "(C2) role '" << facts.role
                             << "' is not input, label, output, parameter, moment, master, "
                                "statistic, counter, gradient_accumulator, metric, tap or count";
  auto type = cast<RankedTensorType>(facts.type);
  auto local = dyn_cast<RankedTensorType>(facts.local);
  if (!isKnownTensor(type) || !local || !isKnownTensor(local) ||
      local.getElementType() != type.getElementType() || local.getRank() != type.getRank() ||
      facts.slots < 1 || byteSizeOf(local) > facts.view.getBytes())
    return op->emitOpError() << "(C3) is " << facts.type << ", of which " << facts.slots
                             << " slots of " << facts.local << " lie in " << facts.view.getBytes()
                             << " bytes; give static tensors of one rank and number type, at least "
                                "one slot, and a view that holds it";
  if (facts.dims && facts.dims->size() != static_cast<size_t>(type.getRank()))
    return op->emitOpError() << "(C4) has " << facts.dims->size() << " names of dimensions for "
                             << facts.type << "; give one per dimension, \"\" where there is none";
  return failure(failed(verifyVarying(op, facts)) || failed(verifySource(op, facts)));
}

LogicalResult base::verifyInitialize(Operation *op, bool hasValue, bool hasKey, Type type,
                                     ViewAttr view, ArrayAttr slices) {
  if (hasValue == hasKey)
    return op->emitOpError("(C1) give either a value or the key of a weight");
  if (!isKnownTensor(type) || byteSizeOf(type) > view.getBytes())
    return op->emitOpError() << "(C2) writes " << type << " into " << view.getBytes()
                             << " bytes; give a static tensor of numbers and a view that holds it";
  return verifySliceCount(op, "(C3)", type, slices);
}

LogicalResult base::verifyProgram(Operation *op, ArrayAttr mesh, ArrayRef<int64_t> shape,
                                  int64_t stage) {
  llvm::SmallDenseSet<Attribute> axes(mesh.begin(), mesh.end());
  std::optional<int64_t> ranks = 1;
  for (int64_t size : shape)
    ranks = ranks && size >= 1 ? llvm::checkedMul(*ranks, size) : std::nullopt;
  if (mesh.size() != shape.size() || axes.size() != mesh.size() || !ranks || *ranks > maxRanks)
    return op->emitOpError() << "(C1) has a mesh of axes " << mesh << " with sizes [" << shape
                             << "]; give one size of at least 1 per axis, and each axis once, for "
                                "at most "
                             << maxRanks << " ranks";
  if (stage < 0)
    return op->emitOpError() << "(C2) is stage " << stage << "; stages count from 0";
  return success();
}

LogicalResult base::verifyScript(Operation *op, ArrayAttr segments, ArrayRef<int64_t> slots) {
  if (segments.size() != slots.size() || llvm::any_of(slots, [](int64_t s) { return s < 0; }))
    return op->emitOpError() << "(C1) has " << segments.size() << " segments and " << slots.size()
                             << " slots; give one slot per segment, counted from 0";
  return success();
}
