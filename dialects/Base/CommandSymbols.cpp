//===- CommandSymbols.cpp - what commands name exists in their program ----===//
//
// The constraints of Commands.td that need the program around an op. They run
// when the program, a symbol table, is verified; what lies outside the program
// (kernels, weights) is checked with the module, by the phase verifiers.
//
//   sched.buffer @t scratch 64
//   sched.copy <@t, 32, 64> to <@u, 0, 64> {...}
//     error: (V2) touches bytes [32, 96) of buffer @t, which has 64
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Commands.h"
#include "gpucc/Support/Types.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::base;

LogicalResult base::verifyViews(Operation *op, ArrayRef<ViewAttr> views,
                                const ProgramFacts &facts) {
  for (ViewAttr view : views) {
    Operation *buffer = facts.symbols->lookupSymbolIn(facts.program, view.getBuffer());
    std::optional<int64_t> bytes = buffer ? facts.bytesOf(buffer) : std::nullopt;
    if (!bytes)
      return op->emitOpError() << "(V1) touches " << view.getBuffer() << ", which "
                               << (buffer ? "is no buffer" : "the program does not declare")
                               << "; declare it as a buffer of the program";
    int64_t offset = view.getOffset(), size = view.getBytes();
    if (offset < 0 || size < 0 || offset > *bytes || size > *bytes - offset) {
      InFlightDiagnostic error = op->emitOpError() << "(V2) touches ";
      // The sum of two numbers that are no sizes may be no i64.
      if (std::optional<int64_t> end = llvm::checkedAdd(offset, size))
        error << "bytes [" << offset << ", " << *end << ")";
      else
        error << size << " bytes from byte " << offset << " on";
      error << " of buffer " << view.getBuffer() << ", which has " << *bytes;
      error.attachNote(buffer->getLoc())
          << "the buffer is declared here; a view lies inside one slot";
      return error;
    }
  }
  return success();
}

/// Axes of the program; `what` names them in the message.
static LogicalResult verifyAxes(Operation *op, ArrayRef<Attribute> axes, const ProgramFacts &facts,
                                StringRef what) {
  for (Attribute axis : axes)
    if (!llvm::is_contained(facts.mesh, axis))
      return op->emitOpError() << what << " axis " << axis << "; the program's mesh has "
                               << facts.mesh;
  return success();
}

LogicalResult base::verifyRankValue(Operation *op, RankValueAttr value, const ProgramFacts &facts) {
  SmallVector<Attribute> axes(value.getAxes().begin(), value.getAxes().end());
  return verifyAxes(op, axes, facts, "(V3) depends on the rank along");
}

LogicalResult base::verifySlices(Operation *op, ArrayAttr slices, const ProgramFacts &facts) {
  for (Attribute slice : slices)
    if (failed(verifyRankValue(op, cast<SliceAttr>(slice).getStart(), facts)))
      return failure();
  return success();
}

LogicalResult base::verifyCommandUses(Operation *op, ArrayRef<Access> accesses,
                                      std::optional<ArrayAttr> scalars, const ProgramFacts &facts) {
  SmallVector<ViewAttr> views;
  for (const Access &access : accesses)
    views.push_back(access.view);
  if (failed(verifyViews(op, views, facts)))
    return failure();
  for (Attribute scalar : scalars.value_or(ArrayAttr::get(op->getContext(), {})))
    if (auto value = dyn_cast<RankValueAttr>(scalar);
        value && failed(verifyRankValue(op, value, facts)))
      return failure();
  return success();
}

/// Bytes of `parts` times `count` elements; none where that is no size.
static std::optional<int64_t> bytesOf(DType dtype, int64_t count, int64_t parts) {
  std::optional<int64_t> elements = llvm::checkedMul(count, parts);
  if (!elements || *elements < 0 || !llvm::checkedMul(*elements, int64_t(bitWidth(dtype))))
    return std::nullopt;
  return byteSize(dtype, *elements);
}

LogicalResult base::verifyCollectiveUses(Operation *op, const CollectiveFacts &collective,
                                         const ProgramFacts &facts) {
  if (failed(verifyAxes(op, collective.axes.getValue(), facts, "(C5) runs over")))
    return failure();
  for (auto value : {collective.peer, collective.source})
    if (value && failed(verifyRankValue(op, *value, facts)))
      return failure();
  int64_t members = 1;
  for (Attribute axis : collective.axes)
    members *= facts.shape[llvm::find(facts.mesh, axis) - facts.mesh.begin()];
  bool scatters = collective.kind == "reduce_scatter" || collective.kind == "all_to_all";
  bool gathers = collective.kind == "all_gather" || collective.kind == "all_to_all";
  auto holds = [&](std::optional<ViewAttr> view, bool manyParts, StringRef what) -> LogicalResult {
    std::optional<int64_t> bytes =
        bytesOf(*toDType(collective.type), collective.count, manyParts ? members : 1);
    if (!view || view->getBytes() == bytes)
      return success();
    InFlightDiagnostic error = op->emitOpError()
                               << "(C6) " << what << " view has " << view->getBytes() << " bytes; "
                               << collective.kind << " of count " << collective.count << " among "
                               << members << " members moves ";
    if (bytes)
      return error << *bytes << " bytes there";
    return error << "no number of bytes that an i64 holds";
  };
  if (failed(holds(collective.input, scatters, "the input")))
    return failure();
  return holds(collective.output, gathers, "the output");
}

LogicalResult base::verifyTensorUses(Operation *op, const TensorFacts &tensor,
                                     const ProgramFacts &facts) {
  if (failed(verifyViews(op, {tensor.view}, facts)) ||
      failed(verifySlices(op, tensor.slices, facts)))
    return failure();
  // "pp" counts stages: it is no axis of one stage's ranks.
  SmallVector<Attribute> axes;
  for (Attribute axis : tensor.partialAxes.value_or(ArrayAttr::get(op->getContext(), {})))
    if (cast<StringAttr>(axis).getValue() != "pp")
      axes.push_back(axis);
  return verifyAxes(op, axes, facts, "(C6) is partial over");
}

LogicalResult base::verifyScriptUses(Operation *op, ArrayAttr segments, const ProgramFacts &facts,
                                     StringRef segmentOp) {
  for (Attribute a : segments) {
    auto name = dyn_cast<FlatSymbolRefAttr>(a);
    Operation *segment = name ? facts.symbols->lookupSymbolIn(facts.program, name) : nullptr;
    if (!segment || segment->getName().getStringRef() != segmentOp)
      return op->emitOpError() << "(C2) runs " << a
                               << ", which is no segment of the program; name one as @segment";
  }
  return success();
}
