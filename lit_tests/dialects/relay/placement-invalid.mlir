// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Hints name a device; hints and copies change nothing but the device.

func.func @hint_on_nothing(%x: tensor<4xf32>) {
  // expected-error@+1 {{a constraining hint must name a device}}
  %a = relay.on_device %x, #relay.device<?> : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @hint_changes_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{the result of relay.on_device must have its operand's type, tensor<4xf32>, but is declared as tensor<5xf32>}}
  %a = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @copy_from_nowhere(%x: tensor<4xf32>) {
  // expected-error@+1 {{the operand of relay.device_copy must name one device, but is tensor<4xf32>}}
  %a = relay.device_copy %x : tensor<4xf32> to tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

func.func @copy_to_nowhere(%x: tensor<4xf32, #relay.device<cuda:0>>) {
  // expected-error@+1 {{the result of relay.device_copy must name one device, but is tensor<4xf32>}}
  %a = relay.device_copy %x : tensor<4xf32, #relay.device<cuda:0>> to tensor<4xf32>
  func.return
}

// -----

func.func @copy_changes_type(%x: tensor<4xf32, #relay.device<cuda:0>>) {
  // expected-error@+1 {{the result of relay.device_copy must have its operand's type, tensor<4xf32, #relay.device<cuda:0>>, but is declared as tensor<4xi32, #relay.device<cpu:0>>}}
  %a = relay.device_copy %x : tensor<4xf32, #relay.device<cuda:0>> to tensor<4xi32, #relay.device<cpu:0>>
  func.return
}

// -----

func.func @copy_of_a_function(%f: (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{relay.device_copy copies tensors and tuples of them, not (tensor<4xf32, #relay.device<cpu:0>>) ->}}
  %a = relay.device_copy %f : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>> to (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

func.func @copy_from_two_devices(%t: tuple<tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #relay.device<cpu:0>>>) {
  // expected-error@+1 {{the operand of relay.device_copy must name one device, but is tuple<tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #relay.device<cpu:0>>>}}
  %a = relay.device_copy %t : tuple<tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #relay.device<cpu:0>>> to tuple<tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cpu:0>>>
  func.return
}
