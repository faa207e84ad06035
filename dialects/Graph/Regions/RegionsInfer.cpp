//===- RegionsInfer.cpp - text form and constraints of region ops ---------===//
//
//   %y = graph.cluster loop (%a = %x : tensor<4xf32>) -> tensor<4xf32> { ... graph.yield %0 ... }
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Infer.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace gpucc::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/Regions/RegionsOps.cpp.inc"

ParseResult ClusterOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  SMLoc keywordLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ClusterKind> kind = symbolizeClusterKind(keyword);
  if (!kind)
    return parser.emitError(keywordLoc) << "'" << keyword << "' is not a kind of cluster";
  result.getOrAddProperties<Properties>().kind = ClusterKindAttr::get(parser.getContext(), *kind);

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc operandsLoc = parser.getCurrentLocation();
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) ||
                   parser.parseColonType(arguments.back().type));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parsePair))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    if (succeeded(parser.parseOptionalLParen())) {
      if (failed(parser.parseOptionalRParen()) &&
          (parser.parseTypeList(result.types) || parser.parseRParen()))
        return failure();
    } else if (parser.parseType(result.types.emplace_back())) {
      return failure();
    }
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  SmallVector<Type> types =
      llvm::map_to_vector(arguments, [](const OpAsmParser::Argument &a) { return a.type; });
  return failure(parser.resolveOperands(operands, types, operandsLoc, result.operands) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void ClusterOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyClusterKind(getKind()) << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
            << std::get<0>(pair).getType();
  });
  printer << ')';
  if (getNumResults()) {
    printer << " -> ";
    if (getNumResults() > 1)
      printer << '(';
    llvm::interleaveComma(getResultTypes(), printer);
    if (getNumResults() > 1)
      printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getKindAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ClusterOp::verify() {
  InferContext c(getLoc(), getOperationName());
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(getInputs().getTypes()))
    return c.fail("(C1) the body has " + Twine(body.getNumArguments()) + " arguments for " +
                      Twine(getInputs().size()) + " operands, or their types differ",
                  "the body has one argument per operand, of its type");
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || TypeRange(yield.getValues().getTypes()) != TypeRange(getResultTypes())) {
    InFlightDiagnostic d = emitOpError("(C2) has ")
                           << getNumResults()
                           << " results, but its body does not end in a graph.yield of those types";
    d.attachNote(body.back().getLoc()) << "the body ends here";
    d.attachNote(getLoc()) << "yield one value per result, of its type";
    return d;
  }
  for (Operation &op : body) {
    if (isa_and_nonnull<GraphDialect>(op.getDialect()) && op.getNumRegions() == 0)
      continue;
    InFlightDiagnostic d = emitOpError("(C3) holds '") << op.getName() << "'";
    d.attachNote(op.getLoc()) << "it stands here";
    d.attachNote(getLoc()) << "a cluster holds only graph ops without regions; keep others outside";
    return d;
  }
  return success();
}
