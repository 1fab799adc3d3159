// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// A call lends storage that is as large as its callee needs, and the result may lie in it.

func.func @large_enough(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %w = memory.slice_storage %s[64] size 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %r = func.call @lent(%x, %w) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  "test.op"(%r, %a) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// One that is too small is an error, which names what needs the bytes, also in a callee's callee.

func.func @too_small(%x: tensor<16xf32>) {
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage 127 align 64 : !memory.storage
  // expected-error@+1 {{cannot show that storage 1 is large enough for @outer: it needs 128 bytes, but has 127}}
  %r = func.call @outer(%x, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}
func.func private @outer(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  // expected-note@+1 {{they are needed here}}
  %s = memory.slice_storage %w[64] size 64 align 64 : !memory.storage
  %r = func.call @lent(%v, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  func.return %r : tensor<16xf32>
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A storage that is passed on must be as large as the function that gets it needs.

func.func @passed_on(%x: tensor<16xf32>) {
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  // expected-error@+1 {{cannot show that storage 1 is large enough for @outer: it needs 64 bytes, but has 32}}
  %r = func.call @outer(%x, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}
func.func private @outer(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  // expected-note@+1 {{they are needed here}}
  %r = func.call @lent(%v, %w) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  func.return %r : tensor<16xf32>
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// What a callee needs for a shape is compared with the storage for the arguments' shapes.

func.func @right_size(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %r = func.call @lent(%x, %s) : (tensor<?xf32>, !memory.storage) -> tensor<?xf32>
  "test.op"(%r) : (tensor<?xf32>) -> ()
  func.return
}
func.func @wrong_size(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i64
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c3 : i64
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  // expected-error@+1 {{cannot show that storage 1 is large enough for @lent: it needs 4*x_dim0 bytes, but has 3*x_dim0}}
  %r = func.call @lent(%x, %s) : (tensor<?xf32>, !memory.storage) -> tensor<?xf32>
  "test.op"(%r) : (tensor<?xf32>) -> ()
  func.return
}
func.func private @lent(%v: tensor<?xf32>, %w: !memory.storage) -> tensor<?xf32> {
  %shape = vm.shape_of %v : (tensor<?xf32>) -> tensor<1xi64>
  // expected-note@+1 {{they are needed here}}
  %t = memory.alloc_tensor %w[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  func.return %a : tensor<?xf32>
}

relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %y : tensor<?xf32>
}

// -----

// A size that depends on data of the callee cannot be compared.

func.func @data(%x: tensor<1xi64>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  // expected-error@+1 {{cannot tell how many bytes @lent needs in its storage 1: 4*element depends on more than the shapes of arguments}}
  func.call @lent(%x, %s) : (tensor<1xi64>, !memory.storage) -> ()
  func.return
}
func.func private @lent(%v: tensor<1xi64>, %w: !memory.storage) {
  %c0 = arith.constant 0 : index
  %e = "test.op"(%v) : (tensor<1xi64>) -> tensor<1x1x1xi64>
  %n = tensor.extract %e[%c0, %c0, %c0] : tensor<1x1x1xi64>
  %shape = tensor.from_elements %n : tensor<1xi64>
  // expected-note@+1 {{they are needed here}}
  %t = memory.alloc_tensor %w[0] shape %shape : tensor<1xi64> -> tensor<?xf32>
  func.return
}

// -----

// A storage must be aligned as its callee needs.

func.func @alignment(%x: tensor<16xf32>) {
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage 64 align 32 : !memory.storage
  // expected-error@+1 {{@lent needs storage 1 aligned to 64 bytes, but it is aligned to 32}}
  %r = func.call @lent(%x, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Storages of one call must not overlap.

func.func @overlapping(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  // expected-note@+1 {{one is this}}
  %a = memory.slice_storage %s[0] size 128 align 64 : !memory.storage
  // expected-note@+1 {{the other is this}}
  %b = memory.slice_storage %s[64] size 128 align 64 : !memory.storage
  // expected-error@+1 {{func.call is given storages 1 and 2 that overlap, or cannot be shown not to: bytes [0, 128) and [64, 192) of one storage}}
  func.call @lent(%x, %a, %b) : (tensor<16xf32>, !memory.storage, !memory.storage) -> ()
  func.return
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage, %r: !memory.storage) {
  func.return
}

// -----

// A storage that a call lends must have no tensor that is live after it.

func.func @live_across(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %w = memory.slice_storage %s[0] size 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  // expected-error@+1 {{func.call may write bytes of a live tensor: bytes [0, 64) and [0, 64) of one storage overlap}}
  func.call @lent(%x, %w) : (tensor<16xf32>, !memory.storage) -> ()
  // expected-note@+1 {{it is used here}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage) {
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// An argument must not be in a storage that the same call lends.

func.func @argument(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  // expected-error@+1 {{func.call reads bytes that it writes}}
  func.call @lent(%a, %s) : (tensor<16xf32>, !memory.storage) -> ()
  func.return
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage) {
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A result in a workspace dies when the workspace is used again.

func.func @result_dies(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  // expected-note@+1 {{are written here}}
  %a = func.call @lent(%x, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  // expected-error@+1 {{func.call may write bytes of a live tensor}}
  %b = func.call @lent(%x, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}
func.func private @lent(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A workspace may be used again when no result lies in it.

func.func @used_again(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %a = func.call @own(%x, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  %b = func.call @own(%x, %s) : (tensor<16xf32>, !memory.storage) -> tensor<16xf32>
  "test.op"(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> ()
  func.return
}
func.func private @own(%v: tensor<16xf32>, %w: !memory.storage) -> tensor<16xf32> {
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  %b = vm.invoke_tvm_op @f ins(%a : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  func.return %b : tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Two results in one storage die apart.

func.func @results(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %a:2 = func.call @two(%x, %s) : (tensor<16xf32>, !memory.storage) -> (tensor<16xf32>, tensor<16xf32>)
  memory.kill %a#0 : tensor<16xf32>
  "test.op"(%a#1) : (tensor<16xf32>) -> ()
  func.return
}
func.func private @two(%v: tensor<16xf32>, %w: !memory.storage) -> (tensor<16xf32>, tensor<16xf32>) {
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %w[64] : tensor<16xf32>
  %b = vm.invoke_tvm_op @f ins(%v : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  func.return %a, %b : tensor<16xf32>, tensor<16xf32>
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A recursive function cannot be lent storage: what it needs is not known.

func.func private @recursive(%x: tensor<16xf32>, %w: !memory.storage) {
  // expected-error@+1 {{cannot tell how many bytes @recursive needs in its storage 1: it is recursive}}
  func.call @recursive(%x, %w) : (tensor<16xf32>, !memory.storage) -> ()
  func.return
}

// -----

// A slice lies in its storage, for all sizes.

func.func @slice_outside(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  // expected-note@+1 {{the storage is allocated here}}
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  // expected-error@+1 {{cannot show that a slice at bytes [64, 4*x_dim0 + 64) fits in its storage of 4*x_dim0 bytes}}
  %w = memory.slice_storage %s[64] size %bytes align 64 : !memory.storage
  func.return
}

// -----

// A tensor lies in its slice, at its place in the storage.

func.func @tensor_outside(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c64 = arith.constant 64 : i64
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = tensor.extract %shape[%c0] : tensor<1xi64>
  %bytes = arith.muli %n, %c4 : i64
  %all = arith.addi %bytes, %c64 : i64
  %s = memory.alloc_storage %all align 64 : !memory.storage
  // expected-note@+1 {{the storage is allocated here}}
  %w = memory.slice_storage %s[64] size %bytes align 64 : !memory.storage
  // expected-error@+1 {{cannot show that a tensor at bytes [0, 64) fits in its storage of 4*x_dim0 bytes}}
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  func.return
}
// -----

// Tensors in a slice and in its storage may be the same bytes.

func.func @in_one_storage(%x: tensor<16xf32>) {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %w = memory.slice_storage %s[64] size 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %w[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [64, 128) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[64] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes [64, 128) and [64, 128) of one storage overlap}}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
