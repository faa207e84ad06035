// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of cluster
func.func @cluster_arguments(%x: tensor<4xf32>) {
  // expected-error @+2 {{'graph.cluster' op (C1) the body has 0 arguments for 1 operands, or their types differ}}
  // expected-note @+1 {{the body has one argument per operand, of its type}}
  "graph.cluster"(%x) <{kind = #graph<cluster_kind loop>}> ({
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

// (C2) of cluster
func.func @cluster_results(%x: tensor<4xf32>) {
  // expected-error @+2 {{'graph.cluster' op (C2) has 1 results, but its body does not end in a graph.yield of those types}}
  // expected-note @+1 {{yield one value per result, of its type}}
  %0 = graph.cluster loop (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @+1 {{the body ends here}}
    graph.yield
  }
  return
}

// -----

// (C3) of cluster
func.func @cluster_body(%x: tensor<4xf32>) {
  // expected-error @+2 {{'graph.cluster' op (C3) holds 'graph.cluster'}}
  // expected-note @+1 {{a cluster holds only graph ops without regions; keep others outside}}
  graph.cluster loop (%a = %x : tensor<4xf32>) {
    // expected-note @+1 {{it stands here}}
    graph.cluster loop (%b = %a : tensor<4xf32>) {
      graph.yield
    }
    graph.yield
  }
  return
}

// -----

func.func @cluster_kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{'circle' is not a kind of cluster}}
  graph.cluster circle (%a = %x : tensor<4xf32>) {
    graph.yield
  }
  return
}

// -----

// The body sees only its arguments.
func.func @cluster_isolated(%x: tensor<4xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = graph.cluster loop () -> tensor<4xf32> {
    // expected-error @+1 {{using value defined outside the region}}
    %1 = graph.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return
}
