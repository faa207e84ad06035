// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'base.kind' on argument 0 is "thing"; expected "input", "label", "state", "output" or "metric"}}
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
