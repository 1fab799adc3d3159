// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Free hints come last: a hint further down has decided before.
//
// CHECK-LABEL: func.func @hint_free_after_all_constraints
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %x = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %x : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @hint_free_after_all_constraints(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %x = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %x, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A free hint is applied after a projection, too: only the field that is used is copied.
//
// CHECK-LABEL: func.func @hint_free_after_projection
// CHECK-SAME:  (%t: tuple<[[GPU:tensor<4xf32, #cuda0>]], [[GPU]]>, %y: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.tuple_get_item %t[1] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[GPU]] to [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @hint_free_after_projection(%t: tuple<tensor<4xf32>, tensor<4xf32>> {relay.device = #relay.device<cuda:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %hint = relay.on_device %t, #relay.device<?> {constrain_body = false} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %field = relay.tuple_get_item %hint[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %add = relay.add %field, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A free hint whose two sides are on two devices copies.
//
// CHECK-LABEL: func.func @hint_free_copies
// CHECK-SAME:  (%a: [[GPU:tensor<4xf32, #cuda0>]], %b: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[GPU]] to [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @hint_free_copies(%a: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Free hints are tried in the order of the text: the first takes %0 to its device, the second has to copy.
//
// CHECK-LABEL: func.func @hint_free_in_order
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]], %c: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %first = relay.add %[[A]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %second = relay.add %[[B]], %c : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %first : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.tanh %[[C]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @hint_free_in_order(%a: tensor<4xf32>, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %c: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %first = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %exp, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %second = relay.add %hint_1, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint_2 = relay.on_device %first, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %tanh = relay.tanh %hint_2 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %tanh : tensor<4xf32>
}

// -----

// A free hint joins its two sides: %a is where %b is annotated to be.
//
// CHECK-LABEL: func.func @hint_free_joins
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @hint_free_joins(%a: tensor<4xf32>, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
