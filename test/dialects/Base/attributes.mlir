// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'base.kind' on argument 0 is "thing"; expected "input", "label", "state", "output", "metric" or "count"}}
func.func @f(%x: tensor<1xf32> {base.name = "x", base.kind = "thing"}) {
  return
}

// -----

// expected-error @below {{'base.color' is not an attribute of the base dialect}}
func.func @f(%x: tensor<1xf32> {base.color = "red"}) {
  return
}

// -----

// expected-error @below {{profile 'p' binds 1 symbols to 2 values; give one value per symbol}}
func.func @f() attributes {base.profile = #base.profile<"p", ["batch"] = [1, 2]>} {
  return
}

// -----

// expected-error @below {{rank_value names 1 axes and 0 strides; give one stride per axis}}
func.func @f() attributes {x = #base.rank_value<0, ["dp"], [], 0, 0>} {
  return
}

// -----

// expected-error @below {{'base.alias' on result 0 is 1 : i64; expected the index of an argument as i64, of which there are 1}}
func.func @f(%x: tensor<1xf32>) -> (tensor<1xf32> {base.alias = 1 : i64}) {
  return %x : tensor<1xf32>
}

// -----

// expected-error @below {{'base.alias' on result 0 is -1 : i64; expected the index of an argument as i64}}
func.func @f(%x: tensor<1xf32>) -> (tensor<1xf32> {base.alias = -1 : i64}) {
  return %x : tensor<1xf32>
}

// -----

// expected-error @below {{'base.accumulate' is 0 : i64; expected a number of at least 1}}
module attributes {base.accumulate = 0 : i64} {}
