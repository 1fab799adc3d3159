// RUN: xrelay-opt %s -p infer-types,plan-devices --print-ir-after-all -o %t.out 2>&1 | filecheck %s --check-prefix=ALL
// RUN: xrelay-opt %s -p infer-types,plan-devices --print-ir-after=plan-devices -o %t.out 2>&1 | filecheck %s --check-prefix=NAMED

// A pass that is a sequence of passes is shown step by step, and as one only when it is named.
//
// ALL:            IR Dump After sink-device-hints
// ALL:            IR Dump After solve-devices
// ALL:            IR Dump After assign-devices
// ALL:            relay.on_device
// ALL:            IR Dump After materialize-device-copies
// ALL:            relay.device_copy
// ALL:            IR Dump After elide-device-copies
// ALL-NOT:        IR Dump
//
// NAMED-NOT:      IR Dump After elide-device-copies
// NAMED:          IR Dump After plan-devices
// NAMED:          relay.device_copy
func.func @copies(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.on_device %y, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %h : tensor<4xf32>
}
