//===- Base.cpp - attributes that several dialects share ------------------===//
#include "dialects/Base/Base.h"
#include "dialects/Base/ModuleAttrs.h"
#include "dialects/Base/VaryingAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc::base;

#include "dialects/Base/BaseDialect.cpp.inc"
#include "dialects/Base/BaseEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Base/BaseAttrs.cpp.inc"

void BaseDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Base/BaseAttrs.cpp.inc"
      >();
}

// `<` role (`,` `of` `=` string)? (`,` `trainable` `=` bool)? (`,` `start` `=` `[` ints `]`)? `>`
Attribute StateAttr::parse(AsmParser &parser, Type) {
  std::string of;
  bool trainable = true;
  SmallVector<int64_t> start;
  auto parsePart = [&](StringRef key) -> ParseResult {
    if (parser.parseEqual())
      return failure();
    if (key == "of")
      return parser.parseString(&of);
    if (key == "trainable") {
      StringRef word;
      if (parser.parseOptionalKeyword(&word, {"true", "false"}))
        return parser.emitError(parser.getCurrentLocation(), "expected 'true' or 'false'");
      trainable = word == "true";
      return success();
    }
    return parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Square, [&] { return parser.parseInteger(start.emplace_back()); });
  };
  FailureOr<StateRole> role = failure();
  if (parser.parseLess() || failed(role = FieldParser<StateRole>::parse(parser)))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    if (parser.parseOptionalKeyword(&key, {"of", "trainable", "start"})) {
      parser.emitError(parser.getCurrentLocation(), "expected 'of', 'trainable' or 'start'");
      return {};
    }
    if (parsePart(key))
      return {};
  }
  if (parser.parseGreater())
    return {};
  // The parser's own storage of `of` ends with this function; get() copies it.
  return StateAttr::get(parser.getContext(), *role, of, trainable, start);
}

void StateAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyStateRole(getRole());
  if (!getOf().empty()) {
    printer << ", of = ";
    printer.printString(getOf());
  }
  if (!getTrainable())
    printer << ", trainable = false";
  if (!getStart().empty()) {
    printer << ", start = [";
    llvm::interleaveComma(getStart(), printer.getStream());
    printer << ']';
  }
  printer << '>';
}

LogicalResult ProfileAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                  ArrayRef<StringAttr> symbols, ArrayRef<int64_t> values) {
  if (symbols.size() != values.size())
    return emitError() << "profile '" << name << "' binds " << symbols.size() << " symbols to "
                       << values.size() << " values; give one value per symbol";
  for (auto [symbol, value] : llvm::zip(symbols, values))
    if (value < 0)
      return emitError() << "profile '" << name << "' binds " << symbol << " to " << value
                         << "; a size is at least 0";
  return success();
}

LogicalResult RankValueAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t,
                                    ArrayRef<StringAttr> axes, ArrayRef<int64_t> strides, int64_t,
                                    int64_t modulo) {
  if (axes.size() != strides.size())
    return emitError() << "rank_value names " << axes.size() << " axes and " << strides.size()
                       << " strides; give one stride per axis";
  if (modulo < 0)
    return emitError() << "rank_value has modulo " << modulo << "; it is 0 (none) or positive";
  return success();
}

RankValueAttr RankValueAttr::constant(MLIRContext *context, int64_t value) {
  return get(context, value, {}, {}, 0, 0);
}

/// What may stand on an argument or result of a function.
static LogicalResult verifyValueAttribute(Operation *op, NamedAttribute attr, StringRef what,
                                          unsigned index) {
  StringRef name = attr.getName();
  auto wrong = [&](StringRef expected) {
    return op->emitOpError() << "'" << name << "' on " << what << " " << index << " is "
                             << attr.getValue() << "; expected " << expected;
  };
  if (name == nameAttr)
    return isa<StringAttr>(attr.getValue()) ? success() : wrong("a string");
  if (name == kindAttr) {
    auto kind = dyn_cast<StringAttr>(attr.getValue());
    bool known = kind && llvm::StringSwitch<bool>(kind.getValue())
                             .Cases({"input", "label", "state", "output", "metric", "count"}, true)
                             .Default(false);
    return known ? success()
                 : wrong("\"input\", \"label\", \"state\", \"output\", \"metric\" or \"count\"");
  }
  if (name == stateAttr)
    return isa<StateAttr>(attr.getValue()) ? success() : wrong("a #base.state");
  if (name == aliasAttr) {
    auto alias = dyn_cast<IntegerAttr>(attr.getValue());
    auto function = dyn_cast<FunctionOpInterface>(op);
    int64_t arguments = function ? function.getNumArguments() : 0;
    bool fits = alias && alias.getType().isSignlessInteger(64) && alias.getInt() >= 0 &&
                alias.getInt() < arguments;
    return fits ? success()
                : wrong("the index of an argument as i64, of which there are " +
                        std::to_string(arguments));
  }
  if (name == varyingDimAttr)
    return isa<IntegerAttr>(attr.getValue()) ? success() : wrong("a dimension as i64");
  if (name == sourceNameAttr || name == weightAttr || name == countAttr)
    return isa<StringAttr>(attr.getValue()) ? success() : wrong("a string");
  if (name == sourceShapeAttr)
    return isa<DenseI64ArrayAttr>(attr.getValue()) ? success() : wrong("array<i64: ...>");
  if (name == dimsAttr) {
    auto dims = dyn_cast<ArrayAttr>(attr.getValue());
    bool strings = dims && llvm::all_of(dims, [](Attribute a) { return isa<StringAttr>(a); });
    return strings ? success() : wrong("an array of strings");
  }
  return op->emitOpError() << "'" << name << "' is not an attribute of the base dialect; see "
                           << "dialects/Base/Base.h";
}

LogicalResult BaseDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned arg,
                                                    NamedAttribute attr) {
  return verifyValueAttribute(op, attr, "argument", arg);
}

LogicalResult BaseDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                       NamedAttribute attr) {
  return verifyValueAttribute(op, attr, "result", result);
}

LogicalResult BaseDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == profileAttr && !isa<ProfileAttr>(attr.getValue()))
    return op->emitOpError() << "'" << name << "' must be a #base.profile";
  if (name == microBatchesAttr || name == accumulateAttr || name == labelClassesAttr) {
    auto number = dyn_cast<IntegerAttr>(attr.getValue());
    int64_t least = name == labelClassesAttr ? 0 : 1;
    if (!number || number.getInt() < least)
      return op->emitOpError() << "'" << name << "' is " << attr.getValue()
                               << "; expected a number of at least " << least;
  }
  if (name == ignoredLabelAttr && !isa<IntegerAttr>(attr.getValue()))
    return op->emitOpError() << "'" << name << "' must be an integer";
  if (name == batchAttr && !isa<StringAttr>(attr.getValue()))
    return op->emitOpError() << "'" << name << "' must be a string";
  if ((name == segmentAttr || name == nameAttr) && !isa<StringAttr>(attr.getValue()))
    return op->emitOpError() << "'" << name << "' must be a string";
  return success();
}
