// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A projection of a projection passes a hint, too.
//
// CHECK-LABEL: func.func @hint_after_nested_projection
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.negative %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.tuple %[[A]], %[[B]] : {{.*}} -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[D:.*]] = relay.tuple %[[C]], %y : {{.*}} -> tuple<tuple<[[CPU]], [[CPU]]>, [[CPU]]>
// CHECK-NEXT:    %[[E:.*]] = relay.tuple_get_item %[[D]][0] : {{.*}} -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[F:.*]] = relay.tuple_get_item %[[E]][1] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[H:.*]] = relay.device_copy %[[F]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[I:.*]] = relay.tanh %[[H]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[I]]
func.func @hint_after_nested_projection(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %negative = relay.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %tuple = relay.tuple %exp, %negative : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %tuple_1 = relay.tuple %tuple, %y : (tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>) -> tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>
  %hint = relay.on_device %tuple_1, #relay.device<cpu:0> : (tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>) -> tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>
  %field = relay.tuple_get_item %hint[0] : (tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %field_1 = relay.tuple_get_item %field[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %tanh = relay.tanh %field_1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %tanh : tensor<4xf32>
}

// -----

// Project, then copy: of a hinted tuple only the fields that are used move.
//
// CHECK-LABEL: func.func @hint_after_projection
// CHECK-SAME:  (%x: tensor<3x3x4xf32, #cpu0>) -> [[GPU:tensor<1x3x4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:[a-z0-9_]+]], %[[B:[a-z0-9_]+]], %[[C:[a-z0-9_]+]] = relay.split %x {indices_or_sections = 3 : i64} : {{.*}} -> ([[CPU:tensor<1x3x4xf32, #cpu0>]], [[CPU]], [[CPU]])
// CHECK-NEXT:    %t = relay.tuple %[[A]], %[[B]], %[[C]] : {{.*}} -> tuple<[[CPU]], [[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[D:[a-z0-9_]+]] = relay.tuple_get_item %t[0] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[E:[a-z0-9_]+]] = relay.device_copy %[[D]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[F:[a-z0-9_]+]] = relay.tuple_get_item %t[1] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[H:[a-z0-9_]+]] = relay.device_copy %[[F]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[I:[a-z0-9_]+]] = relay.subtract %[[E]], %[[H]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[I]]
func.func @hint_after_projection(%x: tensor<3x3x4xf32>) -> tensor<1x3x4xf32> {
  %split, %split_1, %split_2 = relay.split %x {indices_or_sections = 3 : i64} : (tensor<3x3x4xf32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
  %t = relay.tuple %split, %split_1, %split_2 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>
  %hint = relay.on_device %t, #relay.device<cpu:0> : (tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>) -> tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>
  %hint_1 = relay.on_device %t, #relay.device<cpu:0> : (tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>) -> tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>
  %field = relay.tuple_get_item %hint[0] : (tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>) -> tensor<1x3x4xf32>
  %field_1 = relay.tuple_get_item %hint_1[1] : (tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>) -> tensor<1x3x4xf32>
  %subtract = relay.subtract %field, %field_1 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %hint_2 = relay.on_device %subtract, #relay.device<cuda:0> : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return %hint_2 : tensor<1x3x4xf32>
}

// -----

// A value that is used with and without its hint holds both uses where the hint says.
//
// CHECK-LABEL: func.func @hint_beside_a_use
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.subtract %[[A]], %[[A]] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @hint_beside_a_use(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %subtract = relay.subtract %add, %hint : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %subtract : tensor<4xf32>
}

// -----

// Hints on both operands of an operator say nothing about the operator.
//
// CHECK-LABEL: func.func @hint_both_operands
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]], %c: [[CPU]], %d: [[CPU]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %c, %d : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[C]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.subtract %[[B]], %[[D]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]]
func.func @hint_both_operands(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add_1 = relay.add %c, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %add_1, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %subtract = relay.subtract %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %subtract : tensor<4xf32>
}

// -----

// A hint on both sides of a tuple stays before the projection, and holds what comes after it.
//
// CHECK-LABEL: func.func @hint_fixed_before_projection
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.negative %y : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.tuple %[[A]], %[[B]] : {{.*}} -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[D:.*]] = relay.tuple_get_item %[[C]][0] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.tanh %[[D]] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[E]]
func.func @hint_fixed_before_projection(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %negative = relay.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %tuple = relay.tuple %exp, %negative : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %hint = relay.on_device %tuple, #relay.device<cpu:0> {constrain_result = true} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %field = relay.tuple_get_item %hint[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %tanh = relay.tanh %field : (tensor<4xf32>) -> tensor<4xf32>
  func.return %tanh : tensor<4xf32>
}

