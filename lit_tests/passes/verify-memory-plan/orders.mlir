// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// The lifetimes are wrong, but no evidence: one slice is above the other.
func.func @right_order(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 1) %bytes
  %b = memory.slice %p [1, 2) %bytes on (%a)
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%b] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %z = memory.copy ins(%y : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%y, %z) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// No slice is above the other, though the lifetimes meet.
func.func @no_order(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 2) %bytes
  %b = memory.slice %p [1, 2) %bytes
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%b] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{bytes of slice 0 (%a) are written here}}
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{cannot show that memory.copy does not overwrite a live tensor: cannot show that bytes of slice 1 (%b) and of slice 0 (%a) of one storage do not overlap}}
  %z = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%y, %z) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// What is dead needs no order.
func.func @dead(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 2) %bytes
  %b = memory.slice %p [1, 2) %bytes
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%b] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%y) : (tensor<?xf32>) -> ()
  memory.kill %y : tensor<?xf32>
  %z = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%z) : (tensor<?xf32>) -> ()
  func.return
}

// -----

// Of two orders, each must put one above the other.
func.func @in_one_of_two_orders(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %p = memory.pack smallest of 2 align 64 : !memory.pack
  %a = memory.slice %p [0, 2) %bytes
  %b = memory.slice %p [1, 2) %bytes on (0) or ()
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%b] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{bytes of slice 0 (%a) are written here}}
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{cannot show that bytes of slice 1 (%b) and of slice 0 (%a) of one storage do not overlap}}
  %z = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%y, %z) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// A way may lead over other slices, and in another direction in each order.
func.func @in_both_orders(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %p = memory.pack smallest of 2 align 64 : !memory.pack
  %a = memory.slice %p [0, 2) %bytes on () or (2)
  %b = memory.slice %p [1, 2) %bytes on (2) or ()
  %c = memory.slice %p [0, 1) %bytes on (0) or (1)
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%b] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %z = memory.copy ins(%y : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%y, %z) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// A slice on a part is above it, and above what the part is above.
func.func @on_a_part(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 9) %bytes
  %b = memory.slice %p [0, 2) %bytes beside %a
  %w = memory.slice %p over %a to %b
  %d = memory.slice %p [3, 9) %bytes on (%a)
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%d] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %z = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%y, %z) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// It is not above the next part, whose bytes may be in use.
func.func @beside_a_part(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %c64 = arith.constant 64 : i64
  %wide = arith.muli %n, %c64 : i64
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 9) %wide
  %b = memory.slice %p [0, 9) %bytes beside %a
  %d = memory.slice %p [3, 9) %bytes on (%a)
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%b] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %u = memory.alloc_tensor %s[%d] shape %dims : tensor<1xi64> -> tensor<?xf32>
  // expected-note@+1 {{bytes of slice 1 (%b) are written here}}
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{cannot show that bytes of slice 2 (%d) and of slice 1 (%b) of one storage do not overlap}}
  %z = memory.copy ins(%x : tensor<?xf32>) outs(%u : tensor<?xf32>) -> tensor<?xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%y, %z) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// -----

// Slices at fixed offsets are compared as numbers, and nothing lies between two pools.
func.func @fixed_offsets_and_pools(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %q = memory.alloc_storage 256 align 64 : !memory.storage
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 2) 64 at 0
  %b = memory.slice %p [0, 2) 64 at 64
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  %t = memory.alloc_tensor %s[%a] : tensor<16xf32>
  %u = memory.alloc_tensor %s[%b] : tensor<16xf32>
  %v = "test.op"() : () -> tensor<16xf32>
  %y = memory.copy ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %z = memory.copy ins(%v : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  "test.op"(%y, %z) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}

// -----

// A slice is at least its tensor.
func.func @too_small(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 2) 64
  %total = memory.total %p
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage %total align 64 : !memory.storage
  // expected-error@+1 {{cannot show that a tensor at bytes [a, 4*x_dim0 + a) fits in its storage of 64 bytes}}
  %t = memory.alloc_tensor %s[%a] shape %dims : tensor<1xi64> -> tensor<?xf32>
  func.return
}

// -----

// Once offsets are arithmetic, the order is gone.
func.func @expanded(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %dims = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %dims[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %c1 = arith.constant 1 : i64
  %m = "test.op"() : () -> i64
  %all = arith.muli %bytes, %m : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  // expected-note@-1 {{the storage is allocated here}}
  // expected-error@+1 {{(expanded: verify before expand-packs)}}
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  func.return
}

// -----

// Storages that a call is lent are needed together.
func.func private @callee(%a: !memory.storage, %b: !memory.storage) {
  func.return
}
func.func @lent(%n: i64) {
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 1) %n
  %b = memory.slice %p [0, 1) %n
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage
  // expected-note@+1 {{one is this}}
  %one = memory.slice_storage %s[%a] size %n align 64 : !memory.storage
  // expected-note@+1 {{the other is this}}
  %other = memory.slice_storage %s[%b] size %n align 64 : !memory.storage
  // expected-error@+1 {{func.call is given storages 0 and 1 that overlap, or cannot be shown not to: bytes of slice 0 (%a) and of slice 1 (%b) of one storage}}
  func.call @callee(%one, %other) : (!memory.storage, !memory.storage) -> ()
  func.return
}
