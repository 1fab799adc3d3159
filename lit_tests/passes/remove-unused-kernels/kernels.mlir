// RUN: xrelay-opt --split-input-file -p remove-unused-kernels %s | filecheck %s

// A kernel that nothing calls is removed.
//
// CHECK-LABEL: @calls_nothing
// CHECK-NOT:   relay.prim_func
func.func @calls_nothing() {
  func.return
}
relay.prim_func @unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// A kernel that is called stays, before and after manifest-alloc.
//
// CHECK-LABEL: @calls
// CHECK:       relay.prim_func @lowered
// CHECK-NOT:   @unused
// CHECK:       relay.prim_func @explicit
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call_lowered @lowered(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %1 = vm.invoke_tvm_op @explicit ins(%0 : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
relay.prim_func @lowered(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
relay.prim_func @unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
relay.prim_func @explicit(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// A call in a branch counts.
//
// CHECK-LABEL: @calls_in_a_branch
// CHECK:       relay.prim_func @in_branch
func.func @calls_in_a_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %0 = relay.call_lowered @in_branch(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
relay.prim_func @in_branch(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// A function that nothing calls stays: it may be called from outside.
//
// CHECK-LABEL: func.func @entry
func.func @entry() {
  func.return
}
