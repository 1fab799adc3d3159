// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// The end of a life says nothing about devices.
//
// CHECK-LABEL: func.func @memory_kill_constrains_nothing
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %a = relay.negative %y : {{.*}} -> [[GPU]]
// CHECK-NEXT:    memory.kill %x : [[CPU]]
// CHECK-NEXT:    memory.kill %y : [[GPU]]
// CHECK-NEXT:    func.return %a : [[GPU]]
func.func @memory_kill_constrains_nothing(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  memory.kill %x : tensor<4xf32>
  memory.kill %y : tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// An offset that is no constant is a number on the host.
//
// CHECK-LABEL: func.func @memory_offset_on_host
// CHECK-SAME:  (%s: !memory.storage<#cuda0>, %at: tensor<i64, #cpu0>, %x: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %[[A:.*]] = tensor.extract %at[] : tensor<i64, #cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[%[[A]]] : [[GPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[GPU]]
// CHECK-NEXT:    func.return %t_1 : [[GPU]]
func.func @memory_offset_on_host(%s: !memory.storage, %at: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %n = tensor.extract %at[] : tensor<i64>
  %t = memory.alloc_tensor %s[%n] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// The shape of a tensor that is no constant is on the host.
//
// CHECK-LABEL: func.func @memory_shape_on_host
// CHECK-SAME:  (%s: !memory.storage<#cuda0>, %dims: tensor<1xi64, #cpu0>, %x: tensor<?xf32, #cuda0>) -> tensor<?xf32, #cuda0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64, #cpu0> -> tensor<?xf32, #cuda0>
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @negative ins(%x : {{.*}}) outs(%t : {{.*}}) -> tensor<?xf32, #cuda0>
// CHECK-NEXT:    func.return %t_1 : tensor<?xf32, #cuda0>
func.func @memory_shape_on_host(%s: !memory.storage, %dims: tensor<1xi64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %t_1 = vm.invoke_tvm_op @negative ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  func.return %t_1 : tensor<?xf32>
}
relay.prim_func @negative(%a: tensor<?xf32>) -> tensor<?xf32> {
  %negative = relay.negative %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %negative : tensor<?xf32>
}

// -----

// A size that a hint puts elsewhere is copied to the host.
//
// CHECK-LABEL: func.func @memory_size_copied_to_host
// CHECK-SAME:  (%n: tensor<i64, #cuda0>) -> !memory.storage<#cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<4> : tensor<i64> on #cuda0
// CHECK-NEXT:    %[[B:.*]] = relay.multiply %n, %[[A]] : {{.*}} -> tensor<i64, #cuda0>
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[B]] : tensor<i64, #cuda0> to tensor<i64, #cpu0>
// CHECK-NEXT:    %[[D:.*]] = tensor.extract %[[C]][] : tensor<i64, #cpu0>
// CHECK-NEXT:    %[[E:.*]] = memory.alloc_storage %[[D]] align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    func.return %[[E]] : !memory.storage<#cuda0>
func.func @memory_size_copied_to_host(%n: tensor<i64>) -> !memory.storage {
  %c = relay.constant dense<4> : tensor<i64>
  %multiply = relay.multiply %n, %c : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %hint = relay.on_device %multiply, #relay.device<cuda:0> : (tensor<i64>) -> tensor<i64>
  %n_1 = tensor.extract %hint[] : tensor<i64>
  %storage = memory.alloc_storage %n_1 align 64 on #relay.device<cuda:0> : !memory.storage
  func.return %storage : !memory.storage
}

// -----

// The size of a storage is a number on the host, and so is what it is computed from.
//
// CHECK-LABEL: func.func @memory_size_on_host
// CHECK-SAME:  (%n: tensor<i64, #cpu0>) -> !memory.storage<#cuda0>
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<4> : tensor<i64> on #cpu0
// CHECK-NEXT:    %[[B:.*]] = relay.multiply %n, %[[A]] : {{.*}} -> tensor<i64, #cpu0>
// CHECK-NEXT:    %[[C:.*]] = tensor.extract %[[B]][] : tensor<i64, #cpu0>
// CHECK-NEXT:    %[[D:.*]] = memory.alloc_storage %[[C]] align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    func.return %[[D]] : !memory.storage<#cuda0>
func.func @memory_size_on_host(%n: tensor<i64>) -> !memory.storage {
  %c = relay.constant dense<4> : tensor<i64>
  %multiply = relay.multiply %n, %c : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %n_1 = tensor.extract %multiply[] : tensor<i64>
  %storage = memory.alloc_storage %n_1 align 64 on #relay.device<cuda:0> : !memory.storage
  func.return %storage : !memory.storage
}

// -----

// Sizes, offsets and shapes that are constants are on no device.
//
// CHECK-LABEL: func.func @memory_static_sizes
// CHECK-SAME:  (%x: [[GPU:tensor<4xf32, #cuda0>]]) -> [[GPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[GPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[GPU]]
// CHECK-NEXT:    func.return %t_1 : [[GPU]]
func.func @memory_static_sizes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:0> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// A storage that says nothing is where the tensors in it are.
//
// CHECK-LABEL: func.func @memory_storage_by_default
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    func.return %t_1 : [[CPU]]
func.func @memory_storage_by_default(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// A storage may be a parameter; two tensors in it are on one device.
//
// CHECK-LABEL: func.func @memory_storage_parameter
// CHECK-SAME:  (%s: !memory.storage<#cpu0>, %x: [[CPU:tensor<4xf32, #cpu0>]], %y: [[CPU]]) -> [[CPU]]
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    %u = memory.alloc_tensor %s[16] : [[CPU]]
// CHECK-NEXT:    %u_1 = vm.invoke_tvm_op @neg ins(%y : {{.*}}) outs(%u : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    func.return %t_1 : [[CPU]]
func.func @memory_storage_parameter(%s: !memory.storage, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %u = memory.alloc_tensor %s[16] : tensor<4xf32>
  %u_1 = vm.invoke_tvm_op @neg ins(%y : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  %hint = relay.on_device %t_1, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %hint : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// A tensor is where its storage is, and what a kernel writes into it is computed there.
//
// CHECK-LABEL: func.func @memory_storage_says_where
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    func.return %t_1 : [[CPU]]
func.func @memory_storage_says_where(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cpu:0> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// A hint on a tensor without contents is about its storage: such a tensor cannot be copied.
//
// CHECK-LABEL: func.func @memory_tensor_hinted
// CHECK-SAME:  (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[CPU]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cpu0>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[CPU]]
// CHECK-NEXT:    %t_1 = vm.invoke_tvm_op @neg ins(%x : {{.*}}) outs(%t : {{.*}}) -> [[CPU]]
// CHECK-NEXT:    func.return %t_1 : [[CPU]]
func.func @memory_tensor_hinted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %hint = relay.on_device %s, #relay.device<cpu:0> {constrain_result = true} : (!memory.storage) -> !memory.storage
  %t = memory.alloc_tensor %hint[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// What a copy writes is where its destination is; what it copies is anywhere.
//
// CHECK-LABEL: @memory_copy
// CHECK-SAME:    (%x: [[CPU:tensor<4xf32, #cpu0>]]) -> [[GPU:tensor<4xf32, #cuda1>]]
// CHECK-NEXT:    %s = memory.alloc_storage 16 align 64 : !memory.storage<#cuda1>
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0] : [[GPU]]
// CHECK-NEXT:    %y = memory.copy ins(%x : [[CPU]]) outs(%t : [[GPU]]) -> [[GPU]]
// CHECK-NEXT:    func.return %y
func.func @memory_copy(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:1> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
