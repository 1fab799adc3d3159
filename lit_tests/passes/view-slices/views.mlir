// RUN: xrelay-opt --split-input-file -p infer-types,plan-devices,fuse-ops,outline-primitives,create-shape-functions,manifest-alloc,simplify-shapes,view-slices,remove-dead-writes %s | filecheck %s

// Rows of a parameter are a view of it: it is live anyway.
//
// CHECK-LABEL: func.func @rows_of_a_parameter
// CHECK-NEXT:    %a = vm.slice_tensor %x[2] : (tensor<8x4xf32, #cpu0>) -> tensor<3x4xf32, #cpu0>
// CHECK-NEXT:    memory.alloc_storage 48
// CHECK-NEXT:    memory.alloc_tensor
// CHECK-NEXT:    vm.invoke_tvm_op @fused_nn_softmax ins(%a
func.func @rows_of_a_parameter(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %a = relay.strided_slice %x {begin = array<i64: 2>, end = array<i64: 5>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %b = relay.nn.softmax %a : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %b : tensor<3x4xf32>
}

// -----

// All parts of a split are views; indices from the end, and sizes, are rows, too.
//
// CHECK-LABEL: func.func @parts
// CHECK:         vm.slice_tensor %x[0] : (tensor<8x4xf32, #cpu0>) -> tensor<4x4xf32, #cpu0>
// CHECK:         vm.slice_tensor %x[4] : (tensor<8x4xf32, #cpu0>) -> tensor<4x4xf32, #cpu0>
// CHECK:         vm.slice_tensor %{{.*}}[1] : (tensor<4x4xf32, #cpu0>) -> tensor<2x4xf32, #cpu0>
// CHECK:         vm.slice_tensor %{{.*}}[3] : (tensor<4x4xf32, #cpu0>) -> tensor<1x4xf32, #cpu0>
func.func @parts(%x: tensor<8x4xf32>) -> (tensor<2x4xf32>, tensor<1x4xf32>) {
  %a:2 = relay.split %x {indices_or_sections = 2 : i64} : (tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %c = relay.strided_slice %a#0 {begin = array<i64: -3, 0>, end = array<i64: -1, 4>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %d = relay.strided_slice %a#1 {begin = array<i64: 3>, end = array<i64: -1>, slice_mode = "size"} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %e = relay.nn.softmax %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = relay.nn.softmax %d : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %e, %f : tensor<2x4xf32>, tensor<1x4xf32>
}

// -----

// Channels of one image are contiguous.
//
// CHECK-LABEL: func.func @channels
// CHECK-NEXT:    vm.slice_tensor %x[4] axis 1 : (tensor<1x6x5xf32, #cpu0>) -> tensor<1x2x5xf32, #cpu0>
func.func @channels(%x: tensor<1x6x5xf32>) -> tensor<1x2x5xf32> {
  %a = relay.strided_slice %x {begin = array<i64: 4>, end = array<i64: 6>, axes = array<i64: 1>} : (tensor<1x6x5xf32>) -> tensor<1x2x5xf32>
  %b = relay.nn.softmax %a : (tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  func.return %b : tensor<1x2x5xf32>
}

// -----

// The number of rows may be known only when the program runs.
//
// CHECK-LABEL: func.func @open
// CHECK:         %[[S:.*]] = tensor.from_elements
// CHECK:         vm.slice_tensor %x[1] shape %[[S]] : (tensor<?x4xf32, #cpu0>, tensor<2xi64, #cpu0>) -> tensor<?x4xf32, #cpu0>
func.func @open(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}) -> tensor<?x4xf32> {
  %a = relay.strided_slice %x {begin = array<i64: 1>, end = array<i64: 9>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relay.nn.softmax %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %b : tensor<?x4xf32>
}

// -----

// A tensor that is used after the slice, or as large as its slices, is no reason for a copy.
//
// CHECK-LABEL: func.func @needed_anyway
// CHECK-COUNT-3: vm.slice_tensor
func.func @needed_anyway(%x: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x2xf32>) {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.strided_slice %a {begin = array<i64: 0>, end = array<i64: 2>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = relay.nn.softmax %b : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = relay.nn.softmax %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = relay.nn.softmax %x {axis = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f:2 = relay.split %e {indices_or_sections = 2 : i64} : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %h = relay.nn.dense %f#0, %f#1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  func.return %c, %d, %h : tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x2xf32>
}
