//===- LaunchOp.cpp - kernel.launch ---------------------------------------===//
#include "dialects/Kernel/Kernel.h"

using namespace mlir;
using namespace gpucc::kernel;

LogicalResult LaunchOp::verify() {
  ArrayRef<int64_t> pairs = getInplace();
  if (pairs.size() % 2)
    return emitOpError("(C3) inplace has ") << pairs.size() << " entries; it lists pairs";
  for (size_t p = 0; p < pairs.size(); p += 2) {
    int64_t input = pairs[p], output = pairs[p + 1];
    if (input < 0 || output < 0 || input >= int64_t(getInputs().size()) ||
        output >= int64_t(getOutputs().size()) ||
        getInputs()[input].getType() != getOutputs()[output].getType())
      return emitOpError("(C3) inplace pair (")
             << input << ", " << output << ") does not name an input and an output of one type";
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto func = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getKernelAttr());
  if (!func)
    return emitOpError("(C1) '") << getKernel() << "' is not a kernel.func of this module";
  SmallVector<Type> tensors(getInputs().getTypes());
  llvm::append_range(tensors, getOutputs().getTypes());
  auto fits = [](Type view, Type tensor) {
    auto v = cast<ShapedType>(view), t = cast<ShapedType>(tensor);
    return v.getNumElements() == t.getNumElements() &&
           v.getElementTypeBitWidth() == t.getElementTypeBitWidth();
  };
  if (func.getArgumentTypes().size() == tensors.size() &&
      llvm::all_of(llvm::zip(func.getArgumentTypes(), tensors),
                   [&](auto pair) { return fits(std::get<0>(pair), std::get<1>(pair)); }))
    return success();
  InFlightDiagnostic diag = emitOpError("(C2) inputs and outputs do not fit the kernel's views");
  diag.attachNote(func.getLoc()) << "the kernel is " << func.getFunctionType()
                                 << "; launch it with one tensor per view, inputs first";
  return diag;
}
