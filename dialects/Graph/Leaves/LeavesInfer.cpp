//===- LeavesInfer.cpp - types and constraints of leaves ------------------===//
//
//   graph.weight_data @w {file = 0, offset = 0, bytes = 24} : tensor<2x3xf32>
//   graph.weight @w {start = array<i64: 1, 0>} : tensor<1x3xf32>   is row 1
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Infer.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Leaves/LeavesOps.cpp.inc"

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  auto type = dyn_cast<RankedTensorType>(adaptor.getValue().getType());
  if (!type || !type.hasStaticShape())
    return c.fail("the value has type " + str(Type(adaptor.getValue().getType())) +
                      "; a ranked tensor of static shape is expected",
                  "write e.g. dense<0.0> : tensor<4xf32>");
  types.push_back(type);
  return success();
}

LogicalResult WeightDataOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  std::optional<gpucc::DType> dtype = toDType(type.getElementType());
  int64_t expected = byteSize(*dtype, type.getNumElements());
  if (static_cast<int64_t>(getBytes()) != expected) {
    InFlightDiagnostic d = emitOpError("(C1) has ")
                           << getBytes() << " bytes, " << type << " takes " << expected;
    d.attachNote(getLoc()) << "set `bytes` to " << expected << " or correct the type";
    return d;
  }
  auto files = (*this)->getParentOp() ? (*this)->getParentOp()->getAttrOfType<ArrayAttr>(filesAttr)
                                      : ArrayAttr();
  int64_t count = files ? files.size() : 0, file = getFile();
  if (file < 0 || file >= count) {
    InFlightDiagnostic d = emitOpError("(C2) names file number ")
                           << file << ", the module's `" << filesAttr << "` lists " << count;
    d.attachNote(getLoc()) << "add the file to `" << filesAttr << "` of the module";
    return d;
  }
  if (static_cast<int64_t>(getOffset()) < 0) {
    InFlightDiagnostic d = emitOpError("(C3) starts at offset ")
                           << static_cast<int64_t>(getOffset());
    d.attachNote(getLoc()) << "offsets count bytes from the start of the file";
    return d;
  }
  return success();
}

LogicalResult WeightOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getType());
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &tables) {
  InferContext c(getLoc(), getOperationName());
  auto data = tables.lookupNearestSymbolFrom<WeightDataOp>(*this, getKeyAttr());
  if (!data)
    return c.fail("(C1) no graph.weight_data is named @" + getKey(),
                  "declare it in the module, or correct `key`");
  auto stored = cast<RankedTensorType>(data.getType()), block = cast<RankedTensorType>(getType());
  bool rounded = isa<FloatType>(stored.getElementType()) && isa<FloatType>(block.getElementType());
  bool fits = (rounded || stored.getElementType() == block.getElementType()) &&
              stored.getRank() == block.getRank() &&
              (getStart().empty() || static_cast<int64_t>(getStart().size()) == stored.getRank());
  for (int64_t d = 0; fits && d < stored.getRank(); ++d) {
    int64_t start = getStart().empty() ? 0 : getStart()[d];
    fits = start >= 0 && start + block.getDimSize(d) <= stored.getDimSize(d);
  }
  if (fits)
    return success();
  return c.fail("(C2) the block " + str(block) + " at " + str(getStart()) +
                    " does not lie inside the stored " + str(stored),
                "the block keeps the element type, or rounds floats to other floats, and ends inside the weight");
}

LogicalResult IotaOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  auto type = cast<RankedTensorType>(adaptor.getType());
  if (failed(c.checkDim("C1", "dim", adaptor.getDim(), type.getRank())))
    return failure();
  types.push_back(type);
  return success();
}

LogicalResult RngUniformOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &types) {
  InferContext c(location, getOperationName());
  auto type = cast<RankedTensorType>(adaptor.getType());
  ArrayRef<int64_t> global = adaptor.getGlobalShape();
  if (adaptor.getOffsets().size() != global.size())
    return c.fail("(C1) has " + Twine(adaptor.getOffsets().size()) +
                      " offsets, `global_shape` = " + str(global),
                  "give one scalar i64 per dimension (a constant 0 where nothing is split)");
  bool fits = type.getRank() == static_cast<int64_t>(global.size());
  for (size_t d = 0; fits && d < global.size(); ++d)
    fits = type.getDimSize(d) <= global[d];
  if (!fits)
    return c.fail("(C2) " + str(type) + " is no block of `global_shape` = " + str(global),
                  "the result has the rank of `global_shape` and is no larger in any dimension");
  types.push_back(type);
  return success();
}
