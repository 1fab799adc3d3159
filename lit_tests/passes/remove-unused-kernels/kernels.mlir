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

// -----

// A shape function stays if a call, or a kernel that stays, names it.
//
// CHECK-LABEL: @shape_functions
// CHECK:       relay.prim_func @exp
// CHECK-NOT:   relay.prim_func
// CHECK:       relay.shape_func @of_exp
// CHECK-NEXT:    relay.yield
// CHECK-NEXT:  }
// CHECK-NEXT:  relay.shape_func @called
// CHECK-NOT:   relay.shape_func
func.func @shape_functions(%x: tensor<?xf32>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %0 = relay.call_lowered @exp(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %a = memory.alloc_storage 8 align 64 : !memory.storage
  %t = memory.alloc_tensor %a[0] : tensor<1xi64>
  %o = vm.shape_func @called ins(%s : tensor<1xi64>) outs(%t : tensor<1xi64>) {is_input = array<i64: 0>} -> tensor<1xi64>
  %v = vm.reshape_tensor %0 shape %o : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  func.return %v : tensor<?xf32>
}
relay.prim_func @exp(%x: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @of_exp, shape_inputs = array<i64: 2>} {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.prim_func @unused(%x: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @of_unused, shape_inputs = array<i64: 2>} {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.shape_func @of_exp(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}
relay.shape_func @called(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}
relay.shape_func @of_unused(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}
