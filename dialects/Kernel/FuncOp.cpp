//===- FuncOp.cpp - kernel.func and kernel.program ------------------------===//
#include "dialects/Kernel/Kernel.h"
#include "dialects/Kernel/Space.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace gpucc::kernel;

//===----------------------------------------------------------------------===//
// kernel.func
//===----------------------------------------------------------------------===//
void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   ArrayRef<Type> views) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(views, {})));
  Region *body = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(views.size(), state.location);
  builder.createBlock(body, body->end(), views, locs);
  YieldOp::create(builder, state.location);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto type = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results,
                 function_interface_impl::VariadicFlag,
                 std::string &) { return builder.getFunctionType(args, results); };
  if (function_interface_impl::parseFunctionOp(
          parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), type,
          getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name)))
    return failure();
  Region &body = *result.regions.front();
  if (body.empty())
    return parser.emitError(parser.getNameLoc(), "a kernel needs a body");
  if (body.front().empty() || !body.front().back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToEnd(&body.front());
    YieldOp::create(builder, result.location);
  }
  return success();
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

static bool isSkeleton(Operation &op) { return isa<ContractOp, ConvolutionOp, AttentionOp>(op); }

LogicalResult FuncOp::verifyRegions() {
  if (!getResultTypes().empty())
    return emitOpError("(C1) has results; a kernel writes its results into views");
  for (auto [i, type] : llvm::enumerate(getArgumentTypes())) {
    auto view = dyn_cast<MemRefType>(type);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (!view || !view.hasStaticShape() || failed(view.getStridesAndOffset(strides, offset)) ||
        offset != 0 || llvm::any_of(strides, ShapedType::isDynamic))
      return emitOpError("(C1) argument ")
             << i << " is " << type
             << "; views are memrefs with static shape and strides and offset 0: bind the offset "
                "where the view is made";
  }
  int64_t computations = 0;
  for (Operation &op : getBody().front()) {
    if (isa<ProgramOp>(op) || isSkeleton(op)) {
      ++computations;
      continue;
    }
    if (auto yield = dyn_cast<YieldOp>(op); yield && yield.getValues().empty())
      continue;
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    InFlightDiagnostic diag =
        emitOpError("(C2) holds an operation that is neither a constant nor a computation");
    diag.attachNote(op.getLoc()) << "'" << op.getName()
                                 << "' belongs into the kernel.program, where it is the same value "
                                    "for all points of a program";
    return diag;
  }
  if (computations != 1)
    return emitOpError("(C2) holds ")
           << computations
           << " programs or skeletons; one kernel is exactly one: make more kernels";
  return success();
}

Operation *FuncOp::getComputation() {
  for (Operation &op : getBody().front())
    if (isa<ProgramOp>(op) || isSkeleton(op))
      return &op;
  return nullptr;
}

StringRef FuncOp::getViewName(unsigned index) {
  auto name = getArgAttrOfType<StringAttr>(index, viewNameAttr);
  return name ? name.getValue() : StringRef();
}

int64_t FuncOp::getProgramCount() {
  auto program = dyn_cast_or_null<ProgramOp>(getComputation());
  if (!program)
    return 0;
  int64_t count = 1;
  for (int64_t e : program.getExtents())
    count *= e;
  return count;
}

//===----------------------------------------------------------------------===//
// kernel.program
//===----------------------------------------------------------------------===//
void ProgramOp::build(OpBuilder &builder, OperationState &state, ArrayRef<int64_t> extents,
                      function_ref<void(OpBuilder &, Location, ValueRange)> build) {
  state.addAttribute(getExtentsAttrName(state.name), builder.getDenseI64ArrayAttr(extents));
  Block *body = buildSpace(builder, state, extents.size());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  if (build)
    build(builder, state.location, body->getArguments());
  YieldOp::create(builder, state.location);
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  Region *body = result.addRegion();
  if (parseSpace(parser, result, args) || parser.parseRegion(*body, args) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printSpace(printer, getExtents(), getBody().front());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {getExtentsAttrName()});
}

LogicalResult ProgramOp::verify() { return verifySpace(*this, getExtents(), getBody()); }
