//===- LoopOp.cpp - kernel.loop and the heads of programs and loops -------===//
#include "dialects/Kernel/Kernel.h"
#include "dialects/Kernel/Reduction.h"
#include "dialects/Kernel/Space.h"

using namespace mlir;
using namespace gpucc::kernel;

//===----------------------------------------------------------------------===//
// (%i, %j) in (4, 8)
//===----------------------------------------------------------------------===//
ParseResult gpucc::kernel::parseSpace(OpAsmParser &parser, OperationState &result,
                                      SmallVectorImpl<OpAsmParser::Argument> &args) {
  if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("in"))
    return failure();
  SmallVector<int64_t> extents;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     [&] { return parser.parseInteger(extents.emplace_back()); }))
    return failure();
  if (extents.size() != args.size())
    return parser.emitError(at) << "(C1) " << args.size() << " indices but " << extents.size()
                                << " extents; give one extent per index";
  for (OpAsmParser::Argument &arg : args)
    arg.type = parser.getBuilder().getIndexType();
  result.addAttribute("extents", parser.getBuilder().getDenseI64ArrayAttr(extents));
  return success();
}

void gpucc::kernel::printSpace(OpAsmPrinter &printer, ArrayRef<int64_t> extents, Block &body) {
  printer << " (";
  llvm::interleaveComma(body.getArguments(), printer, [&](Value v) { printer << v; });
  printer << ") in (";
  llvm::interleaveComma(extents, printer);
  printer << ")";
}

LogicalResult gpucc::kernel::verifySpace(Operation *op, ArrayRef<int64_t> extents, Region &body) {
  Block &block = body.front();
  if (block.getNumArguments() != extents.size() ||
      !llvm::all_of(block.getArgumentTypes(), [](Type t) { return t.isIndex(); }))
    return op->emitOpError("(C1) has ")
           << block.getNumArguments() << " arguments for " << extents.size()
           << " extents; give one argument of type index per extent";
  for (int64_t e : extents)
    if (e < 1)
      return op->emitOpError("(C1) has extent ")
             << e << "; extents are at least 1: leave out a kernel that computes nothing";
  return success();
}

Block *gpucc::kernel::buildSpace(OpBuilder &builder, OperationState &state, unsigned rank) {
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(rank, builder.getIndexType());
  SmallVector<Location> locs(rank, state.location);
  return builder.createBlock(region, region->end(), types, locs);
}

//===----------------------------------------------------------------------===//
// kernel.loop
//===----------------------------------------------------------------------===//
void LoopOp::build(OpBuilder &builder, OperationState &state, ArrayRef<int64_t> extents,
                   ArrayRef<LoopResultKind> kinds, ArrayRef<Type> types,
                   function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> build) {
  SmallVector<Attribute> kindAttrs;
  for (LoopResultKind kind : kinds)
    kindAttrs.push_back(LoopResultKindAttr::get(builder.getContext(), kind));
  state.addAttribute(getExtentsAttrName(state.name), builder.getDenseI64ArrayAttr(extents));
  state.addAttribute(getKindsAttrName(state.name), builder.getArrayAttr(kindAttrs));
  state.addTypes(types);
  Block *body = buildSpace(builder, state, extents.size());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  SmallVector<Value> values;
  if (build)
    values = build(builder, state.location, body->getArguments());
  YieldOp::create(builder, state.location, values);
}

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  Region *body = result.addRegion();
  if (parseSpace(parser, result, args))
    return failure();
  SmallVector<Attribute> kinds;
  auto parseResult = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef keyword;
    Type type;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<LoopResultKind> kind = symbolizeLoopResultKind(keyword);
    if (!kind)
      return parser.emitError(at) << "unknown kind '" << keyword
                                  << "'; one of keep, add, mul, max, min, maxnum, minnum, umax, "
                                     "umin, and, or";
    if (parser.parseType(type))
      return failure();
    kinds.push_back(LoopResultKindAttr::get(parser.getContext(), *kind));
    result.addTypes(type);
    return success();
  };
  if (succeeded(parser.parseOptionalArrow()) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseResult))
    return failure();
  result.addAttribute("kinds", parser.getBuilder().getArrayAttr(kinds));
  if (parser.parseRegion(*body, args) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void LoopOp::print(OpAsmPrinter &printer) {
  printSpace(printer, getExtents(), getBody().front());
  if (getNumResults()) {
    printer << " -> (";
    llvm::interleaveComma(llvm::seq<unsigned>(0, getNumResults()), printer, [&](unsigned i) {
      printer << stringifyLoopResultKind(getKind(i)) << " " << getResult(i).getType();
    });
    printer << ")";
  }
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/getNumResults() != 0);
  printer.printOptionalAttrDict((*this)->getAttrs(), {getExtentsAttrName(), getKindsAttrName()});
}