// -----

// A hint on both sides holds what is computed from it, too: there is nothing to copy.
//
// CHECK-LABEL: func.func @hint_fixed
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @hint_fixed(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A hint on one operand moves what it is computed from, and a copy brings it back.
//
// CHECK-LABEL: func.func @hint_moves_operands
// CHECK-SAME:  (%a: [[CPU:tensor<5x7xf32, #cpu0>]], %b: [[CPU]], %c: [[GPU:tensor<5x7xf32, #cuda0>]], %d: [[GPU]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %c, %d : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.subtract %[[B]], %[[C]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @hint_moves_operands(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %add = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %add_1 = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %subtract = relay.subtract %hint, %add_1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %subtract : tensor<5x7xf32>
}

// -----

// Two equal hints in a row copy once.
//
// CHECK-LABEL: func.func @hint_on_a_hint_equal
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @hint_on_a_hint_equal(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A hint on a hint copies both ways, even when both ends are on one device.
//
// CHECK-LABEL: func.func @hint_on_a_hint
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : [[GPU]] to [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.add %[[C]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @hint_on_a_hint(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %hint, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_2 = relay.on_device %b, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint_1, %hint_2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A hint on the device that would be the default one anyway leaves nothing.
//
// CHECK-LABEL: func.func @hint_on_default_device
// CHECK-SAME:  (%a: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.tanh %[[A]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @hint_on_default_device(%a: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %tanh = relay.tanh %hint : (tensor<4xf32>) -> tensor<4xf32>
  func.return %tanh : tensor<4xf32>
}

// -----

// A hint on its result only copies what is elsewhere.
//
// CHECK-LABEL: func.func @hint_result_only_copies
// CHECK-SAME:  (%a: [[GPU:tensor<4xf32, #cuda0>]], %b: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[GPU]] to [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @hint_result_only_copies(%a: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A hint that says where its result is is one copy there, however many use it.
//
// CHECK-LABEL: func.func @hint_result_only_used_twice
// CHECK-SAME:  (%a: [[GPU:tensor<4xf32, #cuda0>]], %b: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[GPU]] to [[CPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.subtract %[[B]], %[[B]] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @hint_result_only_used_twice(%a: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %subtract = relay.subtract %hint, %hint : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %subtract : tensor<4xf32>
}

// -----

// A hint on its result only leaves its operand open, which then is where the result is.
//
// CHECK-LABEL: func.func @hint_result_only
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @hint_result_only(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_body = false, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Two hints on one value are two copies.
//
// CHECK-LABEL: func.func @hint_twice
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.subtract %[[B]], %[[C]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @hint_twice(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %subtract = relay.subtract %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %subtract : tensor<4xf32>
}

// -----

// A hint is a copy for each use; share-device-copies is another pass.
//
// CHECK-LABEL: func.func @hint_used_twice
// CHECK-SAME:  (%a: [[CPU:tensor<4xf32, #cpu0>]], %b: [[CPU]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.subtract %[[B]], %[[D]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @hint_used_twice(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %add, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %subtract = relay.subtract %hint, %hint : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %subtract : tensor<4xf32>
}
