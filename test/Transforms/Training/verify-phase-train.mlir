// RUN: gpucc-opt %s -split-input-file --gpucc-verify-phase-train -verify-diagnostics

// Without segments nothing is promised.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }

// -----

func.func @step(%a: tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    -> (tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.alias = 0 : i64, base.state = #base.state<accumulator, of = "w">})
    attributes {base.segment = "step"} { return %a : tensor<4xf32> }
// expected-error @below {{takes accumulator 'w.accumulator' and does not overwrite it}}
// expected-note @below {{gpucc-add-optimizer zeroes it for the next step}}
func.func @update(%a: tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    attributes {base.segment = "update"} { return }

// -----

// expected-error @below {{takes accumulator 'w.accumulator' and does not overwrite it}}
// expected-note @below {{gpucc-differentiate adds the micro-batch's share to it}}
func.func @step(%a: tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    attributes {base.segment = "step"} { return }

// -----

// expected-note @below {{in @step it is 'tensor<4xf32>'}}
func.func @step(%w: tensor<4xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>})
    attributes {base.segment = "step"} { return }
// expected-error @below {{state 'w' is 'tensor<8xf32>'}}
func.func @update(%w: tensor<8xf32> {base.name = "w", base.kind = "state", base.state = #base.state<param>})
    attributes {base.segment = "update"} { return }

// -----

// expected-error @below {{is segment 'warmup'; a training step consists of 'step' and 'update'}}
// expected-note @below {{gpucc-differentiate makes the step, gpucc-add-optimizer the update}}
func.func @main() attributes {base.segment = "warmup"} { return }

// -----

// expected-error @below {{result 0 is a metric; metrics are of a whole step and come from the update}}
func.func @step(%x: tensor<f32> {base.name = "x", base.kind = "input"})
    -> (tensor<f32> {base.name = "loss", base.kind = "metric"}) attributes {base.segment = "step"} { return %x : tensor<f32> }

// -----

// expected-error @below {{'base.alias' on result 0 is 100000 : i64; expected the index of an argument as i64, of which there are 1}}
func.func @step(%a: tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.state = #base.state<accumulator, of = "w">})
    -> (tensor<4xf32> {base.name = "w.accumulator", base.kind = "state", base.alias = 100000 : i64, base.state = #base.state<accumulator, of = "w">})
    attributes {base.segment = "step"} { return %a : tensor<4xf32> }
