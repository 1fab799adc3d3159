// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// A slot that starts at the end of another, rounded up, is above it for all sizes.

func.func @stacked(%n: tensor<?xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %dims = vm.shape_of %n : (tensor<?xf32>) -> tensor<1xi64>
  %k = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %k, %c4 : i64
  %up = arith.addi %bytes, %c63 : i64
  %blocks = arith.floordivsi %up, %c64 : i64
  %slot = arith.muli %blocks, %c64 : i64
  %all = arith.addi %slot, %slot : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%slot] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %b = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// So is one that is rounded up by a mask.

func.func @masked(%n: tensor<?xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c63 = arith.constant 63 : i64
  %dims = vm.shape_of %n : (tensor<?xf32>) -> tensor<1xi64>
  %k = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %k, %c4 : i64
  %up = arith.addi %bytes, %c63 : i64
  %mask = arith.constant -64 : i64
  %slot = arith.andi %up, %mask : i64
  %all = arith.addi %slot, %slot : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%slot] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %b = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// A maximum is at least each of its operands.

func.func @maximum(%n: tensor<?xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %dims = vm.shape_of %n : (tensor<?xf32>) -> tensor<1xi64>
  %k = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %k, %c4 : i64
  %up = arith.addi %bytes, %c63 : i64
  %blocks = arith.floordivsi %up, %c64 : i64
  %slot = arith.muli %blocks, %c64 : i64
  %mdims = vm.shape_of %m : (tensor<?xf32>) -> tensor<1xi64>
  %j = tensor.extract %mdims[%c0] : tensor<1xi64>
  %mbytes = arith.muli %j, %c64 : i64
  %max = arith.maxsi %slot, %mbytes : i64
  %all = arith.addi %max, %slot : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%max] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %b = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// A minimum is not.

func.func @minimum(%n: tensor<?xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %dims = vm.shape_of %n : (tensor<?xf32>) -> tensor<1xi64>
  %k = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %k, %c4 : i64
  %up = arith.addi %bytes, %c63 : i64
  %blocks = arith.floordivsi %up, %c64 : i64
  %slot = arith.muli %blocks, %c64 : i64
  %mdims = vm.shape_of %m : (tensor<?xf32>) -> tensor<1xi64>
  %j = tensor.extract %mdims[%c0] : tensor<1xi64>
  %mbytes = arith.muli %j, %c64 : i64
  %min = arith.minsi %slot, %mbytes : i64
  %all = arith.addi %slot, %slot : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%min] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{bytes [0, 4*n_dim0) are written here}}
  %a = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{cannot show that vm.invoke_tvm_op does not overwrite a live tensor: cannot show that bytes }}
  %b = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// Slots that cannot be compared are fine when the tensors are not alive together.

func.func @dead(%n: tensor<?xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %dims = vm.shape_of %n : (tensor<?xf32>) -> tensor<1xi64>
  %k = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %k, %c4 : i64
  %up = arith.addi %bytes, %c63 : i64
  %blocks = arith.floordivsi %up, %c64 : i64
  %slot = arith.muli %blocks, %c64 : i64
  %mdims = vm.shape_of %m : (tensor<?xf32>) -> tensor<1xi64>
  %j = tensor.extract %mdims[%c0] : tensor<1xi64>
  %mbytes = arith.muli %j, %c64 : i64
  %min = arith.minsi %slot, %mbytes : i64
  %all = arith.addi %slot, %slot : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%min] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%a) : (tensor<?xf32>) -> ()
  %b = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%b) : (tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// Slots at the same start overlap.

func.func @same(%n: tensor<?xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %dims = vm.shape_of %n : (tensor<?xf32>) -> tensor<1xi64>
  %k = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %k, %c4 : i64
  %up = arith.addi %bytes, %c63 : i64
  %blocks = arith.floordivsi %up, %c64 : i64
  %slot = arith.muli %blocks, %c64 : i64
  %s = memory.alloc_storage %slot align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{bytes [0, 4*n_dim0) are written here}}
  %a = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes [0, 4*n_dim0) and [0, 4*n_dim0) of one storage overlap}}
  %b = vm.invoke_tvm_op @f ins(%n : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// An offset that is a multiple of the alignment only for some sizes is an error.

func.func @misaligned(%n: tensor<?xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %dims = vm.shape_of %n : (tensor<?xf32>) -> tensor<1xi64>
  %k = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %k, %c4 : i64
  %up = arith.addi %bytes, %c63 : i64
  %blocks = arith.floordivsi %up, %c64 : i64
  %slot = arith.muli %blocks, %c64 : i64
  %all = arith.addi %bytes, %slot : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-error@+1 {{the offset of a tensor of f32 must be a multiple of 64, but 4*n_dim0 cannot be shown to be}}
  %u = memory.alloc_tensor %s[%bytes] shape %dims : tensor<1xi64> -> tensor<?xf32>
  func.return
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}
