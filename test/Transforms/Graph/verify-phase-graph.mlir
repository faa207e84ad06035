// RUN: gpucc-opt %s -split-input-file --gpucc-verify-phase-graph -verify-diagnostics

func.func @good(%x: tensor<4xf32> {base.name = "x", base.kind = "input"},
                %s: tensor<2xf32> {base.name = "s", base.kind = "state"})
    -> (tensor<4xf32> {base.name = "y", base.kind = "output"},
        tensor<2xf32> {base.name = "s", base.kind = "state", base.alias = 1 : i64}) {
  return %x, %s : tensor<4xf32>, tensor<2xf32>
}

// -----

// expected-error @+2 {{argument 0 has no base.kind}}
// expected-note @+1 {{every argument and result is named and has a kind (docs/conventions.md)}}
func.func @kind(%x: tensor<4xf32> {base.name = "x"}) {
  return
}

// -----

// expected-error @+2 {{argument 0 has type 'tensor<?xf32>'; the graph phase has static tensors only}}
// expected-note @+1 {{gpucc-frontend-to-graph binds symbolic dimensions by its profiles}}
func.func @dynamic(%x: tensor<?xf32> {base.name = "x", base.kind = "input"}) {
  return
}

// -----

// expected-error @+1 {{result 0 aliases argument 0 ('x', 'tensor<4xf32>'), but is 's', 'tensor<4xf32>'; state keeps its name and type}}
func.func @alias(%x: tensor<4xf32> {base.name = "x", base.kind = "input"})
    -> (tensor<4xf32> {base.name = "s", base.kind = "state", base.alias = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----

func.func @left() {
  // expected-error @+2 {{must not occur in the graph phase}}
  // expected-note @+1 {{gpucc-frontend-to-graph should have converted it}}
  %a = frontend.absent : !frontend.value
  return
}

// -----

func.func @counted(%x: tensor<4xf32> {base.name = "x", base.kind = "input"}, %n: tensor<i64> {base.name = "n", base.kind = "input"})
    -> (tensor<4xf32> {base.name = "y", base.kind = "output", base.varying_dim = 0 : i64, base.count = "y.count"},
        tensor<i64> {base.name = "y.count", base.kind = "count"}) {
  return %x, %n : tensor<4xf32>, tensor<i64>
}

// -----

// expected-error @+2 {{result 0 has a size that varies along dimension 1, counted by 'y.count'}}
// expected-note @+1 {{base.varying_dim is one of its dimensions, and base.count names an i64 scalar result of kind count}}
func.func @dimension(%x: tensor<4xf32> {base.name = "x", base.kind = "input"}, %n: tensor<i64> {base.name = "n", base.kind = "input"})
    -> (tensor<4xf32> {base.name = "y", base.kind = "output", base.varying_dim = 1 : i64, base.count = "y.count"},
        tensor<i64> {base.name = "y.count", base.kind = "count"}) {
  return %x, %n : tensor<4xf32>, tensor<i64>
}

// -----

// expected-error @+2 {{result 0 has a size that varies along dimension 0, counted by 'n'}}
// expected-note @+1 {{base.varying_dim is one of its dimensions}}
func.func @count(%x: tensor<4xf32> {base.name = "x", base.kind = "input"}, %n: tensor<i64> {base.name = "n", base.kind = "input"})
    -> (tensor<4xf32> {base.name = "y", base.kind = "output", base.varying_dim = 0 : i64, base.count = "n"},
        tensor<i64> {base.name = "n", base.kind = "output"}) {
  return %x, %n : tensor<4xf32>, tensor<i64>
}
