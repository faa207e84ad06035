//===- Infer.cpp - helpers for inference of result types ------------------===//
#include "dialects/Graph/Infer.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace gpucc::graph;

std::string gpucc::graph::str(ArrayRef<int64_t> values) {
  std::string out = "[";
  for (auto [i, v] : llvm::enumerate(values))
    out += (i ? ", " : "") + std::to_string(v);
  return out + "]";
}

std::string gpucc::graph::str(Type type) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  stream << type;
  return out;
}

LogicalResult InferContext::fail(const Twine &message, const Twine &remedy) const {
  if (!location)
    return failure();
  InFlightDiagnostic diagnostic = mlir::emitError(*location);
  diagnostic << "'" << opName << "' op " << message;
  if (!remedy.isTriviallyEmpty())
    diagnostic.attachNote(*location) << remedy;
  return diagnostic;
}

LogicalResult InferContext::checkDim(StringRef constraint, StringRef attr, int64_t value,
                                     int64_t rank) const {
  if (value >= 0 && value < rank)
    return success();
  return fail("(" + constraint + ") `" + attr + "` is " + Twine(value) + ", the tensor has rank " +
                  Twine(rank),
              rank ? "give a dimension from 0 to " + Twine(rank - 1)
                   : Twine("a scalar has no dimension to name"));
}

LogicalResult InferContext::checkDims(StringRef constraint, StringRef attr,
                                      ArrayRef<int64_t> values, int64_t rank,
                                      bool ascending) const {
  llvm::SmallSet<int64_t, 8> seen;
  for (auto [i, v] : llvm::enumerate(values)) {
    if (v < 0 || v >= rank)
      return fail("(" + constraint + ") `" + attr + "` = " + str(values) + " names dimension " +
                      Twine(v) + ", the tensor has rank " + Twine(rank),
                  "dimensions count from 0; negative ones are not allowed here");
    if (!seen.insert(v).second)
      return fail("(" + constraint + ") `" + attr + "` = " + str(values) + " names dimension " +
                      Twine(v) + " twice",
                  "name each dimension once");
    if (ascending && i && values[i - 1] > v)
      return fail("(" + constraint + ") `" + attr + "` = " + str(values) + " is not ascending",
                  "sort the list");
  }
  return success();
}

LogicalResult InferContext::checkLength(StringRef constraint, StringRef attr,
                                        ArrayRef<int64_t> values, int64_t length) const {
  if (static_cast<int64_t>(values.size()) == length)
    return success();
  return fail("(" + constraint + ") `" + attr + "` = " + str(values) + " has " +
                  Twine(values.size()) + " entries, " + Twine(length) + " expected",
              "give one entry per dimension it speaks of");
}

LogicalResult InferContext::checkAtLeast(StringRef constraint, StringRef attr,
                                         ArrayRef<int64_t> values, int64_t least) const {
  for (int64_t v : values)
    if (v < least)
      return fail("(" + constraint + ") `" + attr + "` = " + str(values) + " contains " + Twine(v),
                  "its entries are at least " + Twine(least));
  return success();
}

LogicalResult InferContext::checkSame(StringRef constraint, StringRef whatA, Type a,
                                      StringRef whatB, Type b) const {
  if (a == b)
    return success();
  return fail("(" + constraint + ") " + whatA + " is " + str(a) + ", " + whatB + " is " + str(b),
              "they must be the same; insert graph.convert, graph.broadcast or graph.reshape");
}
