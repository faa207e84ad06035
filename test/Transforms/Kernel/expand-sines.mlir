// RUN: gpucc-opt %s --gpucc-expand-sines | FileCheck %s

// One branch for all lanes; what is far is chosen lane by lane.
// CHECK-LABEL: func.func @lanes
func.func @lanes(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK: %[[FAR:.*]] = arith.cmpi ult, %{{.*}} : vector<16xi32>
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[FAR]] : vector<16xi1> into i1
  // CHECK: scf.if %[[ANY]] -> (vector<16xf32>, vector<16xi32>)
  // CHECK: arith.muli %{{.*}} : vector<16xi64>
  // CHECK: arith.select %[[FAR]]
  // CHECK: arith.select %[[FAR]]
  // CHECK: } else {
  // CHECK-NOT: math.sin
  %y = math.sin %x : vector<16xf32>
  return %y : vector<16xf32>
}

// Sine, cosine and tangent of one value share the reduction, those of another have their own.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: f32) -> (f32, f32, f32, f32) {
  // CHECK: scf.if %{{.*}} -> (f32, i32)
  // CHECK: arith.divf
  // CHECK: scf.if %{{.*}} -> (f32, i32)
  // CHECK-NOT: scf.if
  // CHECK-NOT: math.{{sin|cos|tan}}
  %s = math.sin %x : f32
  %c = math.cos %x : f32
  %t = math.tan %x : f32
  %n = math.cos %s : f32
  return %s, %c, %t, %n : f32, f32, f32, f32
}

// A block of its own reduces again: it may run where the other does not.
// CHECK-LABEL: func.func @blocks
func.func @blocks(%x: f32, %b: i1) -> f32 {
  // CHECK: scf.if %{{.*}} -> (f32) {
  // CHECK: scf.if %{{.*}} -> (f32, i32)
  // CHECK: } else {
  // CHECK: scf.if %{{.*}} -> (f32, i32)
  %y = scf.if %b -> f32 {
    %s = math.sin %x : f32
    scf.yield %s : f32
  } else {
    %c = math.cos %x : f32
    scf.yield %c : f32
  }
  return %y : f32
}

// f64 is the library's.
// CHECK-LABEL: func.func @wide
func.func @wide(%x: f64) -> f64 {
  // CHECK: math.sin %{{.*}} : f64
  %y = math.sin %x : f64
  return %y : f64
}
