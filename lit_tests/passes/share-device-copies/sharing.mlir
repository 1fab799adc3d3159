// RUN: xrelay-opt --split-input-file -p share-device-copies %s | filecheck %s

// Two equal copies in a block become one.
//
// CHECK-LABEL: @twice
// CHECK:         %[[C:.*]] = relay.device_copy
// CHECK-NEXT:    relay.add %[[C]], %[[C]]
func.func @twice(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %a = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %b = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %y = relay.add %a, %b : (tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return %y : tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// Copies to different devices stay apart.
//
// CHECK-LABEL: @elsewhere
// CHECK:         relay.device_copy
// CHECK:         relay.device_copy
func.func @elsewhere(%x: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %a = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %b = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:1>>
  "test.op"(%b) : (tensor<4xf32, #relay.device<cuda:1>>) -> ()
  func.return %a : tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// A branch uses the copy made before it; copies in two branches stay where they are.
//
// CHECK-LABEL: @branches
// CHECK:         %[[A:.*]] = relay.device_copy %x
// CHECK:         relay.if
// CHECK-NEXT:      %[[B:.*]] = relay.device_copy %z
// CHECK-NEXT:      relay.add %[[A]], %[[B]]
// CHECK:         else
// CHECK-NEXT:      relay.device_copy %z
func.func @branches(%c: tensor<i1, #relay.device<cuda:0>>, %x: tensor<4xf32, #relay.device<cpu:0>>, %z: tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %a = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  "test.op"(%a) : (tensor<4xf32, #relay.device<cuda:0>>) -> ()
  %r = relay.if %c : tensor<i1, #relay.device<cuda:0>> -> (tensor<4xf32, #relay.device<cuda:0>>) {
    %d = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
    %e = relay.device_copy %z : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
    %s = relay.add %d, %e : (tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
    relay.yield %s : tensor<4xf32, #relay.device<cuda:0>>
  } else {
    %e = relay.device_copy %z : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
    relay.yield %e : tensor<4xf32, #relay.device<cuda:0>>
  }
  func.return %r : tensor<4xf32, #relay.device<cuda:0>>
}
