// RUN: xrelay-opt --split-input-file -p remove-dead-writes %s | filecheck %s

// A write whose result nothing reads is removed, with its tensor, its storage, their kills and its
// constants. Its kernel is left to remove-unused-kernels.
//
// CHECK-LABEL: @unread
// CHECK-NEXT:    func.return
// CHECK:       relay.prim_func @f
func.func @unread() {
  %x = relay.constant dense<1.0> : tensor<4xf32>
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  memory.kill %t : tensor<4xf32>
  memory.kill %y : tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// A chain that ends in a dead write is dead from its start; copies count as writes.
//
// CHECK-LABEL: @chain
// CHECK-NEXT:    func.return
func.func @chain(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %u = memory.alloc_tensor %s[16] : tensor<4xf32>
  %z = memory.copy ins(%y : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// A write with one result that is read stays, and so do all its tensors.
//
// CHECK-LABEL: @one_of_two
// CHECK-NEXT:    memory.alloc_storage
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %{{.*}}[0]
// CHECK-NEXT:    %[[U:.*]] = memory.alloc_tensor %{{.*}}[16]
// CHECK-NEXT:    vm.invoke_tvm_op @f outs(%[[T]], %[[U]] :
// CHECK-NEXT:    memory.kill %[[T]]
func.func @one_of_two() -> tensor<4xf32> {
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %u = memory.alloc_tensor %s[16] : tensor<4xf32>
  %y, %z = vm.invoke_tvm_op @f outs(%t, %u : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  memory.kill %t : tensor<4xf32>
  func.return %z : tensor<4xf32>
}
relay.prim_func @f() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.param "a" : tensor<4xf32>
  relay.yield %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A write into a parameter stays: the caller sees it.
//
// CHECK-LABEL: @parameter
// CHECK-NEXT:    memory.copy
// CHECK-NEXT:    func.return
func.func @parameter(%x: tensor<4xf32>, %out: tensor<4xf32>) {
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Unused tensors and storages are removed; a storage with a used tensor stays.
//
// CHECK-LABEL: @allocations
// CHECK-NEXT:    %[[S:.*]] = memory.alloc_storage 32
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[S]][16]
// CHECK-NEXT:    memory.copy ins(%x : {{.*}}) outs(%[[T]] :
// CHECK-NEXT:    func.return
func.func @allocations(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %u = memory.alloc_tensor %s[16] : tensor<4xf32>
  %r = memory.alloc_storage 64 align 64 : !memory.storage
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  memory.kill %t : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A write that only a view reads stays; an unused view is removed with the write.
//
// CHECK-LABEL: @views
// CHECK-NEXT:    memory.alloc_storage
// CHECK-NEXT:    memory.alloc_tensor
// CHECK-NEXT:    %[[Y:.*]] = memory.copy
// CHECK-NEXT:    %[[V:.*]] = vm.reshape_tensor %[[Y]]
// CHECK-NEXT:    func.return %[[V]]
func.func @views(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %v = vm.reshape_tensor %y : (tensor<4xf32>) -> tensor<2x2xf32>
  %r = memory.alloc_storage 16 align 64 : !memory.storage
  %u = memory.alloc_tensor %r[0] : tensor<4xf32>
  %z = memory.copy ins(%x : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  %w = vm.reshape_tensor %z : (tensor<4xf32>) -> tensor<2x2xf32>
  %p = relay.tuple %w : (tensor<2x2xf32>) -> tuple<tensor<2x2xf32>>
  func.return %v : tensor<2x2xf32>
}

// -----

// Dead writes in branches are removed too.
//
// CHECK-LABEL: @branches
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    } else {
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) {
  relay.if %c : tensor<i1> {
    %s = memory.alloc_storage 16 align 64 : !memory.storage
    %t = memory.alloc_tensor %s[0] : tensor<4xf32>
    %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  } else {
  }
  func.return
}

// -----

// An impure kernel is called even if nothing reads what it writes.
//
// CHECK-LABEL: @impure
// CHECK:         vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>) {impure}
func.func @impure(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) {impure} -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {impure} {
  %0 = relay.call_opaque "nn.fancy"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
