// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'plan-devices{default=cuda:0}' %s

// A hint cannot move a storage.
func.func @memory_hint_conflict(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{cpu:0 is required here: the storage is annotated}}
  %s = memory.alloc_storage 16 align 64 on #relay.device<cpu:0> : !memory.storage
  // expected-error@+2 {{one value would have to be on cpu:0 and on cuda:0}}
  // expected-note@+1 {{cuda:0 is required here: the hint says where its operand is}}
  %hint = relay.on_device %s, #relay.device<cuda:0> {constrain_result = true} : (!memory.storage) -> !memory.storage
  %t = memory.alloc_tensor %hint[0] : tensor<4xf32>
  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %t_1 : tensor<4xf32>
}
relay.prim_func @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %negative = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %negative : tensor<4xf32>
}

// -----

// A storage cannot be copied.
func.func @memory_no_copy_of_storage(%s: !memory.storage) -> (!memory.storage {relay.device = #relay.device<cuda:0>}) {
  // expected-error@+1 {{only tensors and tuples can be copied between devices, not !memory.storage<#relay.device<cpu:0>>}}
  %hint = relay.on_device %s, #relay.device<cpu:0> : (!memory.storage) -> !memory.storage
  %hint_1 = relay.on_device %hint, #relay.device<cuda:0> {constrain_result = true} : (!memory.storage) -> !memory.storage
  func.return %hint_1 : !memory.storage
}

// -----

// Data cannot be copied, so a hint cannot move it.
relay.type_data @List<["A"]> [@Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>), @Nil()]
func.func @no_copy_of_data(%l: !relay.adt<@List, [tensor<4xf32>]>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{only tensors and tuples can be copied between devices, not !relay.adt<@List, [tensor<4xf32>], #relay.device<cpu:0>>}}
  %hint = relay.on_device %l, #relay.device<cpu:0> : (!relay.adt<@List, [tensor<4xf32>]>) -> !relay.adt<@List, [tensor<4xf32>]>
  %match = relay.match %hint : !relay.adt<@List, [tensor<4xf32>]> -> (tensor<4xf32>) {
    case @List::@Cons(%h: tensor<4xf32>, _) {
      relay.yield %h : tensor<4xf32>
    }
    case @List::@Nil() {
      relay.yield %x : tensor<4xf32>
    }
  }
  func.return %match : tensor<4xf32>
}

// -----

// References cannot be copied, so a hint cannot move them.
func.func @no_copy_of_references(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  // expected-error@+1 {{only tensors and tuples can be copied between devices, not !relay.ref<tensor<4xf32, #relay.device<cpu:0>>>}}
  %hint = relay.on_device %r, #relay.device<cpu:0> : (!relay.ref<tensor<4xf32>>) -> !relay.ref<tensor<4xf32>>
  %read = relay.ref_read %hint : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  func.return %read : tensor<4xf32>
}
