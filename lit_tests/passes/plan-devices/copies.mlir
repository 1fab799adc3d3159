// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Each use that is hinted copies for itself, also inside of branches.
//
// CHECK-LABEL: func.func @copy_in_branches
// CHECK-SAME:  (%c: tensor<i1, #cuda0>, %a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.if %c : tensor<i1, #cuda0> -> ([[GPU]]) {
// CHECK-NEXT:      %[[C:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[D:.*]] = relay.add %[[C]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[D]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[E:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:      %[[F:.*]] = relay.multiply %[[E]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:      relay.yield %[[F]]
// CHECK:         func.return %[[B]]
func.func @copy_in_branches(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %if = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %add : tensor<4xf32>
  } else {
    %hint_1 = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %multiply = relay.multiply %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %multiply : tensor<4xf32>
  }
  func.return %if : tensor<4xf32>
}

// -----

// A copy of a copy stays, even back to where it came from (TVM makes one of two, or none).
//
// CHECK-LABEL: func.func @copy_of_a_copy
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : [[GPU]] to [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[C]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @copy_of_a_copy(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cuda:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_2 = relay.on_device %hint_1, #relay.device<cuda:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_3 = relay.on_device %hint_2, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_3, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A copy between two devices does not pass the default one.
//
// CHECK-LABEL: func.func @copy_past_the_default
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: tensor<4xf32, #cpu1>, %c: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to tensor<4xf32, #cpu1>
// CHECK-NEXT:    %d = relay.add %[[B]], %b : {{.*}} -> tensor<4xf32, #cpu1>
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %d : tensor<4xf32, #cpu1> to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[C]], %c : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @copy_past_the_default(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cpu:1> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.add %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint_2 = relay.on_device %d, #relay.device<cpu:1> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_2, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A copy that is in the program says where its two sides are, and stays.
//
// CHECK-LABEL: func.func @copy_stays
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @copy_stays(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cuda:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A copy goes when its two sides turn out to be one device.
//
// CHECK-LABEL: func.func @copy_to_itself_when_completed
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @copy_to_itself_when_completed(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A copy from a device to itself goes.
//
// CHECK-LABEL: func.func @copy_to_itself
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @copy_to_itself(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A copy in the IR goes when its two types turn out to be on one device.
//
// CHECK-LABEL: @copy_to_itself
// CHECK-NEXT:    %[[Y:.*]] = relay.exp %a
// CHECK-NEXT:    func.return %[[Y]] : tensor<4xf32, #cuda0>
func.func @copy_to_itself(%a: tensor<4xf32>) -> tensor<4xf32, #relay.device<cuda:0>> {
  %y = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32, #relay.device<cuda>>
  %c = relay.device_copy %y : tensor<4xf32, #relay.device<cuda>> to tensor<4xf32, #relay.device<cuda:0>>
  func.return %c : tensor<4xf32, #relay.device<cuda:0>>
}
