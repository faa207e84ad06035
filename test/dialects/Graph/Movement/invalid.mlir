// RUN: gpucc-opt %s -split-input-file -verify-diagnostics

// (C1) of reshape
func.func @reshape(%x: tensor<2x6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.reshape' op (C1) `shape` = [4, 4] has 16 elements, tensor<2x6xf32> has 12}}
  // expected-note @+1 {{a reshape keeps the number of elements}}
  %0 = graph.reshape %x {shape = array<i64: 4, 4>} : (tensor<2x6xf32>) -> tensor<4x4xf32>
  return
}

// -----

// (C1) of transpose
func.func @transpose(%x: tensor<2x6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.transpose' op (C1) `permutation` = [1, 1] names dimension 1 twice}}
  // expected-note @+1 {{name each dimension once}}
  %0 = graph.transpose %x {permutation = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<6x6xf32>
  return
}

// -----

// (C1) of broadcast
func.func @broadcast_dims(%x: tensor<2x6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.broadcast' op (C1) `dims` = [1, 0] is not ascending}}
  // expected-note @+1 {{sort the list}}
  %0 = graph.broadcast %x {shape = array<i64: 6, 2>, dims = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  return
}

// -----

// (C2) of broadcast
func.func @broadcast_size(%x: tensor<2xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.broadcast' op (C2) operand dimension 0 has size 2, result dimension 1 has 4}}
  // expected-note @+1 {{only a dimension of size 1 can be repeated}}
  %0 = graph.broadcast %x {shape = array<i64: 3, 4>, dims = array<i64: 1>} : (tensor<2xf32>) -> tensor<3x4xf32>
  return
}

// -----

// (C1) of slice
func.func @slice_offsets(%x: tensor<2x6xf32>, %o: tensor<i64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.slice' op (C1) has 1 offsets for tensor<2x6xf32>}}
  // expected-note @+1 {{give none or one scalar i64 per dimension}}
  %0 = graph.slice %x, %o {start = array<i64: 0, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x6xf32>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

// (C2) of slice
func.func @slice_outside(%x: tensor<2x6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.slice' op (C2) reads indices 4 to 8 of dimension 1 of size 6}}
  // expected-note @+1 {{first and last element lie inside the operand}}
  %0 = graph.slice %x {start = array<i64: 0, 4>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.slice' op (C2) stride 0 is 0}}
  // expected-note @+1 {{use graph.broadcast to repeat elements}}
  %0 = graph.slice %x {start = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 0>} : (tensor<6xf32>) -> tensor<2xf32>
  return
}

// -----

// (C1) of pad
func.func @pad_negative(%x: tensor<6xf32>, %v: tensor<f32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pad' op (C1) `low` = [-1] contains -1}}
  // expected-note @+1 {{its entries are at least 0}}
  %0 = graph.pad constant %x, %v {low = array<i64: -1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<6xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

// (C2) of pad
func.func @pad_value(%x: tensor<6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pad' op (C2) mode constant has no value}}
  // expected-note @+1 {{mode constant takes a scalar value, the other modes read the operand}}
  %0 = graph.pad constant %x {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<6xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @pad_value_type(%x: tensor<6xf32>, %v: tensor<1xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pad' op (C2) the value is tensor<1xf32> for tensor<6xf32>}}
  // expected-note @+1 {{give a scalar of the operand's element type}}
  %0 = graph.pad constant %x, %v {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<6xf32>, tensor<1xf32>) -> tensor<7xf32>
  return
}

// -----

// (C3) of pad
func.func @pad_interior(%x: tensor<6xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pad' op (C3) mode edge with interior padding 1 in dimension 0}}
  // expected-note @+1 {{only mode constant fills between elements}}
  %0 = graph.pad edge %x {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 1>} : (tensor<6xf32>) -> tensor<12xf32>
  return
}

// -----

func.func @pad_reflect(%x: tensor<2xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pad' op (C3) reflects 2 elements of dimension 0 of size 2}}
  // expected-note @+1 {{reflect pads less than the dimension}}
  %0 = graph.pad reflect %x {low = array<i64: 2>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_empty(%x: tensor<0xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.pad' op (C3) mode wrap of empty dimension 0}}
  // expected-note @+1 {{there is no element to repeat}}
  %0 = graph.pad wrap %x {low = array<i64: 2>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<0xf32>) -> tensor<2xf32>
  return
}

// -----

// (C1) of concat
func.func @concat_none() {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.concat' op (C1) has no operand}}
  // expected-note @+1 {{concat joins at least one tensor}}
  %0 = graph.concat {dim = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

func.func @concat_types(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.concat' op (C1) operand 1 is tensor<2xf16>, operand 0 is tensor<2xf32>}}
  // expected-note @+1 {{ranks and element types are equal}}
  %0 = graph.concat %x, %y {dim = 0 : i64} : (tensor<2xf32>, tensor<2xf16>) -> tensor<4xf32>
  return
}

// -----

// (C2) of concat
func.func @concat_sizes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.concat' op (C2) operand 1 is tensor<2x4xf32>, operand 0 is tensor<2x3xf32>}}
  // expected-note @+1 {{only dimension 0 may differ}}
  %0 = graph.concat %x, %y {dim = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// (C1) of gather
func.func @gather_empty(%x: tensor<0x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.gather' op (C1) dimension 0 of tensor<0x3xf32> is empty}}
  // expected-note @+1 {{there is no slice to read}}
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C1) of scatter
func.func @scatter_dim(%x: tensor<5xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.scatter' op (C1) `dim` is 1, the tensor has rank 1}}
  // expected-note @+1 {{give a dimension from 0 to 0}}
  %0 = graph.scatter %x, %i, %u {dim = 1 : i64} : (tensor<5xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5xf32>
  return
}

// -----

// (C2) of scatter
func.func @scatter_updates(%x: tensor<5x3xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.scatter' op (C2) updates are tensor<2xf32>, gather(data, indices, dim) would be tensor<2x3xf32>}}
  // expected-note @+1 {{reshape or convert the updates}}
  %0 = graph.scatter %x, %i, %u {dim = 0 : i64} : (tensor<5x3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5x3xf32>
  return
}

// -----

// (C3) of scatter
func.func @scatter_kind(%x: tensor<5xi32>, %i: tensor<2xi64>, %u: tensor<2xi32>) {
  // expected-error @+3 {{failed to infer returned types}}
  // expected-error @+2 {{'graph.scatter' op (C3) `kind` is and}}
  // expected-note @+1 {{use sum, prod, max or min, or none to overwrite}}
  %0 = graph.scatter %x, %i, %u {dim = 0 : i64, kind = #graph<reduction and>} : (tensor<5xi32>, tensor<2xi64>, tensor<2xi32>) -> tensor<5xi32>
  return
}
