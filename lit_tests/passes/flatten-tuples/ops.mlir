// RUN: xrelay-opt --split-input-file -p flatten-tuples %s | filecheck %s

// Branches yield fields, also of nested branches.
//
// CHECK-LABEL: @branches
// CHECK:         %[[R:.*]], %[[S:.*]] = relay.if %{{.*}} : tensor<i1> -> (tensor<2xf32>, tensor<3xf32>) {
// CHECK-NEXT:      %[[Q:.*]], %[[P:.*]] = relay.if %{{.*}} : tensor<i1> -> (tensor<2xf32>, tensor<3xf32>) {
// CHECK-NEXT:        relay.yield %[[A:.*]], %[[B:.*]] : tensor<2xf32>, tensor<3xf32>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        relay.yield %[[A]], %[[B]]
// CHECK-NEXT:      }
// CHECK-NEXT:      relay.yield %[[Q]], %[[P]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %[[A]], %[[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[S]]
func.func @branches(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %t = relay.tuple %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  %r = relay.if %c : tensor<i1> -> (tuple<tensor<2xf32>, tensor<3xf32>>) {
    %q = relay.if %c : tensor<i1> -> (tuple<tensor<2xf32>, tensor<3xf32>>) {
      relay.yield %t : tuple<tensor<2xf32>, tensor<3xf32>>
    } else {
      relay.yield %t : tuple<tensor<2xf32>, tensor<3xf32>>
    }
    relay.yield %q : tuple<tensor<2xf32>, tensor<3xf32>>
  } else {
    relay.yield %t : tuple<tensor<2xf32>, tensor<3xf32>>
  }
  %0 = relay.tuple_get_item %r[1] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// -----

// A hint at a tuple is one at each field that is used.
//
// CHECK-LABEL: @hints
// CHECK:         %[[A:.*]] = relay.on_device %a, #cpu0 {constrain_result = true}
// CHECK:         func.return %[[A]]
func.func @hints(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  %t = relay.tuple %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  %h = relay.on_device %t, #relay.device<cpu:0> {constrain_result = true} : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  %0 = relay.tuple_get_item %h[0] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A copy of a tuple to a device is one of each field.
//
// CHECK-LABEL: @copies
// CHECK:         %[[A:.*]] = relay.device_copy %a : tensor<2xf32, #cpu0> to tensor<2xf32, #cuda0>
// CHECK:         func.return %[[A]]
func.func @copies(%a: tensor<2xf32, #relay.device<cpu:0>>) -> tensor<2xf32, #relay.device<cuda:0>> {
  %t = relay.tuple %a : (tensor<2xf32, #relay.device<cpu:0>>) -> tuple<tensor<2xf32, #relay.device<cpu:0>>>
  %h = relay.device_copy %t : tuple<tensor<2xf32, #relay.device<cpu:0>>> to tuple<tensor<2xf32, #relay.device<cuda:0>>>
  %0 = relay.tuple_get_item %h[0] : (tuple<tensor<2xf32, #relay.device<cuda:0>>>) -> tensor<2xf32, #relay.device<cuda:0>>
  func.return %0 : tensor<2xf32, #relay.device<cuda:0>>
}
