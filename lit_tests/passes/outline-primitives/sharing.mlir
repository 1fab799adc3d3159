// RUN: xrelay-opt --split-input-file -p outline-primitives %s | filecheck %s

// Primitives with equal bodies share one function, whatever their values are called and wherever
// they are.
//
// CHECK-LABEL: @equal_bodies
// CHECK-NEXT:    %[[A:.*]] = relay.call_lowered @fused_nn_relu(%x) : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = relay.call_lowered @fused_nn_relu(%y) : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
// CHECK-NEXT:    func.return %[[A]], %[[B]]
// CHECK:       relay.prim_func @fused_nn_relu(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.yield %[[R]] : tensor<4xf32>
// CHECK-NEXT:  }
// CHECK-NOT:   relay.prim_func
func.func @equal_bodies(%x: tensor<4xf32, #relay.device<cpu:0>>, %y: tensor<4xf32, #relay.device<cuda:0>>) -> (tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cuda:0>>) {
  %r = relay.primitive(%a = %x : tensor<4xf32, #relay.device<cpu:0>>) -> (tensor<4xf32, #relay.device<cpu:0>>) {
    %0 = relay.nn.relu %a : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<4xf32, #relay.device<cpu:0>>
  }
  %s = relay.primitive(%b = %y : tensor<4xf32, #relay.device<cuda:0>>) -> (tensor<4xf32, #relay.device<cuda:0>>) {
    %1 = relay.nn.relu %b : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
    relay.yield %1 : tensor<4xf32, #relay.device<cuda:0>>
  }
  func.return %r, %s : tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// Different attributes, shapes, constants or wiring make different functions, numbered.
//
// CHECK-LABEL: @different_bodies
// CHECK:         relay.call_lowered @fused_clip(%x)
// CHECK:         relay.call_lowered @fused_clip_1(%x)
// CHECK:         relay.call_lowered @fused_clip_2(%y)
// CHECK:         relay.call_lowered @fused_subtract(%x, %x)
// CHECK:         relay.call_lowered @fused_subtract_1(%x, %x)
// CHECK:         relay.call_lowered @fused_multiply(%x)
// CHECK:         relay.call_lowered @fused_multiply_1(%x)
// CHECK:         relay.call_lowered @fused_clip(%x)
func.func @different_bodies(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %r = relay.clip %a {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %1 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %r = relay.clip %a {a_min = 0.0, a_max = 5.0} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %2 = relay.primitive(%a = %y : tensor<5xf32>) -> (tensor<5xf32>) {
    %r = relay.clip %a {a_min = 0.0, a_max = 6.0} : (tensor<5xf32>) -> tensor<5xf32>
    relay.yield %r : tensor<5xf32>
  }
  %3 = relay.primitive(%a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %r = relay.subtract %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %4 = relay.primitive(%a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %r = relay.subtract %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %5 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %c = relay.constant dense<2.0> : tensor<f32>
    %r = relay.multiply %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %6 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %c = relay.constant dense<3.0> : tensor<f32>
    %r = relay.multiply %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %7 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %r = relay.clip %a {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  func.return
}

// -----

// The order of the yielded values is part of the wiring.
//
// CHECK-LABEL: @yields
// CHECK:         relay.call_lowered @fused_exp_abs(%x)
// CHECK:         relay.call_lowered @fused_exp_abs_1(%x)
func.func @yields(%x: tensor<4xf32>) {
  %0:2 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %s = relay.abs %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r, %s : tensor<4xf32>, tensor<4xf32>
  }
  %1:2 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %s = relay.abs %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s, %r : tensor<4xf32>, tensor<4xf32>
  }
  func.return
}

// -----

// Primitives share a function only on the same target, which the function carries.
//
// CHECK-LABEL: @targets
// CHECK:         relay.call_lowered @fused_exp(%x)
// CHECK:         relay.call_lowered @fused_exp_1(%y)
// CHECK:       relay.prim_func @fused_exp({{.*}}) -> tensor<4xf32> attributes {target = "llvm"} {
// CHECK:       relay.prim_func @fused_exp_1({{.*}}) -> tensor<4xf32> {
func.func @targets(%x: tensor<4xf32, #relay.device<cpu:0, target = "llvm">>, %y: tensor<4xf32, #relay.device<cpu:0>>) {
  %0 = relay.primitive(%a = %x : tensor<4xf32, #relay.device<cpu:0, target = "llvm">>) -> (tensor<4xf32, #relay.device<cpu:0, target = "llvm">>) {
    %r = relay.exp %a : (tensor<4xf32, #relay.device<cpu:0, target = "llvm">>) -> tensor<4xf32, #relay.device<cpu:0, target = "llvm">>
    relay.yield %r : tensor<4xf32, #relay.device<cpu:0, target = "llvm">>
  }
  %1 = relay.primitive(%a = %y : tensor<4xf32, #relay.device<cpu:0>>) -> (tensor<4xf32, #relay.device<cpu:0>>) {
    %r = relay.exp %a : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %r : tensor<4xf32, #relay.device<cpu:0>>
  }
  func.return
}

// -----

// Turns are those of a call: the kernel is shared.
//
// CHECK-LABEL: @turns
// CHECK:         relay.call_lowered @fused_exp(%{{.*}}) {turns = array<i64: 1, 3>} : (tensor<4xf32>)
// CHECK-NEXT:    relay.call_lowered @fused_exp(%{{.*}}) : (tensor<4xf32>)
// CHECK-COUNT-1: relay.prim_func
func.func @turns(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.primitive(%p = %a : tensor<4xf32>) -> (tensor<4xf32>) attributes {turns = array<i64: 1, 3>} {
    %0 = relay.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %c = relay.primitive(%p = %b : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = relay.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %d = relay.end_loop %c : (tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}