OperandRange LoopOp::getYielded() { return getBody().front().getTerminator()->getOperands(); }

bool LoopOp::isInner() { return !isa_and_nonnull<ProgramOp>((*this)->getParentOp()); }

int64_t LoopOp::getPoints() {
  int64_t points = 1;
  for (int64_t e : getExtents())
    points *= e;
  return points;
}

bool LoopOp::isColumnReduction(unsigned result) {
  return getKind(result) != LoopResultKind::Keep &&
         isa<RankedTensorType>(getResult(result).getType());
}

static LogicalResult verifyResult(LoopOp loop, unsigned i, Type yielded) {
  Type type = loop.getResult(i).getType();
  auto tile = dyn_cast<RankedTensorType>(type);
  StringRef kind = stringifyLoopResultKind(loop.getKind(i));
  if (loop.getKind(i) == LoopResultKind::Keep) {
    if (!tile || tile.getShape() != loop.getExtents() || tile.getElementType() != yielded)
      return loop.emitOpError("(C3) result ") << i << " is " << type << "; what is kept is "
                                              << RankedTensorType::get(loop.getExtents(), yielded);
    if (loop.isInner())
      return loop.emitOpError("(C3) keeps a tile inside another loop; reduce there, or move the "
                              "loop into the program");
    return success();
  }
  if (tile) {
    if (loop.isInner() || loop.getExtents().size() < 2)
      return loop.emitOpError("(C4) result ")
             << i << " is one value per column; that needs a loop of rank 2 directly in a program";
    if (tile.getShape() != loop.getExtents().take_back() || tile.getElementType() != yielded)
      return loop.emitOpError("(C4) result ")
             << i << " is " << type << "; columns are "
             << RankedTensorType::get(loop.getExtents().take_back(), yielded);
  } else if (type != yielded)
    return loop.emitOpError("(C4) result ")
           << i << " is " << type << " but the loop yields " << yielded;
  if (!isReducible(loop.getKind(i), yielded))
    return loop.emitOpError("(C5) cannot reduce ")
           << yielded << " by " << kind
           << "; reduce f32, f64, i32, i64 (i1 with and, or): convert before and after";
  return success();
}

LogicalResult LoopOp::verify() {
  if (failed(verifySpace(*this, getExtents(), getBody())))
    return failure();
  OperandRange yielded = getYielded();
  if (yielded.size() != getNumResults() || getKinds().size() != getNumResults())
    return emitOpError("(C2) has ")
           << getNumResults() << " results, " << getKinds().size() << " kinds and yields "
           << yielded.size() << " values; these are one each";
  auto reduced = llvm::make_filter_range(llvm::seq<unsigned>(0, getNumResults()), [&](unsigned i) {
    return getKind(i) != LoopResultKind::Keep;
  });
  if (llvm::any_of(reduced, [&](unsigned i) { return isColumnReduction(i); }) &&
      !llvm::all_of(reduced, [&](unsigned i) { return isColumnReduction(i); }))
    return emitOpError("(C6) reduces to a scalar and to columns at once; make two loops");
  for (auto [i, value] : llvm::enumerate(yielded))
    if (failed(verifyResult(*this, i, value.getType())))
      return failure();
  return success();
}
