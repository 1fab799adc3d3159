// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Reductions along axes.

// CHECK-LABEL: @sum
// CHECK:       relay.sum %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
// CHECK:       relay.sum %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK:       relay.sum %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
// CHECK:       relay.sum %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
func.func @sum(%a0: tensor<2x3x4xf32>) {
  %0 = relay.sum %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  %1 = relay.sum %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %2 = relay.sum %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %3 = relay.sum %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  func.return
}

// CHECK-LABEL: @prod
// CHECK:       relay.prod %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
// CHECK:       relay.prod %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK:       relay.prod %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
// CHECK:       relay.prod %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
func.func @prod(%a0: tensor<2x3x4xf32>) {
  %0 = relay.prod %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  %1 = relay.prod %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %2 = relay.prod %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %3 = relay.prod %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  func.return
}

// CHECK-LABEL: @mean
// CHECK:       relay.mean %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
// CHECK:       relay.mean %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK:       relay.mean %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
// CHECK:       relay.mean %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
func.func @mean(%a0: tensor<2x3x4xf32>) {
  %0 = relay.mean %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  %1 = relay.mean %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %2 = relay.mean %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %3 = relay.mean %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  func.return
}

// CHECK-LABEL: @max
// CHECK:       relay.max %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
// CHECK:       relay.max %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK:       relay.max %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
// CHECK:       relay.max %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
func.func @max(%a0: tensor<2x3x4xf32>) {
  %0 = relay.max %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  %1 = relay.max %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %2 = relay.max %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %3 = relay.max %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  func.return
}

// CHECK-LABEL: @min
// CHECK:       relay.min %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
// CHECK:       relay.min %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK:       relay.min %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
// CHECK:       relay.min %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
func.func @min(%a0: tensor<2x3x4xf32>) {
  %0 = relay.min %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  %1 = relay.min %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %2 = relay.min %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %3 = relay.min %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  func.return
}

// CHECK-LABEL: @all
// CHECK:       relay.all %a0 : (tensor<2x3x4xi1>) -> tensor<i1>
// CHECK:       relay.all %a0 {axis = array<i64: 1>} : (tensor<2x3x4xi1>) -> tensor<2x4xi1>
// CHECK:       relay.all %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi1>) -> tensor<1x3x1xi1>
// CHECK:       relay.all %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xi1>) -> tensor<3xi1>
func.func @all(%a0: tensor<2x3x4xi1>) {
  %0 = relay.all %a0 : (tensor<2x3x4xi1>) -> tensor<i1>
  %1 = relay.all %a0 {axis = array<i64: 1>} : (tensor<2x3x4xi1>) -> tensor<2x4xi1>
  %2 = relay.all %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi1>) -> tensor<1x3x1xi1>
  %3 = relay.all %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xi1>) -> tensor<3xi1>
  func.return
}

// CHECK-LABEL: @any
// CHECK:       relay.any %a0 : (tensor<2x3x4xi1>) -> tensor<i1>
// CHECK:       relay.any %a0 {axis = array<i64: 1>} : (tensor<2x3x4xi1>) -> tensor<2x4xi1>
// CHECK:       relay.any %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi1>) -> tensor<1x3x1xi1>
// CHECK:       relay.any %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xi1>) -> tensor<3xi1>
func.func @any(%a0: tensor<2x3x4xi1>) {
  %0 = relay.any %a0 : (tensor<2x3x4xi1>) -> tensor<i1>
  %1 = relay.any %a0 {axis = array<i64: 1>} : (tensor<2x3x4xi1>) -> tensor<2x4xi1>
  %2 = relay.any %a0 {axis = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi1>) -> tensor<1x3x1xi1>
  %3 = relay.any %a0 {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xi1>) -> tensor<3xi1>
  func.return
}

// CHECK-LABEL: @argmax
// CHECK:       relay.argmax %a0 : (tensor<2x3x4xf32>) -> tensor<i32>
// CHECK:       relay.argmax %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xi32>
// CHECK:       relay.argmax %a1 {axis = array<i64: -1>, keepdims = true, dtype = i64} : (tensor<2x3x4xi64>) -> tensor<2x3x1xi64>
// CHECK:       relay.argmax %a2 {axis = array<i64: 0>, exclude = true} : (tensor<2x3xf32>) -> tensor<2xi32>
// CHECK:       relay.argmax %a3 {axis = array<i64: 1>, select_last_index = true} : (tensor<2x3xi8>) -> tensor<2xi32>
func.func @argmax(%a0: tensor<2x3x4xf32>, %a1: tensor<2x3x4xi64>, %a2: tensor<2x3xf32>, %a3: tensor<2x3xi8>) {
  %0 = relay.argmax %a0 : (tensor<2x3x4xf32>) -> tensor<i32>
  %1 = relay.argmax %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xi32>
  %2 = relay.argmax %a1 {axis = array<i64: -1>, keepdims = true, dtype = i64} : (tensor<2x3x4xi64>) -> tensor<2x3x1xi64>
  %3 = relay.argmax %a2 {axis = array<i64: 0>, exclude = true} : (tensor<2x3xf32>) -> tensor<2xi32>
  %4 = relay.argmax %a3 {axis = array<i64: 1>, select_last_index = true} : (tensor<2x3xi8>) -> tensor<2xi32>
  func.return
}

// CHECK-LABEL: @argmin
// CHECK:       relay.argmin %a0 : (tensor<2x3x4xf32>) -> tensor<i32>
// CHECK:       relay.argmin %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xi32>
// CHECK:       relay.argmin %a1 {axis = array<i64: -1>, keepdims = true, dtype = i64} : (tensor<2x3x4xi64>) -> tensor<2x3x1xi64>
// CHECK:       relay.argmin %a2 {axis = array<i64: 0>, exclude = true} : (tensor<2x3xf32>) -> tensor<2xi32>
// CHECK:       relay.argmin %a3 {axis = array<i64: 1>, select_last_index = true} : (tensor<2x3xi8>) -> tensor<2xi32>
func.func @argmin(%a0: tensor<2x3x4xf32>, %a1: tensor<2x3x4xi64>, %a2: tensor<2x3xf32>, %a3: tensor<2x3xi8>) {
  %0 = relay.argmin %a0 : (tensor<2x3x4xf32>) -> tensor<i32>
  %1 = relay.argmin %a0 {axis = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xi32>
  %2 = relay.argmin %a1 {axis = array<i64: -1>, keepdims = true, dtype = i64} : (tensor<2x3x4xi64>) -> tensor<2x3x1xi64>
  %3 = relay.argmin %a2 {axis = array<i64: 0>, exclude = true} : (tensor<2x3xf32>) -> tensor<2xi32>
  %4 = relay.argmin %a3 {axis = array<i64: 1>, select_last_index = true} : (tensor<2x3xi8>) -> tensor<2xi32>
  func.return
}

// CHECK-LABEL: @cumsum(
// CHECK:       relay.cumsum %a0 {axis = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
func.func @cumsum(%a0: tensor<3x4xf32>) {
  %0 = relay.cumsum %a0 {axis = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return
}
