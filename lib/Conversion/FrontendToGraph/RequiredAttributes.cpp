//===- RequiredAttributes.cpp - attributes without a default --------------===//
//
// ONNX gives most attributes a default; a node without one of these is no node
// of its operator. Concat had a default axis until opset 3.
//
//   missingAttribute(Concat(x, y)) == "axis"
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace gpucc;
using namespace llvm;

StringRef frontend_to_graph::missingAttribute(frontend::NodeOp node) {
  struct Required {
    StringLiteral kind, attribute;
  };
  static constexpr Required table[] = {{"onnx.AveragePool", "kernel_shape"},
                                       {"onnx.BitShift", "direction"},
                                       {"onnx.Cast", "to"},
                                       {"onnx.Concat", "axis"},
                                       {"onnx.DepthToSpace", "blocksize"},
                                       {"onnx.Einsum", "equation"},
                                       {"onnx.GroupNormalization", "num_groups"},
                                       {"onnx.LRN", "size"},
                                       {"onnx.LpPool", "kernel_shape"},
                                       {"onnx.MaxPool", "kernel_shape"},
                                       {"onnx.MaxUnpool", "kernel_shape"},
                                       {"onnx.SpaceToDepth", "blocksize"}};
  if (!node.getDomain().empty())
    return "";
  for (const Required &entry : table)
    if (entry.kind == node.getKind() && !node.getParams().contains(entry.attribute))
      return entry.attribute;
  return "";
}
