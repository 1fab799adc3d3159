// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Annotations of a signature put values where they say, and go.
//
// CHECK-LABEL: @annotated
// CHECK-SAME:      (%x: tensor<4xf32, #cpu0>, %y: tensor<4xf32, #cuda2> {other = 1 : i64}) -> tensor<4xf32, #cpu1>
// CHECK-NOT:     relay.device =
// CHECK:         func.return
func.func @annotated(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {other = 1 : i64, relay.device = #relay.device<cuda:2>}) -> (tensor<4xf32> {relay.device = #relay.device<cpu:1>}) {
  %0 = relay.param "w" : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// What is open gets the device of the function's result before the default.
//
// CHECK-LABEL: @result_first
// CHECK-SAME:      (%x: tensor<4xf32, #cpu0>, %y: tensor<4xf32, #cpu0>)
func.func @result_first(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.on_device %0, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

// A function is on one device for all its calls, and arguments are where its parameters are.
//
// CHECK-LABEL: @callee
// CHECK-SAME:      (%x: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
// CHECK:       func.func @caller(%a: tensor<4xf32, #cpu0>, %b: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
// CHECK:         func.call @callee(%a) : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func @caller(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %h = relay.on_device %a, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = func.call @callee(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @callee(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// A declaration is planned like a function.
//
// CHECK: func.func private @declared(tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda0>
// CHECK: func.call @declared(%x) : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda0>
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func @calls_declared(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %0 = func.call @declared(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// Condition, branches and result of an `if` are on one device; what is above may come from another.
//
// CHECK-LABEL: @branches
// CHECK-SAME:      (%c: tensor<i1, #cpu0>, %x: tensor<4xf32, #cpu0>, %y: tensor<4xf32, #cuda0>)
// CHECK:         relay.if %c : tensor<i1, #cpu0> -> (tensor<4xf32, #cpu0>) {
// CHECK:           relay.exp %x
// CHECK:         } else {
// CHECK:           %[[Y:.*]] = relay.tanh %y : {{.*}} -> tensor<4xf32, #cuda0>
// CHECK-NEXT:      %[[C:.*]] = relay.device_copy %[[Y]] : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
// CHECK-NEXT:      relay.yield %[[C]]
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}) {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    %1 = relay.tanh %y : (tensor<4xf32>) -> tensor<4xf32>
    %2 = relay.on_device %1, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// A kernel has no devices: what is in it is left alone, constants too.
//
// CHECK-LABEL: relay.prim_func @kernel
// CHECK-NEXT:    relay.constant dense<1.000000e+00> : tensor<f32>{{$}}
// CHECK-LABEL: @kernels_are_closed
// CHECK:         relay.call_lowered @kernel(%x) : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %one = relay.constant dense<1.0> : tensor<f32>
  %y = relay.add %a, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
func.func @kernels_are_closed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.call_lowered @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// An op of another dialect that says nothing about devices is planned as an operator is.
//
// CHECK-LABEL: @foreign
// CHECK-SAME:      (%x: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
// CHECK:         "test.op"(%x) : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
func.func @foreign(%x: tensor<4xf32>) -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}) {
  %y = "test.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A function may have any name.
//
// CHECK-LABEL: @calls_it
// CHECK:         func.call @"{braces}"(%{{.*}}) : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
func.func @"{braces}"(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @calls_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @"{braces}"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
