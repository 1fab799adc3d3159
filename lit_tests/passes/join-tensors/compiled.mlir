// RUN: xrelay-opt --split-input-file -p infer-types,plan-devices,fuse-ops,outline-primitives,create-shape-functions,manifest-alloc,simplify-shapes,remove-dead-writes,reuse-in-place,join-tensors{compiled=true},remove-unused-kernels %s | filecheck %s

// Parts are adjacent.
//
// CHECK-LABEL: func.func @aligned
// CHECK:         vm.join_tensors %a, %b
// CHECK-NOT:     relay.concatenate
func.func @aligned(%x: tensor<4x4xf32>) -> tensor<8x8xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %d = relay.nn.dense %c, %c : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  func.return %d : tensor<8x8xf32>
}

// -----

// The second part starts at byte 48: machine code loads vectors from any address.
//
// CHECK-LABEL: func.func @unaligned
// CHECK:         memory.slice_storage %joined[48] size 48 align 16
// CHECK:         vm.join_tensors %a, %b
// CHECK-NOT:     relay.concatenate
func.func @unaligned(%x: tensor<3x4xf32>) -> tensor<6x6xf32> {
  %a = relay.nn.softmax %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %b = relay.nn.softmax %a : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %d = relay.nn.dense %c, %c : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
  func.return %d : tensor<6x6xf32>
}

// -----

// The caller has memory for what it is returned.
//
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     vm.join_tensors
// CHECK:         relay.concatenate
func.func @returned(%x: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  func.return %c : tensor<8x4xf32>
}
