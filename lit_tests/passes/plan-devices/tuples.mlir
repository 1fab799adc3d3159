// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A projection is where its tuple is, and the other way round.
//
// CHECK-LABEL: func.func @projection_tells_the_tuple
// CHECK-SAME:  (%t: tuple<[[CPU:tensor<4xf32, #cpu0>]], [[CPU]]>, %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %a = relay.tuple_get_item %t[0] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %b = relay.tuple_get_item %t[1] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %a : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]]
func.func @projection_tells_the_tuple(%t: tuple<tensor<4xf32>, tensor<4xf32>>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %b = relay.tuple_get_item %t[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %hint = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A tuple that is hinted as a whole is copied as a whole.
//
// CHECK-LABEL: func.func @tuple_copied_whole
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> tuple<[[GPU:tensor<4xf32, #cuda0>]], [[GPU]]>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %t = relay.tuple %[[A]], %y : {{.*}} -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %t : tuple<[[CPU]], [[CPU]]> to tuple<[[GPU]], [[GPU]]>
// CHECK-NEXT:    func.return %[[B]]
func.func @tuple_copied_whole(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple %exp, %y : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %hint = relay.on_device %t, #relay.device<cpu:0> : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %hint : tuple<tensor<4xf32>, tensor<4xf32>>
}

// -----

// The tuple that an operator takes is its operands: of a hinted one each field is copied.
//
// CHECK-LABEL: func.func @tuple_of_an_operator
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[GPU:tensor<8xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.tuple %[[A]], %y : {{.*}} -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[C:.*]] = relay.tuple_get_item %[[B]][0] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[C]] : [[CPU]] to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %[[E:.*]] = relay.tuple_get_item %[[B]][1] : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[F:.*]] = relay.device_copy %[[E]] : [[CPU]] to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %[[H:.*]] = relay.concatenate %[[D]], %[[F]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[H]]
func.func @tuple_of_an_operator(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %tuple = relay.tuple %exp, %y : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %hint = relay.on_device %tuple, #relay.device<cpu:0> : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %field = relay.tuple_get_item %hint[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %field_1 = relay.tuple_get_item %hint[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %concatenate = relay.concatenate %field, %field_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %concatenate : tensor<8xf32>
}

// -----

// The results of an operator with several are on one device.
//
// CHECK-LABEL: func.func @tuple_of_results
// CHECK-SAME:  (%x: tensor<4xf32, #cpu0>, %y: [[GPU:tensor<2xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:[a-z0-9_]+]], %{{[a-z0-9_]+}} = relay.split %x {indices_or_sections = 2 : i64} : {{.*}} -> ([[CPU:tensor<2xf32, #cpu0>]], [[CPU]])
// CHECK-NEXT:    %[[B:[a-z0-9_]+]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:[a-z0-9_]+]] = relay.multiply %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[D:[a-z0-9_]+]] = relay.add %[[C]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[D]]
func.func @tuple_of_results(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %split, %split_1 = relay.split %x {indices_or_sections = 2 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %hint = relay.on_device %split, #relay.device<cpu:0> : (tensor<2xf32>) -> tensor<2xf32>
  %multiply = relay.multiply %hint, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %add = relay.add %multiply, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %add : tensor<2xf32>
}

// -----

// A tuple is on one device with all its fields: the hint on one field says where the other is.
//
// CHECK-LABEL: func.func @tuple_on_one_device
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.tuple %[[A]], %y : {{.*}} -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    func.return %[[B]]
func.func @tuple_on_one_device(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %tuple = relay.tuple %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %tuple : tuple<tensor<4xf32>, tensor<4xf32>>
}

// -----

// A hint on one field of the tuple that an operator takes says nothing about the others.
//
// CHECK-LABEL: func.func @tuple_operand_hinted
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> tensor<8xf32, #cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.concatenate %[[B]], %y : {{.*}} -> tensor<8xf32, #cuda0>
// CHECK-NEXT:    func.return %[[C]]
func.func @tuple_operand_hinted(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %concatenate = relay.concatenate %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %concatenate : tensor<8xf32>
}
