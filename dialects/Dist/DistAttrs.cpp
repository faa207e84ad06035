//===- DistAttrs.cpp - text and facts of meshes and shardings -------------===//
//
//   #dist.mesh<["dp" = 2, "tp" = 2]>
//   #dist.sharding<[{"dp"}, {}], partial = ["tp"] sum>
//
//===----------------------------------------------------------------------===//
#include "dialects/Dist/Dist.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::dist;

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dist/DistAttrs.cpp.inc"
      >();
}

static ParseResult parseName(AsmParser &parser, SmallVectorImpl<StringAttr> &names) {
  std::string text;
  if (parser.parseString(&text))
    return failure();
  names.push_back(StringAttr::get(parser.getContext(), text));
  return success();
}

//===-- Mesh --------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto axis = [&]() -> ParseResult {
    return failure(parseName(parser, axes) || parser.parseEqual() ||
                   parser.parseInteger(sizes.emplace_back()));
  };
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, axis,
                                     " as the axes of a mesh") ||
      parser.parseGreater())
    return {};
  return MeshAttr::getChecked([&] { return parser.emitError(where); }, parser.getContext(), axes,
                              sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getAxes(), getSizes()), printer, [&](auto axis) {
    printer << std::get<0>(axis) << " = " << std::get<1>(axis);
  });
  printer << "]>";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> axes, ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    if (size < 1)
      return emitError() << "C1: axis " << axis << " has size " << size
                         << "; a mesh axis has at least 1 rank";
    for (const MeshAxis &other : mesh.axes)
      if (other.name == axis.getValue())
        return emitError() << "C2: two axes are named " << axis << "; give each its own name";
    mesh.axes.push_back({axis.str(), size});
  }
  return success();
}

MeshAttr MeshAttr::get(MLIRContext *context, const Mesh &mesh) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : mesh.axes) {
    axes.push_back(StringAttr::get(context, axis.name));
    sizes.push_back(axis.size);
  }
  return get(context, axes, sizes);
}

Mesh MeshAttr::toMesh() const {
  Mesh mesh;
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    mesh.axes.push_back({axis.str(), size});
  return mesh;
}

//===-- Sharding ----------------------------------------------------------===//

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  SmallVector<ArrayAttr> dims;
  SmallVector<StringAttr> partial;
  Combiner combiner = Combiner::Sum;
  SMLoc where = parser.getCurrentLocation();
  auto dim = [&]() -> ParseResult {
    SmallVector<StringAttr> axes;
    if (parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Braces, [&] { return parseName(parser, axes); },
            " as the axes of a dimension"))
      return failure();
    dims.push_back(ArrayAttr::get(context, SmallVector<Attribute>(axes.begin(), axes.end())));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, dim, " as dimensions"))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("partial") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square, [&] { return parseName(parser, partial); },
            " as the axes of partial results"))
      return {};
    auto parsed = FieldParser<Combiner>::parse(parser);
    if (failed(parsed))
      return {};
    combiner = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return ShardingAttr::getChecked([&] { return parser.emitError(where); }, context, dims, partial,
                                  combiner);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](ArrayAttr dim) {
    printer << '{';
    llvm::interleaveComma(dim, printer);
    printer << '}';
  });
  printer << ']';
  if (!getPartial().empty()) {
    printer << ", partial = [";
    llvm::interleaveComma(getPartial(), printer);
    printer << "] " << stringifyCombiner(getCombiner());
  }
  printer << '>';
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ArrayAttr> dims, ArrayRef<StringAttr> partial,
                                   Combiner) {
  SmallVector<Attribute> seen(partial.begin(), partial.end());
  for (ArrayAttr dim : dims)
    seen.append(dim.begin(), dim.end());
  for (size_t i = 0; i < seen.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (seen[i] == seen[j])
        return emitError() << "C1: axis " << seen[i]
                           << " appears twice; an axis splits one dimension or is partial";
  return success();
}

ShardingAttr ShardingAttr::get(MLIRContext *context, const Sharding &sharding) {
  SmallVector<ArrayAttr> dims;
  for (const auto &dim : sharding.dims)
    dims.push_back(toAttr(context, dim));
  SmallVector<StringAttr> partial;
  for (const std::string &axis : sharding.partial)
    partial.push_back(StringAttr::get(context, axis));
  auto kind = partial.empty() ? Combiner::Sum : static_cast<Combiner>(sharding.partialKind);
  return get(context, dims, partial, kind);
}

Sharding ShardingAttr::toSharding() const {
  Sharding out;
  for (ArrayAttr dim : getDims())
    out.dims.push_back(toStrings(dim));
  for (StringAttr axis : getPartial())
    out.partial.push_back(axis.str());
  out.partialKind = static_cast<ReduceKind>(getCombiner());
  return out;
}
