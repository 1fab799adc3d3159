// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A hint constrains its operand, its result, both or neither; defaults are not printed.
//
// CHECK-LABEL: @hints
// CHECK:         relay.on_device %x, #cpu0 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         relay.on_device %x, #cpu0 {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         relay.on_device %x, #cpu0 {constrain_body = false, constrain_result = true} :
// CHECK:         relay.on_device %x, #device {constrain_body = false} :
// CHECK:         relay.on_device %t, #cuda1 : (tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>>
// CHECK:         relay.on_device %x, #cpu0 {note} : (tensor<4xf32>) -> !relay.incomplete
func.func @hints(%x: tensor<4xf32>, %t: tuple<tensor<4xf32>>) {
  %a = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.on_device %x, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.on_device %x, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.on_device %t, #relay.device<cuda:1> : (tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>>
  %f = relay.on_device %x, #relay.device<cpu:0> {note} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

// A copy goes from the device of its operand's type to that of its result's.
//
// CHECK-LABEL: @copies
// CHECK:         relay.device_copy %x : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK:         relay.device_copy %t {note} : tuple<tensor<4xf32, #cuda0>> to tuple<tensor<4xf32, #cpu0>>
func.func @copies(%x: tensor<4xf32, #relay.device<cpu:0>>, %t: tuple<tensor<4xf32, #relay.device<cuda:0>>>) {
  %a = relay.device_copy %x : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  %b = relay.device_copy %t {note} : tuple<tensor<4xf32, #relay.device<cuda:0>>> to tuple<tensor<4xf32, #relay.device<cpu:0>>>
  func.return
}
