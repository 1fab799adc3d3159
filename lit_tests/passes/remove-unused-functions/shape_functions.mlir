// RUN: xrelay-opt --split-input-file -p remove-unused-functions %s | filecheck %s

// The shape function of a used kernel stays; one that no kernel names is removed.
//
// CHECK-LABEL: @calls_a_kernel
// CHECK:       relay.prim_func @kernel
// CHECK:       relay.shape_func @used
// CHECK-NOT:   @unused
func.func @calls_a_kernel(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.call_lowered @kernel(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}
relay.prim_func @kernel(%a: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @used, shape_inputs = array<i64: 2>} {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.shape_func @used(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}
relay.shape_func @unused(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}

// -----

// A kernel is removed together with its shape function.
//
// CHECK:       builtin.module {
// CHECK-NEXT:    func.func @calls_none
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func @calls_none() {
  func.return
}
relay.prim_func @kernel(%a: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @shape, shape_inputs = array<i64: 2>} {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.shape_func @shape(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}

// -----

// Once memory is explicit the program itself calls shape functions, which is a use.
//
// CHECK-LABEL: @calls_a_shape_function
// CHECK:       relay.shape_func @shape
func.func @calls_a_shape_function(%s: tensor<1xi64>, %t: tensor<1xi64>) -> tensor<1xi64> {
  %o = vm.shape_func @shape ins(%s : tensor<1xi64>) outs(%t : tensor<1xi64>) {is_input = array<i64: 0>} -> tensor<1xi64>
  func.return %o : tensor<1xi64>
}
relay.shape_func @shape(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}
