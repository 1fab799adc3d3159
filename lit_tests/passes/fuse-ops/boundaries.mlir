// RUN: xrelay-opt --split-input-file -p fuse-ops %s | filecheck %s

// A value with two users that do not meet again is the root of its primitive.
//
// CHECK-LABEL: @two_users
// CHECK-NEXT:    %[[A:.*]] = relay.primitive({{.*}}) -> (tensor<4xf32>) {
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[B:.*]] = relay.primitive(%{{[^=]*}} = %[[A]] :
// CHECK-NEXT:      relay.tanh
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[C:.*]] = relay.primitive(%{{[^=]*}} = %[[A]] :
// CHECK-NEXT:      relay.negative
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[B]], %[[C]]
func.func @two_users(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// A value that is also returned is the root of its primitive.
//
// CHECK-LABEL: @also_returned
// CHECK-NEXT:    %[[A:.*]] = relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK:         %[[B:.*]] = relay.primitive
// CHECK-NEXT:      relay.tanh
// CHECK:         func.return %[[A]], %[[B]]
func.func @also_returned(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// All results of an operator become results of its primitive.
//
// CHECK-LABEL: @several_results
// CHECK-NEXT:    %[[A:.*]], %[[B:.*]] = relay.primitive(%{{[^=]*}} = %x : tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
// CHECK-NEXT:      %[[C:.*]], %[[D:.*]] = relay.split
// CHECK-NEXT:      relay.yield %[[C]], %[[D]]
// CHECK:         func.return %[[A]], %[[B]]
func.func @several_results(%x: tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %a, %b = relay.split %x {indices_or_sections = array<i64: 2>} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  func.return %a, %b : tensor<2xf32>, tensor<4xf32>
}

// -----

// Nothing is fused across a hint.
//
// CHECK-LABEL: @hint
// CHECK:         relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK:         relay.on_device
// CHECK:         relay.primitive
// CHECK-NEXT:      relay.tanh
func.func @hint(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

// Nothing is fused across a copy, and each primitive is on the device of its operators.
//
// CHECK-LABEL: @copy
// CHECK-NEXT:    %[[A:.*]] = relay.primitive({{.*}}) -> (tensor<4xf32, #cpu0>) {
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK:         %[[B:.*]] = relay.device_copy %[[A]]
// CHECK-NEXT:    relay.primitive(%{{[^=]*}} = %[[B]] : {{.*}}) -> (tensor<4xf32, #cuda0>) {
// CHECK-NEXT:      relay.tanh
func.func @copy(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %a = relay.exp %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %b = relay.device_copy %a : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %c = relay.tanh %b : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return %c : tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// Nothing is fused across a tuple.
//
// CHECK-LABEL: @tuple
// CHECK:         relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK:         relay.tuple %
// CHECK-NEXT:    relay.tuple_get_item
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.tanh
func.func @tuple(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple %a : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  %b = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %c = relay.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

// Each region of a branch is fused by itself.
//
// CHECK-LABEL: @branches
// CHECK:         %[[A:.*]] = relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK:         relay.if %c
// CHECK-NEXT:      relay.primitive(%{{[^=]*}} = %[[A]] :
// CHECK-NEXT:        relay.tanh
// CHECK-NEXT:        relay.negative
// CHECK-NEXT:        relay.yield
// CHECK:           relay.yield
// CHECK:         else
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:         relay.primitive
// CHECK-NEXT:      relay.abs
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %b = relay.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
    %d = relay.negative %b : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %d : tensor<4xf32>
  } else {
    relay.yield %a : tensor<4xf32>
  }
  %y = relay.abs %r : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Existing primitives are left alone.
//
// CHECK-LABEL: @again
// CHECK-NEXT:    relay.primitive
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
