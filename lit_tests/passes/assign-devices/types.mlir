// RUN: xrelay-opt --split-input-file -p 'solve-devices{default=cuda:0},assign-devices' %s | filecheck %s

// Devices of annotations move into types and signatures; a hint stays, with a device on each side.
//
// CHECK-LABEL: func.func @hint_stays
// CHECK-SAME:      (%x: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda0> {
// CHECK-NEXT:    %[[Y:.*]] = relay.tanh %x : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
// CHECK-NEXT:    %[[H:.*]] = relay.on_device %[[Y]], #cpu0 : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda0>
// CHECK-NEXT:    func.return %[[H]] : tensor<4xf32, #cuda0>
func.func @hint_stays(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %y = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %h : tensor<4xf32>
}

// -----

// The annotations of closures and storage are erased: their types say the same.
//
// CHECK-LABEL: func.func @annotations
// CHECK-NEXT:    relay.fn (%{{.*}}: tensor<4xf32, #cpu1>) -> tensor<4xf32, #cpu1> {
// CHECK:         memory.alloc_storage 16 align 64 : !memory.storage<#cpu2>
func.func @annotations() {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {result_device = #relay.device<cpu:1>} {
    relay.yield %a : tensor<4xf32>
  }
  %s = memory.alloc_storage 16 align 64 on #relay.device<cpu:2> : !memory.storage
  func.return
}

// -----

// A constant that is used on one device is there; an unused one has no device.
//
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<1.000000e+00> : tensor<4xf32> on #cuda0
// CHECK-NEXT:    %{{.*}} = relay.constant dense<2.000000e+00> : tensor<4xf32>{{$}}
// CHECK-NEXT:    relay.add %[[C]], %[[C]]
func.func @constants() -> tensor<4xf32> {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %unused = relay.constant dense<2.0> : tensor<4xf32>
  %y = relay.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A constant that is used on several devices has none, and is hinted before each use.
//
// CHECK-LABEL: func.func @constant_on_two_devices
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<1.000000e+00> : tensor<4xf32>{{$}}
// CHECK-NEXT:    %[[A:.*]] = relay.on_device %[[C]], #cpu0 {{.*}} : (tensor<4xf32>) -> tensor<4xf32, #cpu0>
// CHECK-NEXT:    relay.add %x, %[[A]]
// CHECK-NEXT:    %[[B:.*]] = relay.on_device %[[C]], #cuda0 {{.*}} : (tensor<4xf32>) -> tensor<4xf32, #cuda0>
// CHECK-NEXT:    relay.add %y, %[[B]]
func.func @constant_on_two_devices(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32>) {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %a = relay.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.add %y, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
