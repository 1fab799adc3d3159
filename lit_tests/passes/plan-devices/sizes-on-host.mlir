// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Sizes are on the host, and so is what computes them; data is on the default device.
//
// CHECK-LABEL: @sizes
// CHECK-SAME:  (%x: [[GPU:tensor<\?x3xf32, #cuda0>]], %n: [[CPU:tensor<2xi64, #cpu0>]]) -> [[RESULT:tensor<\?x\?xf32, #cuda0>]]
// CHECK-NEXT:    %y = relay.dyn.reshape %x, %n : ([[GPU]], [[CPU]]) -> [[RESULT]]
// CHECK-NEXT:    %s = relay.shape_of %y {dtype = i64} : ([[RESULT]]) -> [[CPU]]
// CHECK-NEXT:    %t = relay.maximum %s, %n : ([[CPU]], [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %o = relay.dyn.ones %t {dtype = f32} : ([[CPU]]) -> [[RESULT]]
// CHECK-NEXT:    %z = relay.add %y, %o : ([[RESULT]], [[RESULT]]) -> [[RESULT]]
func.func @sizes(%x: tensor<?x3xf32>, %n: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = relay.dyn.reshape %x, %n : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %s = relay.shape_of %y {dtype = i64} : (tensor<?x?xf32>) -> tensor<2xi64>
  %t = relay.maximum %s, %n : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %o = relay.dyn.ones %t {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  %z = relay.add %y, %o : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %z : tensor<?x?xf32>
}

// -----

// A size that is computed from data on another device is copied to the host.
//
// CHECK-LABEL: @computed
// CHECK:         %[[N:.*]] = relay.device_copy %{{.*}} : tensor<2xi64, #cuda0> to tensor<2xi64, #cpu0>
// CHECK:         relay.dyn.zeros %[[N]]
func.func @computed(%n: tensor<2xi64>) -> tensor<?x?xf32> {
  %m = relay.multiply %n, %n : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %h = relay.on_device %m, #relay.device<cuda:0> : (tensor<2xi64>) -> tensor<2xi64>
  %y = relay.dyn.zeros %h {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// The data that argwhere looks at is not a size: it is where the result is.
//
// CHECK-LABEL: @places
// CHECK:         relay.argwhere %x : (tensor<4xi1, #cuda0>) -> tensor<?x1xi32, #cuda0>
func.func @places(%x: tensor<4xi1>) -> tensor<?x1xi32> {
  %y = relay.argwhere %x : (tensor<4xi1>) -> tensor<?x1xi32>
  func.return %y : tensor<?x1xi32>
}
