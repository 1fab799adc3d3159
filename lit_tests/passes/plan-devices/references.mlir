// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// What reads and writes cells stays in order around the copies.
//
// CHECK-LABEL: func.func @effects_stay_in_order
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %r = relay.ref_create %x : {{.*}} -> !relay.ref<[[CPU]]>
// CHECK-NEXT:    %a = relay.ref_read %r : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %u = relay.ref_write %r, %[[A]] : {{.*}} -> tuple<>
// CHECK-NEXT:    %b = relay.ref_read %r : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %b : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[B]], %[[C]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @effects_stay_in_order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %a = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %u = relay.ref_write %r, %exp : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  %b = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %b, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A reference, what it is made with, what is written into it and what is read from it are on one device.
//
// CHECK-LABEL: func.func @reference_on_one_device
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]], %z: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %r = relay.ref_create %x : {{.*}} -> !relay.ref<[[CPU]]>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %u = relay.ref_write %r, %[[A]] : {{.*}} -> tuple<>
// CHECK-NEXT:    %v = relay.ref_read %r : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %v : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %z : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @reference_on_one_device(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %exp = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %u = relay.ref_write %r, %exp : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  %v = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %hint = relay.on_device %v, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// The result of a write is where the reference is: it makes the function's result, and so its parameters.
//
// CHECK-LABEL: func.func @reference_unit_result
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]], %z: [[CPU]]) -> tuple<>
// CHECK-NEXT:    %r = relay.ref_create %x : {{.*}} -> !relay.ref<[[CPU]]>
// CHECK-NEXT:    %[[A:.*]] = relay.ref_write %r, %y : {{.*}} -> tuple<>
// CHECK-NEXT:    func.return %[[A]]
func.func @reference_unit_result(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tuple<> {
  %hint = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.ref_create %hint : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %write = relay.ref_write %r, %y : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  func.return %write : tuple<>
}

// -----

// What is written into a reference is copied there when it is hinted elsewhere.
//
// CHECK-LABEL: func.func @reference_written_from_elsewhere
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]], %y: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU]]
// CHECK-NEXT:    %r = relay.ref_create %x : {{.*}} -> !relay.ref<[[GPU]]>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %u = relay.ref_write %r, %[[B]] : {{.*}} -> tuple<>
// CHECK-NEXT:    %[[C:.*]] = relay.ref_read %r : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @reference_written_from_elsewhere(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %exp = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %u = relay.ref_write %r, %hint : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  %read = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  func.return %read : tensor<4xf32>
}
