// RUN: xrelay-opt --split-input-file -p materialize-device-copies %s | filecheck %s

// A constant without a device becomes one for each device that its hints name.
//
// CHECK-LABEL: func.func @two_devices
// CHECK-DAG:     %[[A:.*]] = relay.constant dense<1.000000e+00> : tensor<4xf32> on #cpu0
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<1.000000e+00> : tensor<4xf32> on #cuda0
// CHECK-NOT:     relay.constant
// CHECK:         func.return %[[A]], %[[B]], %[[A]]
func.func @two_devices() -> (tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #relay.device<cpu:0>>) {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %x = relay.on_device %c, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32, #relay.device<cpu:0>>
  %y = relay.on_device %c, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32, #relay.device<cuda:0>>
  %z = relay.on_device %c, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return %x, %y, %z : tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #relay.device<cpu:0>>
}

// -----

// A constant without a device and without a use is removed.
//
// CHECK-LABEL: func.func @unused
// CHECK-NEXT:    func.return
func.func @unused() {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  func.return
}

// -----

// A hint of a constant that has a device is a copy.
//
// CHECK-LABEL: func.func @hinted
// CHECK-NEXT:    %[[C:.*]] = relay.constant
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[C]]
// CHECK-NEXT:    func.return %[[D]]
func.func @hinted() -> tensor<4xf32, #relay.device<cuda:0>> {
  %c = relay.constant dense<1.0> : tensor<4xf32> on #relay.device<cpu:0>
  %x = relay.on_device %c, #relay.device<cpu:0> : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return %x : tensor<4xf32, #relay.device<cuda:0>>
}

// -----

// Constants of kernels have no device.
//
// CHECK-LABEL: relay.prim_func @kernel
// CHECK-NEXT:    relay.constant dense<1.000000e+00> : tensor<4xf32>{{$}}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %unused = relay.constant dense<1.0> : tensor<4xf32>
  relay.yield %a : tensor<4xf32>
}
