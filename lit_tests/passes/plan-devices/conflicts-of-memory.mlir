// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'plan-devices{default=cuda:0}' %s

// A size that is elsewhere is an error where it becomes a number.
//
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @memory_size_conflict is annotated}}
func.func @memory_size_conflict(%n: tensor<i64> {relay.device = #relay.device<cuda:0>}) -> !memory.storage {
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: numbers are read on the host}}
  %n_1 = tensor.extract %n[] : tensor<i64>
  %storage = memory.alloc_storage %n_1 align 64 on #relay.device<cuda:0> : !memory.storage
  func.return %storage : !memory.storage
}

// -----

// A tensor is where its storage is: a kernel cannot write it from elsewhere.
//
// expected-note@+1 {{cpu:0 is required here: parameter 0 of @memory_storage_conflict is annotated}}
func.func @memory_storage_conflict(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the storage is annotated}}
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:0> : !memory.storage
  // expected-note@+1 {{a tensor is where its storage is}}
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  // expected-note@+1 {{operands and results of vm.invoke_tvm_op share a device}}
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// The shape of a view is on the host.
//
// expected-note@+1 {{cuda:0 is required here: parameter 1 of @vm_reshape_conflict is annotated}}
func.func @vm_reshape_conflict(%x: tensor<4xf32>, %n: tensor<2xi64> {relay.device = #relay.device<cuda:0>}) -> tensor<?x2xf32> {
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: the shape of vm.reshape_tensor is on the host}}
  %reshape_tensor = vm.reshape_tensor %x shape %n : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  func.return %reshape_tensor : tensor<?x2xf32>
}

// -----

// A shape function reads on the host only.
//
// expected-note@+1 {{cuda:0 is required here: parameter 0 of @vm_shape_func_conflict is annotated}}
func.func @vm_shape_func_conflict(%n: tensor<1xi64> {relay.device = #relay.device<cuda:0>}) -> tensor<1xi64> {
  %s = memory.alloc_storage 8 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<1xi64>
  // expected-error@+2 {{one value would have to be on cuda:0 and on cpu:0}}
  // expected-note@+1 {{cpu:0 is required here: vm.shape_func runs on the host}}
  %t_1 = vm.shape_func @same ins(%n : tensor<1xi64>) outs(%t : tensor<1xi64>) {is_input = array<i64: 1>} -> tensor<1xi64>
  func.return %t_1 : tensor<1xi64>
}
relay.prim_func @same(%a: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %a : tensor<1xi64>
}
