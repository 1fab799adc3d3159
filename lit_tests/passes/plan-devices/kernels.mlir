// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// A lowered call constrains nothing: its result is where it is used, the rest by default.
//
// CHECK-LABEL: func.func @call_lowered_default
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.negative %x : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %a = relay.call_lowered @add(%[[A]], %y) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.exp %a : {{.*}} -> [[CPU]]
// CHECK-NEXT:    func.return %[[B]] : [[CPU]]
func.func @call_lowered_default(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.call_lowered @add(%negative, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %exp, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %add : tensor<4xf32>
}

// -----

// What one lowered call gives another takes where it is.
//
// CHECK-LABEL: func.func @call_lowered_into_a_call
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %a = relay.call_lowered @neg(%x) : {{.*}} -> [[CPU]]
// CHECK-NEXT:    %b = relay.call_lowered @neg(%a) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %b : [[GPU]]
func.func @call_lowered_into_a_call(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %a = relay.call_lowered @neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %a, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.call_lowered @neg(%hint) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// What a kernel wants in a memory scope is there, on whatever device; its other tensors are in any.
//
// CHECK-LABEL: func.func @call_lowered_memory_scopes
// CHECK-SAME:  (%x: tensor<4xf32, #cuda0_texture>, %y: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda0>]]
// CHECK-NEXT:    %[[A:.*]] = relay.call_lowered @add(%x, %y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.call_lowered @add(%x, %[[A]]) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]] : [[GPU]]
func.func @call_lowered_memory_scopes(%x: tensor<4xf32>, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %out = relay.call_lowered @add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %out_1 = relay.call_lowered @add(%x, %out) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %out_1 : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {target = "llvm", scopes = ["texture", "", ""]} {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %add : tensor<4xf32>
}

// -----

// The operands of a lowered call and its result need not be on one device.
//
// CHECK-LABEL: func.func @call_lowered_operands_elsewhere
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %a = relay.call_lowered @add(%x, %y) : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[A]] : [[GPU]]
func.func @call_lowered_operands_elsewhere(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  %a = relay.call_lowered @add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %exp : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %add : tensor<4xf32>
}

// -----

// A memory scope of the result joins with what is known of its device.
//
// CHECK-LABEL: func.func @call_lowered_scope_of_result
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.call_lowered @neg(%x) : {{.*}} -> tensor<4xf32, #cpu0_texture>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<4xf32, #cpu0_texture> to [[CPU]]
// CHECK-NEXT:    func.return %[[B]] : [[CPU]]
func.func @call_lowered_scope_of_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %out = relay.call_lowered @neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %out, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> attributes {scopes = ["", "texture"]} {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// The results of a lowered call need not be on one device with each other; a tuple of them is.
//
// CHECK-LABEL: func.func @call_lowered_several_results
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]], %[[B:.*]] = relay.call_lowered @both(%x) : {{.*}} -> ([[CPU:tensor<4xf32, #cpu0>]], [[GPU]])
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[A]] : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[D:.*]] = relay.exp %[[B]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    %[[E:.*]] = relay.add %[[C]], %[[D]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[E]] : [[GPU]]
func.func @call_lowered_several_results(%x: tensor<4xf32>) -> tensor<4xf32> {
  %out, %out_1 = relay.call_lowered @both(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %hint = relay.on_device %out, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %hint_1 = relay.on_device %out_1, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %exp = relay.exp %hint_1 : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %exp : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
relay.prim_func @both(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative, %exp : tensor<4xf32>, tensor<4xf32>
}

// -----

// A call of nothing but reshapes gives a view, which is where its data is.
//
// CHECK-LABEL: func.func @call_lowered_view
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> tensor<2x2xf32, #cpu0>
// CHECK-NEXT:    %[[A:.*]] = relay.call_lowered @reshape(%x) {reshape_only} : {{.*}} -> tensor<2x2xf32, #cpu0>
// CHECK-NEXT:    func.return %[[A]] : tensor<2x2xf32, #cpu0>
func.func @call_lowered_view(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<2x2xf32> {
  %out = relay.call_lowered @reshape(%x) {reshape_only} : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return %out : tensor<2x2xf32>
}
relay.prim_func @reshape(%a: tensor<4xf32>) -> tensor<2x2xf32> {
  %reshape = relay.reshape %a {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  relay.yield %reshape : tensor<2x2xf32>
}

// -----

// Each branch allocates where what it gives is wanted.
//
// CHECK-LABEL: func.func @vm_invoke_in_branches
// CHECK-SAME:  (%c: tensor<i1, #cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %r = relay.if %c : tensor<i1, #cpu0> -> ([[CPU]]) {
// CHECK-NEXT:      %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:      %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:      %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:      relay.yield %t_1 : [[CPU]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x : [[CPU]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : [[CPU]]
func.func @vm_invoke_in_branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s = memory.alloc_storage 16 align 64 : !memory.storage
    %t = memory.alloc_tensor %s[0] : tensor<4xf32>
    %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %t_1 : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %hint = relay.on_device %r, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// What is written into a parameter is where the parameter is.
//
// CHECK-LABEL: func.func @vm_invoke_into_a_parameter
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %out: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %out_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%out : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    func.return %out_1 : [[CPU]]
func.func @vm_invoke_into_a_parameter(%x: tensor<4xf32>, %out: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %out_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  func.return %out_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// What a kernel reads and writes is on one device.
//
// CHECK-LABEL: func.func @vm_invoke_on_one_device
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @add ins(%x, %y : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    func.return %t_1 : [[CPU]]
func.func @vm_invoke_on_one_device(%x: tensor<4xf32>, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %add : tensor<4xf32>
}

// -----

// A kernel is on no device: it runs where its tensors are, here on both.
//
// CHECK-LABEL: func.func @vm_invoke_on_two_devices
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]], %y: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[GPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[GPU]]
// CHECK-NEXT:    %r = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %u = memory.alloc_tensor %r[0] : [[CPU]]
// CHECK-NEXT:    %u_1 = vm.invoke_tvm_op @neg ins(%y : {{.*}}) outs(%u : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %u_1 : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %t_1, %[[A]] : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]] : [[GPU]]
func.func @vm_invoke_on_two_devices(%x: tensor<4xf32>, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:0> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r = memory.alloc_storage 16 align 64 on #relay.device<cpu:0> : !memory.storage
  %u = memory.alloc_tensor %r[0] : tensor<4xf32>
  %u_1 = vm.invoke_tvm_op @neg ins(%y : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %u_1, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %t_1, %hint : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// What a kernel reads from elsewhere, where a hint permits it, is copied to where it writes.
//
// CHECK-LABEL: func.func @vm_invoke_operand_copied
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]], %y: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %y : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @add ins(%x, %[[A]] : {{.*}}) outs(%t : {{.*}}) -> [[GPU]]
// CHECK-NEXT:    func.return %t_1 : [[GPU]]
func.func @vm_invoke_operand_copied(%x: tensor<4xf32>, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:0> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %hint = relay.on_device %y, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @add ins(%x, %hint : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %add = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %add : tensor<4xf32>
}

// -----

// What a kernel has written is copied where a hint permits it.
//
// CHECK-LABEL: func.func @vm_invoke_result_copied
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.device_copy %t_1 : [[CPU]] to [[GPU]]
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    func.return %[[B]] : [[GPU]]
func.func @vm_invoke_result_copied(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %t_1, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %add = relay.add %hint, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %add : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// All that a kernel writes is on one device.
//
// CHECK-LABEL: func.func @vm_invoke_several_results
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %r = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %u = memory.alloc_tensor %r[0] : [[CPU]]
// CHECK-NEXT:    %t_1, %u_1 = vm.invoke_tvm_op @both ins(%x : {{.*}}) outs(%t, %u : {{.*}}) -> [[CPU]], [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = relay.tuple %u_1, %t_1 : {{.*}} -> tuple<[[CPU]], [[CPU]]>
// CHECK-NEXT:    func.return %[[A]] : tuple<[[CPU]], [[CPU]]>
func.func @vm_invoke_several_results(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %r = memory.alloc_storage 16 align 64 on #relay.device<cpu:0> : !memory.storage
  %u = memory.alloc_tensor %r[0] : tensor<4xf32>
  %t_1, %u_1 = vm.invoke_tvm_op @both ins(%x : tensor<4xf32>) outs(%t, %u : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  %tuple = relay.tuple %u_1, %t_1 : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %tuple : tuple<tensor<4xf32>, tensor<4xf32>>
}
relay.prim_func @both(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  %exp = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative, %exp : tensor<4xf32>, tensor<4xf32>
}

// -----

// A view of what a kernel has written is where that is; its shape is on the host.
//
// CHECK-LABEL: func.func @vm_invoke_views
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> tensor<2x2xf32, #cpu0>
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    %[[A:.*]] = vm.reshape_tensor %t_1 : {{.*}} -> tensor<2x2xf32, #cpu0>
// CHECK-NEXT:    func.return %[[A]] : tensor<2x2xf32, #cpu0>
func.func @vm_invoke_views(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cpu:0> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %reshape_tensor = vm.reshape_tensor %t_1 : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return %reshape_tensor : tensor<2x2xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// A view is where its data is, and its shape on the host, even when that is computed.
//
// CHECK-LABEL: func.func @vm_reshape_where_its_data_is
// CHECK-SAME:  (%x: tensor<?xf32, #cuda0>, %n: tensor<2xi64, #cpu0>) -> tensor<?x2xf32, #cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.add %n, %n : {{.*}} -> tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = vm.reshape_tensor %x shape %[[A]] : {{.*}} -> tensor<?x2xf32, #cuda0>
// CHECK-NEXT:    func.return %[[B]] : tensor<?x2xf32, #cuda0>
func.func @vm_reshape_where_its_data_is(%x: tensor<?xf32> {relay.device = #relay.device<cuda:0>}, %n: tensor<2xi64>) -> tensor<?x2xf32> {
  %add = relay.add %n, %n : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %reshape_tensor = vm.reshape_tensor %x shape %add : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  func.return %reshape_tensor : tensor<?x2xf32>
}

// -----

// A shape function runs on the host: what it reads, what it writes and what it gives is there.
//
// CHECK-LABEL: func.func @vm_shape_func_on_host
// CHECK-SAME:  (%x: tensor<?xf32, #cuda0>, %n: tensor<1xi64, #cpu0>) -> tensor<?xf32, #cuda0>
// CHECK-NEXT:    %s = memory.alloc_storage 8 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[A:.*]] = vm.shape_of %x : {{.*}} -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    %t_1 = vm.shape_func @sum ins(%[[A]], %n : {{.*}}) outs(%t : {{.*}}) {is_input = array<i64: 0, 1>} -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    %r = memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %u = memory.alloc_tensor %r[0] shape %t_1 : tensor<1xi64, #cpu0> -> tensor<?xf32, #cuda0>
// CHECK-NEXT:    %u_1 = vm.invoke_tvm_op @negative ins(%x : {{.*}}) outs(%u : {{.*}}) -> tensor<?xf32, #cuda0>
// CHECK-NEXT:    func.return %u_1 : tensor<?xf32, #cuda0>
func.func @vm_shape_func_on_host(%x: tensor<?xf32>, %n: tensor<1xi64>) -> tensor<?xf32> {
  %s = memory.alloc_storage 8 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<1xi64>
  %shape_of = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %t_1 = vm.shape_func @sum ins(%shape_of, %n : tensor<1xi64>, tensor<1xi64>) outs(%t : tensor<1xi64>) {is_input = array<i64: 0, 1>} -> tensor<1xi64>
  %r = memory.alloc_storage 16 align 64 : !memory.storage
  %u = memory.alloc_tensor %r[0] shape %t_1 : tensor<1xi64> -> tensor<?xf32>
  %u_1 = vm.invoke_tvm_op @negative ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  func.return %u_1 : tensor<?xf32>
}
relay.prim_func @sum(%a: tensor<1xi64>, %b: tensor<1xi64>) -> tensor<1xi64> {
  %add = relay.add %a, %b : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  relay.yield %add : tensor<1xi64>
}
relay.prim_func @negative(%a: tensor<?xf32>) -> tensor<?xf32> {
  %negative = relay.negative %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %negative : tensor<?xf32>
}

// -----

// `vm.shape_of` takes data of any device; what it gives is on the host.
//
// CHECK-LABEL: func.func @vm_shape_of_any_device
// CHECK-SAME:  (%x: tensor<?xf32, #cuda0>, %y: tensor<?xf32, #cpu0>) -> tuple<tensor<1xi64, #cpu0>, tensor<?xf32, #cpu0>>
// CHECK-NEXT:    %a = vm.shape_of %x : {{.*}} -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    %b = vm.shape_of %y : {{.*}} -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b : {{.*}} -> tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %x : tensor<?xf32, #cuda0> to tensor<?xf32, #cpu0>
// CHECK-NEXT:    %[[C:.*]] = relay.tuple %[[A]], %[[B]] : {{.*}} -> tuple<tensor<1xi64, #cpu0>, tensor<?xf32, #cpu0>>
// CHECK-NEXT:    func.return %[[C]] : tuple<tensor<1xi64, #cpu0>, tensor<?xf32, #cpu0>>
func.func @vm_shape_of_any_device(%x: tensor<?xf32>, %y: tensor<?xf32> {relay.device = #relay.device<cpu:0>}) -> tuple<tensor<1xi64>, tensor<?xf32>> {
  %a = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %b = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %add = relay.add %a, %b : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %hint = relay.on_device %x, #relay.device<cuda:0> : (tensor<?xf32>) -> tensor<?xf32>
  %tuple = relay.tuple %add, %hint : (tensor<1xi64>, tensor<?xf32>) -> tuple<tensor<1xi64>, tensor<?xf32>>
  func.return %tuple : tuple<tensor<1xi64>, tensor<?xf32>>
}
