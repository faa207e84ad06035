//===- Passes.td - frontend to graph -----------------------*- tablegen -*-===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_PASSES
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_PASSES

include "mlir/Pass/PassBase.td"

def FrontendToGraph : Pass<"gpucc-frontend-to-graph", "::mlir::ModuleOp"> {
  let summary = "says what the nodes of an imported model mean";
  let description = [{
    Replaces `frontend.graph` by one function per profile. Before, with `profiles=batch=2`:
    ```mlir
    frontend.graph @main attributes {inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], ...} {
    ^bb0(%x: tensor<?x4xf32>):
      %y = frontend.op "onnx.Relu"(%x) {node = "relu", ...} : (tensor<?x4xf32>) -> !frontend.value
      frontend.yield %y : !frontend.value
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<2x4xf32> {base.name = "x", base.kind = "input", base.dims = ["batch", ""]})
        -> (tensor<2x4xf32> {base.name = "y", base.kind = "output", ...}) {
      %y = graph.unary relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
      return %y : tensor<2x4xf32>
    }
    ```
    All nodes without a conversion are reported in one error.
  }];
  let options = [
    Option<"profiles", "profiles", "std::string", "\"\"",
           "sizes of symbolic dimensions: batch=1,seq=16;batch=4,seq=16">,
    Option<"train", "train", "bool", "false", "float initializers become state arguments">,
    Option<"folder", "folder", "std::string", "\"\"", "where the model's files lie">
  ];
  let statistics = [
    Statistic<"numFunctions", "functions", "Number of functions made, one per profile">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::gpucc::graph::GraphDialect",
                           "::gpucc::base::BaseDialect"];
}

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_PASSES
