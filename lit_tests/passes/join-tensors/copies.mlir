// RUN: xrelay-opt --split-input-file -p infer-types,plan-devices,fuse-ops,outline-primitives,create-shape-functions,manifest-alloc,simplify-shapes,remove-dead-writes,reuse-in-place,join-tensors,remove-unused-kernels %s | filecheck %s

// Parts along an inner axis are not contiguous.
//
// CHECK-LABEL: func.func @columns
// CHECK-NOT:     vm.join_tensors
// CHECK:         relay.concatenate
func.func @columns(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %b {axis = 1} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}

// -----

// Most operands belong to the caller, and would be copied all the same.
//
// CHECK-LABEL: func.func @parameters
// CHECK-NOT:     vm.join_tensors
// CHECK:         relay.concatenate
func.func @parameters(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<12x4xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %x, %y {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
  func.return %c : tensor<12x4xf32>
}

// -----

// A result has memory of its own, so it is copied.
//
// CHECK-LABEL: func.func @results
// CHECK:         memory.copy ins(%a
// CHECK:         vm.join_tensors
func.func @results(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  func.return %a, %c : tensor<4x4xf32>, tensor<8x4xf32>
}

// -----

// The 64 KiB of %b would be live as long as %a: at the worst moment, too.
//
// CHECK-LABEL: func.func @no_more_bytes
// CHECK-NOT:     vm.join_tensors
// CHECK:         relay.concatenate
func.func @no_more_bytes(%p: tensor<256x256xf32>, %x: tensor<4x256xf32>, %y: tensor<64x256xf32>, %q: tensor<1x256xf32>) -> (tensor<68x1xf32>, tensor<256x4xf32>) {
  %a = relay.nn.softmax %x : (tensor<4x256xf32>) -> tensor<4x256xf32>
  %b = relay.nn.softmax %y : (tensor<64x256xf32>) -> tensor<64x256xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x256xf32>, tensor<64x256xf32>) -> tensor<68x256xf32>
  %d = relay.nn.dense %c, %q : (tensor<68x256xf32>, tensor<1x256xf32>) -> tensor<68x1xf32>
  %e = relay.nn.dense %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %f = relay.nn.softmax %e : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %g = relay.nn.dense %f, %a : (tensor<256x256xf32>, tensor<4x256xf32>) -> tensor<256x4xf32>
  func.return %d, %g : tensor<68x1xf32>, tensor<256x4xf32>
}

// -----

// A result is written over the concatenation while %a is live.
//
// CHECK-LABEL: func.func @overwritten
// CHECK-NOT:     vm.join_tensors
// CHECK:         relay.concatenate
func.func @overwritten(%x: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %d = relay.nn.softmax %c : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = relay.nn.dense %d, %a : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  func.return %e : tensor<8x4xf32>
}
