// RUN: xrelay-opt -p 'plan-devices{default=cuda:0}' --split-input-file %s | filecheck %s

// Where the program names one target of a device type, devices of this type have it: no copy is needed.
//
// CHECK:         [[D:#.*]] = #relay.device<cuda:0, target = "cuda -arch=sm_80">
// CHECK-LABEL: @one_target
// CHECK-NEXT:    relay.negative %x : {{.*}} -> tensor<4xf32, [[D]]>
// CHECK-NEXT:    relay.exp {{.*}} -> tensor<4xf32, [[D]]>
func.func @one_target(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.on_device %x, #relay.device<cuda:0, target = "cuda -arch=sm_80"> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// Of two targets, none is that of other devices.
//
// CHECK:         [[D:#.*]] = #relay.device<cuda:0>
// CHECK-LABEL: @two_targets
// CHECK:         relay.negative {{.*}} -> tensor<4xf32, [[D]]>
func.func @two_targets(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.on_device %x, #relay.device<cuda:1, target = "cuda -arch=sm_80"> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.on_device %y, #relay.device<cuda:1, target = "cuda -arch=sm_90"> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relay.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}
