// RUN: xrelay-opt --split-input-file -p 'convert-memory-to-memref,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// Memory whose last use is in a branch is freed in both.
//
// CHECK-LABEL: @freed_in_branches
// CHECK:         %[[S:.*]] = memref.alloc() {{.*}} : memref<16xi8>
// CHECK:         scf.if
// CHECK:           func.call @k
// CHECK-NEXT:      memref.dealloc %[[S]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memref.dealloc %[[S]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @freed_in_branches(%c: tensor<i1>, %x: tensor<4xf32>, %w: !memory.storage) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  relay.if %c : tensor<i1> {
    %u = memory.alloc_tensor %w[0] : tensor<4xf32>
    %z = vm.invoke_tvm_op @k ins(%y : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
    memory.kill %y : tensor<4xf32>
    relay.yield
  } else {
    memory.kill %y : tensor<4xf32>
    relay.yield
  }
  func.return
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// A branch hands its memory over; a flag says whether it was that branch.
//
// CHECK-LABEL: @handed_over
// CHECK:         %[[R:.*]], %[[FLAG:.*]] = scf.if %{{.*}} -> (memref<4xf32>, i1) {
// CHECK:           %[[S:.*]] = memref.alloc()
// CHECK:           func.call @k
// CHECK-NEXT:      %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT:      scf.yield %{{.*}}, %[[TRUE]] : memref<4xf32>, i1
// CHECK:           %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT:      scf.yield %x, %[[FALSE]] : memref<4xf32>, i1
// CHECK:         func.call @k(%[[R]]
// CHECK-NEXT:    scf.if %[[FLAG]] {
// CHECK-NEXT:      %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[R]]
// CHECK-NEXT:      memref.dealloc %[[BASE]] : memref<f32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @handed_over(%c: tensor<i1>, %x: tensor<4xf32>, %w: !memory.storage) {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s = memory.alloc_storage 16 align 64 : !memory.storage
    %t = memory.alloc_tensor %s[0] : tensor<4xf32>
    %y = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %u = memory.alloc_tensor %w[0] : tensor<4xf32>
  %z = vm.invoke_tvm_op @k ins(%r : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// A parameter that is returned is copied: the result belongs to the caller, who frees it.
//
// CHECK-LABEL: @identity
// CHECK:         %[[C:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT:    memref.copy %x, %[[C]]
// CHECK-NEXT:    func.return %[[C]]
// CHECK-LABEL: @caller
// CHECK:         %[[Y:.*]] = func.call @identity(%x)
// CHECK:         func.call @k(%[[Y]]
// CHECK-NEXT:    %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[Y]]
// CHECK-NEXT:    memref.dealloc %[[BASE]]
func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>, %w: !memory.storage) {
  %y = func.call @identity(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t = memory.alloc_tensor %w[0] : tensor<4xf32>
  %z = vm.invoke_tvm_op @k ins(%y : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// A parameter that one branch returns is copied there, not in the other.
//
// CHECK-LABEL: @copied_in_its_branch
// CHECK:         %[[R:.*]] = scf.if %{{.*}} -> (memref<4xf32>) {
// CHECK:           func.call @k
// CHECK-NEXT:      scf.yield
// CHECK:           memref.copy %x, %[[C:[0-9]+]]
// CHECK-NEXT:      scf.yield %[[C]]
// CHECK:         func.return %[[R]]
func.func @copied_in_its_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s = memory.alloc_storage 16 align 64 : !memory.storage
    %t = memory.alloc_tensor %s[0] : tensor<4xf32>
    %y = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// Of two results in one allocation, the second is copied.
//
// CHECK-LABEL: @returned_twice
// CHECK:         %[[T:.*]] = memref.view
// CHECK:         memref.copy %[[T]], %[[C:[0-9]+]]
// CHECK-NEXT:    func.return %[[T]], %[[C]]
func.func @returned_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %y : tensor<4xf32>, tensor<4xf32>
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}

// -----

// Bytes that are the branch's own on one path only are not handed over, but copied.
//
// CHECK-LABEL: @perhaps_a_parameter
// CHECK:         scf.if
// CHECK:           %[[S:.*]] = memref.alloc() {{.*}} : memref<16xi8>
// CHECK:           %[[R:.*]] = scf.if
// CHECK:           memref.copy %[[R]], %[[C:[0-9]+]]
// CHECK-NEXT:      memref.dealloc %[[S]]
// CHECK-NEXT:      scf.yield %[[C]]
func.func @perhaps_a_parameter(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s = memory.alloc_storage 16 align 64 : !memory.storage
    %t = memory.alloc_tensor %s[0] : tensor<4xf32>
    %y = vm.invoke_tvm_op @k ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %q = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
      relay.yield %x : tensor<4xf32>
    } else {
      relay.yield %y : tensor<4xf32>
    }
    %p = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
      relay.yield %q : tensor<4xf32>
    } else {
      relay.yield %q : tensor<4xf32>
    }
    relay.yield %p : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
relay.prim_func @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %b : tensor<4xf32>
}
