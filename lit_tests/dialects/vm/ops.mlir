// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A kernel reads `ins`, writes `outs` and gives a result for each of them.
//
// CHECK-LABEL: @invoke
// CHECK:         vm.invoke_tvm_op @add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
// CHECK:         vm.invoke_tvm_op @fill outs(%out : tensor<4xf32>) {note} -> tensor<4xf32>
// CHECK:         %{{.*}}, %{{.*}} = vm.invoke_tvm_op @two ins(%x : tensor<4xf32>) outs(%out, %other : tensor<4xf32>, tensor<2xi1>) -> tensor<4xf32>, tensor<2xi1>
func.func @invoke(%x: tensor<4xf32>, %out: tensor<4xf32>, %other: tensor<2xi1>) {
  %a = vm.invoke_tvm_op @add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  %b = vm.invoke_tvm_op @fill outs(%out : tensor<4xf32>) {note} -> tensor<4xf32>
  %c, %d = vm.invoke_tvm_op @two ins(%x : tensor<4xf32>) outs(%out, %other : tensor<4xf32>, tensor<2xi1>) -> tensor<4xf32>, tensor<2xi1>
  func.return
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
relay.prim_func @fill() -> tensor<4xf32> {
  %0 = relay.constant dense<1.0> : tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
relay.prim_func @two(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi1>) {
  %0 = relay.constant dense<true> : tensor<2xi1>
  relay.yield %a, %0 : tensor<4xf32>, tensor<2xi1>
}

// -----

// A kernel's types are compared without devices: one kernel serves all of them.
//
// CHECK-LABEL: @devices
// CHECK:         vm.invoke_tvm_op @copy ins(%x : tensor<4xf32, #cuda0>) outs(%out : tensor<4xf32, #cuda0>)
func.func @devices(%x: tensor<4xf32, #relay.device<cuda:0>>, %out: tensor<4xf32, #relay.device<cuda:0>>) {
  %a = vm.invoke_tvm_op @copy ins(%x : tensor<4xf32, #relay.device<cuda:0>>) outs(%out : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}
relay.prim_func @copy(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

// Shapes are i64 tensors; views are static or given by one.
//
// CHECK-LABEL: @shapes
// CHECK:         vm.shape_of %{{.*}} : (tensor<?x4xf32>) -> tensor<2xi64>
// CHECK:         vm.shape_of %{{.*}} {note} : (tensor<f32>) -> tensor<0xi64>
// CHECK:         vm.reshape_tensor %{{.*}} : (tensor<4x2xf32>) -> tensor<8xf32>
// CHECK:         vm.reshape_tensor %{{.*}} shape %{{.*}} : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
// CHECK:         vm.shape_func @shape_of_add ins(%{{.*}}, %{{.*}} : tensor<2xi64>, tensor<2xi64>) outs(%{{.*}} : tensor<2xi64>) {is_input = array<i64: 0, 1>} -> tensor<2xi64>
func.func @shapes(%x: tensor<?x4xf32>, %y: tensor<f32>, %z: tensor<4x2xf32>, %n: tensor<1xi64>, %out: tensor<2xi64>) {
  %a = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %b = vm.shape_of %y {note} : (tensor<f32>) -> tensor<0xi64>
  %c = vm.reshape_tensor %z : (tensor<4x2xf32>) -> tensor<8xf32>
  %d = vm.reshape_tensor %x shape %n : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
  %e = vm.shape_func @shape_of_add ins(%a, %a : tensor<2xi64>, tensor<2xi64>) outs(%out : tensor<2xi64>) {is_input = array<i64: 0, 1>} -> tensor<2xi64>
  func.return
}
relay.prim_func @shape_of_add(%a: tensor<2xi64>, %b: tensor<2xi64>) -> tensor<2xi64> {
  relay.yield %a : tensor<2xi64>
}

// -----

// A slice is of rows, from a static or computed start on.
//
// CHECK-LABEL: @slices
// CHECK:         vm.slice_tensor %{{.*}}[2] : (tensor<8x4xf32>) -> tensor<3x4xf32>
// CHECK:         vm.slice_tensor %{{.*}}[4] axis 1 : (tensor<1x8x4xf32>) -> tensor<1x3x4xf32>
// CHECK:         vm.slice_tensor %{{.*}}[%{{.*}}] {note} : (tensor<8x4xf32>) -> tensor<0x4xf32>
// CHECK:         vm.slice_tensor %{{.*}}[1] shape %{{.*}} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
func.func @slices(%x: tensor<8x4xf32>, %z: tensor<1x8x4xf32>, %y: tensor<?x4xf32>, %s: tensor<2xi64>, %n: i64) {
  %a = vm.slice_tensor %x[2] : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %d = vm.slice_tensor %z[4] axis 1 : (tensor<1x8x4xf32>) -> tensor<1x3x4xf32>
  %b = vm.slice_tensor %x[%n] {note} : (tensor<8x4xf32>) -> tensor<0x4xf32>
  %c = vm.slice_tensor %y[1] shape %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  func.return
}

// -----

// A join has the bytes of its parts.
//
// CHECK-LABEL: @joins
// CHECK:         vm.join_tensors %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<1x4x4xf32>
// CHECK:         vm.join_tensors %y, %x shape %s {note} : (tensor<?x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
func.func @joins(%x: tensor<2x4xf32>, %y: tensor<?x4xf32>, %s: tensor<2xi64>) {
  %a = vm.join_tensors %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<1x4x4xf32>
  %b = vm.join_tensors %y, %x shape %s {note} : (tensor<?x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  func.return
}
