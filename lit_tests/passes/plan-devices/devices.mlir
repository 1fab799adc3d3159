// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Wishes about type, number, memory scope and target that go together become one device.
//
// CHECK-LABEL: func.func @device_fields_join
// CHECK-SAME:  (%a: tensor<4xf32, #cpu1_llvm_texture>, %b: tensor<4xf32, #cpu1_llvm_texture>, %c: tensor<4xf32, #cpu1_llvm_texture>, %d: tensor<4xf32, #cpu1_llvm_texture>) -> tensor<4xf32, #cpu1_llvm_texture>
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> tensor<4xf32, #cpu1_llvm_texture>
// CHECK-NEXT:    %[[B:.*]] = relay.add %c, %d : {{.*}} -> tensor<4xf32, #cpu1_llvm_texture>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[A]], %[[B]] : {{.*}} -> tensor<4xf32, #cpu1_llvm_texture>
// CHECK-NEXT:    func.return %[[C]]
func.func @device_fields_join(%a: tensor<4xf32> {relay.device = #relay.device<cpu>}, %b: tensor<4xf32> {relay.device = #relay.device<?:1>}, %c: tensor<4xf32> {relay.device = #relay.device<?, scope = "texture">}, %d: tensor<4xf32> {relay.device = #relay.device<?, target = "llvm">}) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %add_1 = relay.add %c, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %add_2 = relay.add %add, %add_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add_2 : tensor<4xf32>
}

// -----

// A device without a type is completed by the default one.
//
// CHECK-LABEL: func.func @device_number_only
// CHECK-SAME:  (%x: tensor<4xf32, #cuda2>, %y: tensor<4xf32, #cuda2>) -> tensor<4xf32, #cuda2>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> tensor<4xf32, #cuda2>
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %y : {{.*}} -> tensor<4xf32, #cuda2>
// CHECK-NEXT:    func.return %[[B]]
func.func @device_number_only(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<?:2> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A memory scope is part of a device: leaving it copies, on one device, too.
//
// CHECK-LABEL: func.func @device_scope_is_kept
// CHECK-SAME:  (%a: tensor<4xf32, #cuda0_texture>, %b: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> tensor<4xf32, #cuda0_texture>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<4xf32, #cuda0_texture> to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @device_scope_is_kept(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<?, scope = "texture"> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %b, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// Between two memory scopes of one device there is a copy.
//
// CHECK-LABEL: func.func @device_scopes_differ
// CHECK-SAME:  (%a: tensor<4xf32, #cuda0_global>, %b: tensor<4xf32, #cuda0_texture>) -> tensor<4xf32, #cuda0_texture>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> tensor<4xf32, #cuda0_global>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<4xf32, #cuda0_global> to tensor<4xf32, #cuda0_texture>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %b : {{.*}} -> tensor<4xf32, #cuda0_texture>
// CHECK-NEXT:    func.return %[[C]]
func.func @device_scopes_differ(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cuda:0, scope = "global"> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %b, #relay.device<cuda:0, scope = "texture"> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %hint_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}

// -----

// A device without a number is number 0 of its type when the default is of another type.
//
// CHECK-LABEL: func.func @device_type_only
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[C]]
func.func @device_type_only(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %exp = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
