// RUN: xrelay-opt --verify-diagnostics --split-input-file -p materialize-device-copies %s | filecheck %s

// A hint with different devices becomes a copy right before each use.
//
// CHECK-LABEL: func.func @used_twice
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %x
// CHECK-NEXT:    relay.tanh %[[A]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %x
// CHECK-NEXT:    relay.exp %[[B]]
func.func @used_twice(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %h = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %a = relay.tanh %h : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %b = relay.exp %h : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

// A hint that constrains its result becomes one copy in its place.
//
// CHECK-LABEL: func.func @result_constrained
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %x
// CHECK-NEXT:    relay.tanh %[[C]]
// CHECK-NEXT:    relay.exp %[[C]]
func.func @result_constrained(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %h = relay.on_device %x, #relay.device<cuda:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %a = relay.tanh %h : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %b = relay.exp %h : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

// A hint with one device on both sides is removed.
//
// CHECK-LABEL: func.func @same_device
// CHECK-NEXT:    relay.tanh %x
func.func @same_device(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %h = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %a = relay.tanh %h : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

// Before devices are assigned nothing changes.
//
// CHECK-LABEL: func.func @unplanned
// CHECK-NEXT:    %[[C:.*]] = relay.constant
// CHECK-NEXT:    %[[H:.*]] = relay.on_device %[[C]]
// CHECK-NEXT:    relay.tanh %[[H]]
func.func @unplanned() {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %h = relay.on_device %c, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.tanh %h : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// A reference cannot be copied.
func.func @reference(%r: !relay.ref<tensor<4xf32, #relay.device<cpu:0>>>) -> !relay.ref<tensor<4xf32, #relay.device<cuda:0>>> {
  // expected-error@+1 {{only tensors and tuples can be copied between devices, not !relay.ref<tensor<4xf32, #relay.device<cpu:0>>>}}
  %h = relay.on_device %r, #relay.device<cpu:0> : (!relay.ref<tensor<4xf32, #relay.device<cpu:0>>>) -> !relay.ref<tensor<4xf32, #relay.device<cuda:0>>>
  func.return %h : !relay.ref<tensor<4xf32, #relay.device<cuda:0>>>
}
