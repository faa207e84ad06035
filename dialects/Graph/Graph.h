//===- Graph.h - the graph dialect ------------------------------*- C++ -*-===//
// See GraphBase.td; each family's meaning stands in its folder.
#ifndef GPUCC_GRAPH_GRAPH_H
#define GPUCC_GRAPH_GRAPH_H

#include "dialects/Base/Base.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "gpucc/Support/Types.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Graph/GraphDialect.h.inc"
#include "dialects/Graph/GraphEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Graph/Leaves/LeavesOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/Pointwise/PointwiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/Contraction/ContractionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/Reduction/ReductionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/Window/WindowOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/Movement/MovementOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/Composites/CompositesOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/Regions/RegionsOps.h.inc"

namespace gpucc::graph {
/// On the module: array of strings, files that hold weights, relative to the model's folder.
inline constexpr llvm::StringLiteral filesAttr = "graph.files";
} // namespace gpucc::graph

#endif // GPUCC_GRAPH_GRAPH_H
