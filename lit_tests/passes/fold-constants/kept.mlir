// RUN: xrelay-opt --split-input-file -p fold-constants %s | filecheck %s

// A copy between devices is not computed, and nothing is folded across it.
//
// CHECK-LABEL: @copy
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<-2.0{{.*}}> : tensor<4xf32> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]]
// CHECK-NEXT:    %[[C:.*]] = relay.abs %[[B]]
// CHECK-NEXT:    func.return %[[C]]
func.func @copy() -> tensor<4xf32, #relay.device<cuda:0>> {
  %a = relay.constant dense<-2.0> : tensor<4xf32> on #relay.device<cpu:0>
  %b = relay.device_copy %a : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %c = relay.abs %b : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return %c : tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// A hint is kept, and so is what it constrains.
//
// CHECK-LABEL: @hint
// CHECK:         %[[H:.*]] = relay.on_device %{{.*}}, #cuda0
// CHECK-NEXT:    relay.abs %[[H]]
func.func @hint() -> tensor<4xf32> {
  %a = relay.constant dense<-2.0> : tensor<4xf32>
  %h = relay.on_device %a, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.abs %h : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

// What is read from a reference may have been written since.
//
// CHECK-LABEL: @reference
// CHECK:         %[[R:.*]] = relay.ref_create
// CHECK-NEXT:    %[[B:.*]] = relay.ref_read %[[R]]
// CHECK-NEXT:    relay.abs %[[B]]
func.func @reference() -> tensor<4xf32> {
  %a = relay.constant dense<-2.0> : tensor<4xf32>
  %r = relay.ref_create %a : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %b = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %c = relay.abs %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

// An operator without operands is as good as a constant.
//
// CHECK-LABEL: @no_operands
// CHECK-NEXT:    %[[A:.*]] = relay.zeros
// CHECK-NEXT:    func.return %[[A]]
func.func @no_operands() -> tensor<4xf32> {
  %a = relay.zeros {shape = array<i64: 4>, dtype = f32} : tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// Primitives and kernels stay as they are, inside too, and their calls are not computed.
//
// CHECK-LABEL: @primitive
// CHECK:         relay.primitive(
// CHECK:           %[[D:.*]] = relay.exp
// CHECK-NEXT:      relay.add %{{.*}}, %[[D]]
// CHECK:         relay.call_lowered @kernel
// CHECK:       relay.prim_func @kernel
// CHECK:         relay.exp
func.func @primitive() -> (tensor<4xf32>, tensor<4xf32>) {
  %a = relay.constant dense<-2.0> : tensor<4xf32>
  %p = relay.primitive(%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
    %c = relay.constant dense<1.0> : tensor<f32>
    %d = relay.exp %c : (tensor<f32>) -> tensor<f32>
    %e = relay.add %x, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %e : tensor<4xf32>
  }
  %y = relay.call_lowered @kernel(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %p, %y : tensor<4xf32>, tensor<4xf32>
}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.0> : tensor<f32>
  %d = relay.exp %c : (tensor<f32>) -> tensor<f32>
  %0 = relay.add %a, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// A result whose shape depends on data is not computed.
//
// CHECK-LABEL: @dynamic_result
// CHECK:         relay.argwhere
func.func @dynamic_result() -> tensor<?x1xi32> {
  %a = relay.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %b = relay.argwhere %a : (tensor<2xf32>) -> tensor<?x1xi32>
  func.return %b : tensor<?x1xi32>
}

// -----

// A constant that an operator would reject is not computed: the operator may never run.
//
// CHECK-LABEL: @rejected
// CHECK:         %[[STEP:.*]] = relay.subtract
// CHECK:         relay.if %c
// CHECK:           relay.arange %{{.*}}, %{{.*}}, %[[STEP]]
func.func @rejected(%c: tensor<i1>) -> tensor<?xi64> {
  %a = relay.constant dense<0> : tensor<i64>
  %b = relay.constant dense<5> : tensor<i64>
  %step = relay.subtract %b, %b : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %r = relay.if %c : tensor<i1> -> (tensor<?xi64>) {
    %0 = relay.arange %a, %b, %step {dtype = i64} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    relay.yield %0 : tensor<?xi64>
  } else {
    %1 = relay.arange %a, %b, %b {dtype = i64} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    relay.yield %1 : tensor<?xi64>
  }
  func.return %r : tensor<?xi64>
}
