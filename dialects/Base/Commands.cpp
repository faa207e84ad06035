//===- Commands.cpp - what a rank does ------------------------------------===//
#include "dialects/Base/Commands.h"
#include "llvm/ADT/StringSwitch.h"

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
  return result;
}

LogicalResult base::verifyLaunch(Operation *op, ArrayAttr views, StringRef access) {
  if (views.size() != access.size())
    return op->emitOpError() << "(C1) has " << views.size() << " views and " << access.size()
                             << " access letters; give one of r, w, b per view";
  for (char c : access)
    if (c != 'r' && c != 'w' && c != 'b')
      return op->emitOpError() << "(C1) access letter '" << StringRef(&c, 1)
                               << "' is not one of r, w, b";
  return success();
}

LogicalResult base::verifyLibraryCall(Operation *op, StringRef kind, ArrayAttr operands) {
  unsigned expected = numLibraryOperands(kind);
  if (!expected)
    return op->emitOpError() << "(C1) kind '" << kind
                             << "' is not matmul, conv, conv_backward_data, conv_backward_weights, "
                                "reorder, pool_max, pool_average or pool_average_include_padding";
  if (operands.size() != expected)
    return op->emitOpError() << "(C2) " << kind << " takes " << expected << " operands, found "
                             << operands.size();
  return success();
}

LogicalResult base::verifyCopy(Operation *op, ViewAttr source, ViewAttr destination, int64_t bytes,
                               int64_t rows, int64_t sourcePitch, int64_t destinationPitch) {
  auto fits = [&](ViewAttr view, int64_t pitch, StringRef what) -> LogicalResult {
    int64_t last = (rows - 1) * pitch + bytes;
    if (rows >= 1 && bytes >= 0 && last <= view.getBytes())
      return success();
    return op->emitOpError() << "(C1) the " << what << " view holds " << view.getBytes()
                             << " bytes; " << rows << " rows of " << bytes << " bytes at pitch "
                             << pitch << " need " << last;
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

LogicalResult base::verifyCollective(Operation *op, StringRef kind, bool hasInput, bool hasOutput,
                                     bool hasAxes, bool hasPeerStage) {
  bool pair = kind == "send" || kind == "recv";
  bool known = pair || llvm::is_contained({"all_reduce", "all_gather", "reduce_scatter",
                                           "all_to_all", "permute"},
                                          kind);
  if (!known)
    return op->emitOpError() << "(C1) kind '" << kind
                             << "' is not all_reduce, all_gather, reduce_scatter, all_to_all, "
                                "permute, send or recv";
  if (hasInput != (kind != "recv") || hasOutput != (kind != "send"))
    return op->emitOpError() << "(C2) " << kind << " needs "
                             << (kind == "send"   ? "an input only"
                                 : kind == "recv" ? "an output only"
                                                  : "an input and an output");
  if (hasAxes == hasPeerStage || pair != hasPeerStage)
    return op->emitOpError() << "(C3) give mesh axes to a collective, a peer stage to send and recv";
  return success();
}

LogicalResult base::verifyTensor(Operation *op, StringRef role, Type type, ArrayAttr slices) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || (!slices.empty() && slices.size() != static_cast<size_t>(tensor.getRank())))
    return op->emitOpError() << "(C1) has " << slices.size() << " slices for type " << type
                             << "; give none, or one per dimension";
  if (!llvm::is_contained({"input", "label", "output", "parameter", "moment", "master",
                           "statistic", "counter", "gradient_accumulator", "metric", "tap"},
                          role))
    return op->emitOpError() << "(C2) role '" << role
                             << "' is not input, label, output, parameter, moment, master, "
                                "statistic, counter, gradient_accumulator, metric or tap";
  return success();
}

LogicalResult base::verifyInitialize(Operation *op, bool hasValue, bool hasKey) {
  if (hasValue == hasKey)
    return op->emitOpError("(C1) give either a value or the key of a weight");
  return success();
}

LogicalResult base::verifyScript(Operation *op, ArrayAttr segments, ArrayRef<int64_t> slots) {
  if (segments.size() != slots.size())
    return op->emitOpError() << "(C1) has " << segments.size() << " segments and " << slots.size()
                             << " slots; give one slot per segment";
  return success();
}
