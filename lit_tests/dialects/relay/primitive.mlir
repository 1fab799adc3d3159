// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A primitive binds operands to names of its own and gives what its region yields.
//
// CHECK-LABEL: @primitives
// CHECK:         relay.primitive(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[S:.*]] = relay.add %a, %b
// CHECK-NEXT:      relay.yield %[[S]] : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK:         relay.primitive(%c = %x : tensor<4xf32>) -> (tensor<2x2xf32>) attributes {note, reshape_only} {
// CHECK:         relay.primitive() -> (tensor<4xf32>, tensor<2xi1>) {
// CHECK:         relay.primitive() -> () {
// CHECK-NEXT:      relay.yield
func.func @primitives(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = relay.primitive(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %v = relay.primitive(%c = %x : tensor<4xf32>) -> (tensor<2x2xf32>) attributes {note, reshape_only} {
    %0 = relay.reshape %c {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
    relay.yield %0 : tensor<2x2xf32>
  }
  %s, %t = relay.primitive() -> (tensor<4xf32>, tensor<2xi1>) {
    %0 = relay.constant dense<1.0> : tensor<4xf32>
    %1 = relay.constant dense<true> : tensor<2xi1>
    relay.yield %0, %1 : tensor<4xf32>, tensor<2xi1>
  }
  relay.primitive() -> () {
    relay.yield
  }
  func.return
}

// -----

// A kernel has a name, tensors in and out, maybe a target and memory scopes; calls may be anywhere.
//
// CHECK-LABEL: @calls
// CHECK:         relay.call_lowered @relu(%x) : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
// CHECK:         relay.call_lowered @view(%x) {note, reshape_only} : (tensor<4xf32, #cuda0>) -> tensor<2x2xf32, #cuda0>
// CHECK:         %{{.*}}, %{{.*}} = relay.call_lowered @two() : () -> (tensor<f32>, tensor<f32>)
// CHECK:       relay.prim_func @relu(%a: tensor<4xf32>) -> tensor<4xf32> attributes {note, target = "llvm"} {
// CHECK:       relay.prim_func @view(%a: tensor<4xf32>) -> tensor<2x2xf32> {
// CHECK:       relay.prim_func @scoped(%a: tensor<4xf32>) -> tensor<4xf32> attributes {scopes = ["texture", ""]} {
// CHECK:       relay.prim_func @two() -> (tensor<f32>, tensor<f32>) {
func.func @calls(%x: tensor<4xf32, #relay.device<cuda:0>>) {
  %r = relay.call_lowered @relu(%x) : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %v = relay.call_lowered @view(%x) {note, reshape_only} : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<2x2xf32, #relay.device<cuda:0>>
  %s, %t = relay.call_lowered @two() : () -> (tensor<f32>, tensor<f32>)
  func.return
}
relay.prim_func @relu(%a: tensor<4xf32>) -> tensor<4xf32> attributes {note, target = "llvm"} {
  %0 = relay.nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
relay.prim_func @view(%a: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = relay.reshape %a {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  relay.yield %0 : tensor<2x2xf32>
}
relay.prim_func @scoped(%a: tensor<4xf32>) -> tensor<4xf32> attributes {scopes = ["texture", ""]} {
  relay.yield %a : tensor<4xf32>
}
relay.prim_func @two() -> (tensor<f32>, tensor<f32>) {
  %0 = relay.constant dense<1.0> : tensor<f32>
  relay.yield %0, %0 : tensor<f32>, tensor<f32>
}

// Scratch memory is a result without contents.
//
// CHECK-LABEL: @scratched
// CHECK-NEXT:    %[[SCRATCH:.*]] = relay.scratch : tensor<4x64xf32>
// CHECK-NEXT:    relay.yield %{{.*}}, %[[SCRATCH]] : tensor<4xf32>, tensor<4x64xf32>
relay.prim_func @scratched(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x64xf32>) {
  %0 = relay.scratch : tensor<4x64xf32>
  relay.yield %a, %0 : tensor<4xf32>, tensor<4x64xf32>
}
