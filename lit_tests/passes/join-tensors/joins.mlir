// RUN: xrelay-opt --split-input-file -p infer-types,plan-devices,fuse-ops,outline-primitives,create-shape-functions,manifest-alloc,simplify-shapes,remove-dead-writes,reuse-in-place,join-tensors,remove-unused-kernels %s | filecheck %s

// Parts are computed side by side.
//
// CHECK-LABEL: func.func @two_parts
// CHECK-NEXT:    %[[J:.*]] = memory.alloc_storage 192 align 64
// CHECK-NEXT:    %[[S:.*]] = memory.slice_storage %[[J]][0] size 64 align 64
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[S]][0] : tensor<4x4xf32, #cpu0>
// CHECK-NEXT:    %a = vm.invoke_tvm_op @fused_nn_softmax ins(%x {{.*}} outs(%[[T]]
// CHECK-NEXT:    %[[R:.*]] = memory.slice_storage %[[J]][64] size 128 align 64
// CHECK-NEXT:    %[[U:.*]] = memory.alloc_tensor %[[R]][0] : tensor<8x4xf32, #cpu0>
// CHECK-NEXT:    %b = vm.invoke_tvm_op @fused_nn_softmax_1 ins(%y {{.*}} outs(%[[U]]
// CHECK-NEXT:    %c = vm.join_tensors %a, %b
// CHECK-NOT:     relay.concatenate
func.func @two_parts(%x: tensor<4x4xf32>, %y: tensor<8x4xf32>) -> tensor<12x12xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.softmax %y : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<12x4xf32>
  %d = relay.nn.dense %c, %c : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x12xf32>
  func.return %d : tensor<12x12xf32>
}

// -----

