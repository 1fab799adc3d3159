// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators that create tensors.

// CHECK-LABEL: @zeros(
// CHECK:       relay.zeros {shape = array<i64: 2, 3>, dtype = f32} : tensor<2x3xf32>
// CHECK:       relay.zeros {shape = array<i64>, dtype = i1} : tensor<i1>
func.func @zeros() {
  %0 = relay.zeros {shape = array<i64: 2, 3>, dtype = f32} : tensor<2x3xf32>
  %1 = relay.zeros {shape = array<i64>, dtype = i1} : tensor<i1>
  func.return
}

// CHECK-LABEL: @ones(
// CHECK:       relay.ones {shape = array<i64: 2, 3>, dtype = f32} : tensor<2x3xf32>
// CHECK:       relay.ones {shape = array<i64>, dtype = i1} : tensor<i1>
func.func @ones() {
  %0 = relay.ones {shape = array<i64: 2, 3>, dtype = f32} : tensor<2x3xf32>
  %1 = relay.ones {shape = array<i64>, dtype = i1} : tensor<i1>
  func.return
}

// CHECK-LABEL: @dyn_zeros(
// CHECK:       relay.dyn.zeros %a0 {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.zeros %a1 {dtype = i64} : (tensor<0xi32>) -> tensor<i64>
func.func @dyn_zeros(%a0: tensor<2xi64>, %a1: tensor<0xi32>) {
  %0 = relay.dyn.zeros %a0 {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.zeros %a1 {dtype = i64} : (tensor<0xi32>) -> tensor<i64>
  func.return
}

// CHECK-LABEL: @dyn_ones(
// CHECK:       relay.dyn.ones %a0 {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.ones %a1 {dtype = i64} : (tensor<0xi32>) -> tensor<i64>
func.func @dyn_ones(%a0: tensor<2xi64>, %a1: tensor<0xi32>) {
  %0 = relay.dyn.ones %a0 {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.ones %a1 {dtype = i64} : (tensor<0xi32>) -> tensor<i64>
  func.return
}

// CHECK-LABEL: @dyn_full(
// CHECK:       relay.dyn.full %a0, %a1 : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK:       relay.dyn.full %a2, %a3 : (tensor<i1>, tensor<0xi64>) -> tensor<i1>
func.func @dyn_full(%a0: tensor<f32>, %a1: tensor<2xi64>, %a2: tensor<i1>, %a3: tensor<0xi64>) {
  %0 = relay.dyn.full %a0, %a1 : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relay.dyn.full %a2, %a3 : (tensor<i1>, tensor<0xi64>) -> tensor<i1>
  func.return
}

// CHECK-LABEL: @arange(
// CHECK:       relay.arange %a0, %a1, %a2 {dtype = f32} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
// CHECK:       relay.arange %a3, %a4, %a5 {dtype = i64} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
func.func @arange(%a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<i64>, %a4: tensor<i64>, %a5: tensor<i64>) {
  %0 = relay.arange %a0, %a1, %a2 {dtype = f32} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  %1 = relay.arange %a3, %a4, %a5 {dtype = i64} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  func.return
}

// CHECK-LABEL: @one_hot(
// CHECK:       relay.one_hot %a0, %a1, %a2 {depth = 4 : i64, axis = -1 : i64, dtype = f32} : (tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK:       relay.one_hot %a3, %a4, %a5 {depth = 5 : i64, axis = 1 : i64, dtype = i8} : (tensor<2x3xi64>, tensor<i8>, tensor<i8>) -> tensor<2x5x3xi8>
func.func @one_hot(%a0: tensor<3xi32>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<2x3xi64>, %a4: tensor<i8>, %a5: tensor<i8>) {
  %0 = relay.one_hot %a0, %a1, %a2 {depth = 4 : i64, axis = -1 : i64, dtype = f32} : (tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %1 = relay.one_hot %a3, %a4, %a5 {depth = 5 : i64, axis = 1 : i64, dtype = i8} : (tensor<2x3xi64>, tensor<i8>, tensor<i8>) -> tensor<2x5x3xi8>
  func.return
}

// CHECK-LABEL: @dyn_one_hot(
// CHECK:       relay.dyn.one_hot %a0, %a1, %a2, %a3 {axis = -1 : i64, dtype = f32} : (tensor<3xi32>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<3x?xf32>
// CHECK:       relay.dyn.one_hot %a4, %a5, %a6, %a7 {axis = 0 : i64, dtype = i8} : (tensor<2x3xi64>, tensor<i8>, tensor<i8>, tensor<i32>) -> tensor<?x2x3xi8>
func.func @dyn_one_hot(%a0: tensor<3xi32>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<i64>, %a4: tensor<2x3xi64>, %a5: tensor<i8>, %a6: tensor<i8>, %a7: tensor<i32>) {
  %0 = relay.dyn.one_hot %a0, %a1, %a2, %a3 {axis = -1 : i64, dtype = f32} : (tensor<3xi32>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<3x?xf32>
  %1 = relay.dyn.one_hot %a4, %a5, %a6, %a7 {axis = 0 : i64, dtype = i8} : (tensor<2x3xi64>, tensor<i8>, tensor<i8>, tensor<i32>) -> tensor<?x2x3xi8>
  func.return
}

// CHECK-LABEL: @shape_of(
// CHECK:       relay.shape_of %a0 {dtype = i64} : (tensor<2x3xf32>) -> tensor<2xi64>
// CHECK:       relay.shape_of %a1 {dtype = i32} : (tensor<i1>) -> tensor<0xi32>
func.func @shape_of(%a0: tensor<2x3xf32>, %a1: tensor<i1>) {
  %0 = relay.shape_of %a0 {dtype = i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  %1 = relay.shape_of %a1 {dtype = i32} : (tensor<i1>) -> tensor<0xi32>
  func.return
}

// CHECK-LABEL: @ndarray_size(
// CHECK:       relay.ndarray_size %a0 {dtype = i64} : (tensor<2x3xf32>) -> tensor<i64>
func.func @ndarray_size(%a0: tensor<2x3xf32>) {
  %0 = relay.ndarray_size %a0 {dtype = i64} : (tensor<2x3xf32>) -> tensor<i64>
  func.return
}

// CHECK-LABEL: @cast_like(
// CHECK:       relay.cast_like %a0, %a1 : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xi32>
func.func @cast_like(%a0: tensor<4xf32>, %a1: tensor<2xi32>) {
  %0 = relay.cast_like %a0, %a1 : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xi32>
  func.return
}

// CHECK-LABEL: @full_like(
// CHECK:       relay.full_like %a0, %a1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
func.func @full_like(%a0: tensor<2x3xf32>, %a1: tensor<f32>) {
  %0 = relay.full_like %a0, %a1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}
