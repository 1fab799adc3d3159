// RUN: xrelay-opt --split-input-file -p lift-constants %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p lift-constants,lift-constants %s | filecheck %s

// Constants move to the start of the function, in order of first use.
//
// CHECK-LABEL: @start(
// CHECK-NEXT:    %c = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %w = relay.param "w" : tensor<4xf32>
// CHECK-NEXT:    %d = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    relay.exp %x
// CHECK-NEXT:    relay.add %{{.*}}, %c
// CHECK-NEXT:    relay.add %{{.*}}, %w
// CHECK-NEXT:    relay.add %{{.*}}, %d
func.func @start(%x: tensor<4xf32>) {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.constant dense<1.0> : tensor<f32>
  %1 = relay.add %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %w = relay.param "w" : tensor<4xf32>
  %2 = relay.add %1, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.constant dense<2.0> : tensor<f32>
  %3 = relay.add %2, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// -----

// Equal constants are shared, small and large ones.
//
// CHECK-LABEL: @equal(
// CHECK-NEXT:    %a = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %v = relay.param "w" : tensor<4xf32>
// CHECK-NEXT:    "test.op"(%a, %a, %v, %v)
func.func @equal() {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.constant dense<1.0> : tensor<f32>
  %v = relay.param "w" : tensor<4xf32>
  %w = relay.param "w" : tensor<4xf32>
  "test.op"(%a, %b, %v, %w) : (tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> ()
  func.return
}

// -----

// Constants on different devices, or of different types, values, names or attributes, are not.
//
// CHECK-LABEL: @different(
// CHECK-NEXT:    relay.constant dense<1.000000e+00> : tensor<f32> on #cpu0
// CHECK-NEXT:    relay.constant dense<1.000000e+00> : tensor<f32> on #cuda0
// CHECK-NEXT:    relay.constant dense<1.000000e+00> : tensor<f64> on #cpu0
// CHECK-NEXT:    relay.constant dense<2.000000e+00> : tensor<f32> on #cpu0
// CHECK-NEXT:    relay.constant dense<1.000000e+00> : tensor<f32> on #cpu0 {note}
// CHECK-NEXT:    relay.param "v" : tensor<f32, #cpu0>
// CHECK-NEXT:    relay.param "w" : tensor<f32, #cpu0>
// CHECK-NEXT:    func.return
func.func @different() {
  %0 = relay.constant dense<1.0> : tensor<f32> on #relay.device<cpu:0>
  %1 = relay.constant dense<1.0> : tensor<f32> on #relay.device<cuda:0>
  %2 = relay.constant dense<1.0> : tensor<f64> on #relay.device<cpu:0>
  %3 = relay.constant dense<2.0> : tensor<f32> on #relay.device<cpu:0>
  %4 = relay.constant dense<1.0> : tensor<f32> on #relay.device<cpu:0> {note}
  %5 = relay.param "v" : tensor<f32, #relay.device<cpu:0>>
  %6 = relay.param "w" : tensor<f32, #relay.device<cpu:0>>
  func.return
}

// -----

// Those in branches and cases move out, and are shared between them.
//
// CHECK-LABEL: @branches(
// CHECK-NEXT:    %c = relay.constant dense<1.000000e+00>
// CHECK-NEXT:    relay.if %b
// CHECK-NEXT:      relay.yield %c
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %c
func.func @branches(%b: tensor<i1>) -> tensor<f32> {
  %r = relay.if %b : tensor<i1> -> (tensor<f32>) {
    %c = relay.constant dense<1.0> : tensor<f32>
    relay.yield %c : tensor<f32>
  } else {
    %d = relay.constant dense<1.0> : tensor<f32>
    relay.yield %d : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// -----

// A closure keeps its constants: it would capture those of the function.
//
// CHECK-LABEL: @closure(
// CHECK-NEXT:    %c = relay.constant
// CHECK-NEXT:    relay.fn (%a: tensor<f32>)
// CHECK-NEXT:      %d = relay.constant
// CHECK-NEXT:      relay.exp %a
func.func @closure() -> tensor<f32> {
  %f = relay.fn (%a: tensor<f32>) -> tensor<f32> {
    %0 = relay.exp %a : (tensor<f32>) -> tensor<f32>
    %d = relay.constant dense<1.0> : tensor<f32>
    %1 = relay.add %0, %d : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %1 : tensor<f32>
  }
  %c = relay.constant dense<1.0> : tensor<f32>
  func.return %c : tensor<f32>
}

// -----

// Kernels keep theirs, in place and outlined.
//
// CHECK-LABEL: @kernels(
// CHECK-NEXT:    relay.primitive(
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.constant
// CHECK-LABEL: relay.prim_func @kernel(
// CHECK-NEXT:    relay.exp
// CHECK-NEXT:    relay.constant
func.func @kernels(%x: tensor<4xf32>) {
  %0 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %c = relay.constant dense<1.0> : tensor<f32>
    %2 = relay.add %1, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  func.return
}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %1 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.constant dense<1.0> : tensor<f32>
  %2 = relay.add %1, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.yield %2 : tensor<4xf32>
}

// -----

// Numbers, such as sizes, stay where they are.
//
// CHECK-LABEL: @sizes(
// CHECK-NEXT:    "test.op"()
// CHECK-NEXT:    arith.constant 16 : i64
func.func @sizes() {
  "test.op"() : () -> ()
  %size = arith.constant 16 : i64
  %s = memory.alloc_storage %size align 64 : !memory.storage
  func.return
}

// -----

// A constant that moves stays in front of what uses it in every block.
//
// CHECK-LABEL: @unused_and_shared(
// CHECK-NEXT:    %b = relay.constant dense<2.000000e+00>
// CHECK-NEXT:    %a = relay.constant dense<1.000000e+00>
// CHECK-NEXT:    "test.op"(%b)
// CHECK-NEXT:    "test.op"(%a, %b)
func.func @unused_and_shared() {
  %b = relay.constant dense<2.0> : tensor<f32>
  "test.op"(%b) : (tensor<f32>) -> ()
  %a = relay.constant dense<1.0> : tensor<f32>
  %c = relay.constant dense<2.0> : tensor<f32>
  "test.op"(%a, %c) : (tensor<f32>, tensor<f32>) -> ()
  func.return
}