// A join of a join, of channels of one image: one storage, at whose end each part is added. A part
// is as aligned as the bytes before it are.
//
// CHECK-LABEL: func.func @nested
// CHECK:         %[[J:.*]] = memory.alloc_storage 180 align 64
// CHECK-NEXT:    memory.slice_storage %[[J]][0] size 60 align 64
// CHECK:         memory.slice_storage %[[J]][60] size 60 align 4
// CHECK:         %c = vm.join_tensors %a, %b {{.*}} -> tensor<1x6x5xf32, #cpu0>
// CHECK:         memory.slice_storage %[[J]][120] size 60 align 8
// CHECK:         %e = vm.join_tensors %c, %d {{.*}} -> tensor<1x9x5xf32, #cpu0>
func.func @nested(%x: tensor<1x3x5xf32>) -> tensor<1x9x9xf32> {
  %a = relay.nn.softmax %x : (tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  %b = relay.nn.softmax %a : (tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  %c = relay.concatenate %a, %b {axis = 1} : (tensor<1x3x5xf32>, tensor<1x3x5xf32>) -> tensor<1x6x5xf32>
  %s = relay.nn.softmax %c : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  %d = relay.nn.max_pool1d %s {pool_size = array<i64: 2>, strides = array<i64: 2>, layout = "NWC"} : (tensor<1x6x5xf32>) -> tensor<1x3x5xf32>
  %e = relay.concatenate %c, %d {axis = 1} : (tensor<1x6x5xf32>, tensor<1x3x5xf32>) -> tensor<1x9x5xf32>
  %f = relay.nn.batch_matmul %e, %e : (tensor<1x9x5xf32>, tensor<1x9x5xf32>) -> tensor<1x9x9xf32>
  func.return %f : tensor<1x9x9xf32>
}

// -----

// A part may be in several joins with the same neighbours: the first is the start of the second.
//
// CHECK-LABEL: func.func @same_neighbours
// CHECK:         memory.alloc_storage 192 align 64
// CHECK:         vm.join_tensors %a, %b :
// CHECK:         vm.join_tensors %a, %b, %d :
func.func @same_neighbours(%x: tensor<4x4xf32>) -> tensor<12x12xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.softmax %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %w = relay.nn.dense %a, %c : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>
  %d = relay.nn.dense %w, %w : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %e = relay.concatenate %a, %b, %d {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
  %f = relay.nn.dense %e, %e : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x12xf32>
  func.return %f : tensor<12x12xf32>
}

// -----

// A parameter is copied, and so is the second use of an operand.
//
// CHECK-LABEL: func.func @copies
// CHECK:         %[[A:.*]] = memory.copy ins(%x
// CHECK:         %[[B:.*]] = memory.copy ins(%a
// CHECK:         vm.join_tensors %a, %[[A]], %b, %[[B]] :
func.func @copies(%x: tensor<4x4xf32>) -> tensor<16x16xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %x, %b, %a {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  %d = relay.nn.dense %c, %c : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32>
  func.return %d : tensor<16x16xf32>
}

// -----

// Offsets of parts of open size are expressions.
//
// CHECK-LABEL: func.func @open
// CHECK:         %[[E:.*]] = arith.addi %[[N:.*]], %[[M:.*]] : i64
// CHECK-NEXT:    %[[J:.*]] = memory.alloc_storage %[[E]] align 64
// CHECK-NEXT:    memory.slice_storage %[[J]][0] size %[[N]] align 64
// CHECK:         memory.slice_storage %[[J]][%[[N]]] size %[[M]] align 16
// CHECK:         vm.join_tensors %a, %b shape
func.func @open(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}, %y: tensor<?x4xf32> {relay.dims = ["m", 4]}, %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %a = relay.nn.softmax %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relay.nn.softmax %y : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = relay.nn.dense %c, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  func.return %d : tensor<?x4xf32>
}

// -----

// A result may be written over a join whose parts are not used after it.
//
// CHECK-LABEL: func.func @overwritten
// CHECK:         %[[J:.*]] = memory.alloc_storage 128 align 64
// CHECK:         %c = vm.join_tensors %a, %b
// CHECK-NOT:     memory.alloc_storage
// CHECK:         %d = vm.invoke_tvm_op @fused_nn_softmax_1 ins(%c
func.func @overwritten(%x: tensor<4x4xf32>) -> tensor<8x8xf32> {
  %a = relay.nn.softmax %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.concatenate %a, %b {axis = 0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %d = relay.nn.softmax %c : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = relay.nn.dense %d, %d : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  func.return %e : tensor<8x8xf32>
}

// -----

// A plan cannot have the bytes of a later part alone: %a is live with %t and %u, and the bytes of %n
// with them in a join, more than otherwise at any moment. So %c is a copy.
//
// CHECK-LABEL: func.func @later_part_first
// CHECK-NOT:     vm.join_tensors
func.func @later_part_first(%x: tensor<64x16xf32>, %y: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x8xf32> {
  %a = relay.nn.dense %y, %x : (tensor<4x16xf32>, tensor<64x16xf32>) -> tensor<4x64xf32>
  %t = relay.nn.dense %x, %w : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
  %u = relay.nn.dense %t, %w : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
  %n = relay.nn.dense %y, %u : (tensor<4x16xf32>, tensor<64x16xf32>) -> tensor<4x64xf32>
  %c = relay.concatenate %n, %a {axis = 0} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<8x64xf32>
  %d = relay.nn.dense %c, %c : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  func.return %d : tensor<8x8xf32>
}

// -----

// In the other order, the whole is live from when %n is written.
//
// CHECK-LABEL: func.func @earlier_part_first
// CHECK:         vm.join_tensors %a, %n
func.func @earlier_part_first(%x: tensor<64x16xf32>, %y: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x8xf32> {
  %a = relay.nn.dense %y, %x : (tensor<4x16xf32>, tensor<64x16xf32>) -> tensor<4x64xf32>
  %t = relay.nn.dense %x, %w : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
  %u = relay.nn.dense %t, %w : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
  %n = relay.nn.dense %y, %u : (tensor<4x16xf32>, tensor<64x16xf32>) -> tensor<4x64xf32>
  %c = relay.concatenate %a, %n {axis = 0} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<8x64xf32>
  %d = relay.nn.dense %c, %c : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  func.return %d : tensor<8x8xf32>
}
