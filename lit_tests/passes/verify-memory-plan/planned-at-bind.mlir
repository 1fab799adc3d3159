// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// Slices of a pack whose lifetimes meet do not overlap, wherever the machine puts them.

func.func @together(%x: tensor<?xf32>) {
  %i0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%i0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %pack = memory.pack at_bind align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) %bytes
  %offsets_1 = memory.slice %pack [1, 2) %bytes
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%offsets_0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%offsets_1] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %b = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// Those of one after the other may be the same bytes.

func.func @one_after_the_other(%x: tensor<?xf32>) {
  %i0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%i0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %pack = memory.pack at_bind align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 1) %bytes
  %offsets_1 = memory.slice %pack [1, 2) %bytes
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%offsets_0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%offsets_1] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{are written here}}
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{cannot show that memory.copy does not overwrite a live tensor}}
  %b = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// So may those of two arms of one branch.

func.func @arms(%x: tensor<?xf32>) {
  %i0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%i0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %pack = memory.pack at_bind align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) %bytes in (0:0)
  %offsets_1 = memory.slice %pack [1, 2) %bytes in (0:1)
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%offsets_0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%offsets_1] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{are written here}}
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{cannot show that memory.copy does not overwrite a live tensor}}
  %b = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}
