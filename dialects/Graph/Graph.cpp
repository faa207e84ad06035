//===- Graph.cpp - registration of the graph dialect ----------------------===//
#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace gpucc::graph;

#include "dialects/Graph/GraphDialect.cpp.inc"
#include "dialects/Graph/GraphEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.cpp.inc"

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Graph/GraphAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Leaves/LeavesOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/Pointwise/PointwiseOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/Contraction/ContractionOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/Reduction/ReductionOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/Window/WindowOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/Movement/MovementOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/Composites/CompositesOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Graph/Regions/RegionsOps.cpp.inc"
      >();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}
