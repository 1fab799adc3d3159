// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// Rows of a dead tensor may be written over by rows that stay, which go to the front of its storage.

func.func @to_the_front(%x: tensor<4x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %a0 = memory.alloc_tensor %s[0] : tensor<4x4xf32>
  %a = memory.copy ins(%x : tensor<4x4xf32>) outs(%a0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  "test.op"(%a) : (tensor<4x4xf32>) -> ()
  %k0 = memory.alloc_tensor %s[64] : tensor<2x4xf32>
  %k = memory.copy_rows ins(%a : tensor<4x4xf32>) outs(%k0 : tensor<2x4xf32>) {axis = 0 : i64, start = 2 : i64} -> tensor<2x4xf32>
  %h0 = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %h = memory.copy_rows ins(%k : tensor<2x4xf32>) outs(%h0 : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  "test.op"(%h) : (tensor<2x4xf32>) -> ()
  func.return
}

// -----

// What was written over is not read after.

func.func @read_after(%x: tensor<4x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %a0 = memory.alloc_tensor %s[0] : tensor<4x4xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = memory.copy ins(%x : tensor<4x4xf32>) outs(%a0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %k0 = memory.alloc_tensor %s[64] : tensor<2x4xf32>
  %k = memory.copy_rows ins(%a : tensor<4x4xf32>) outs(%k0 : tensor<2x4xf32>) {axis = 0 : i64, start = 2 : i64} -> tensor<2x4xf32>
  %h0 = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  // expected-error@+1 {{memory.copy_rows writes bytes of a live tensor: bytes [0, 32) and [0, 64) of one storage overlap}}
  %h = memory.copy_rows ins(%k : tensor<2x4xf32>) outs(%h0 : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%h, %a) : (tensor<2x4xf32>, tensor<4x4xf32>) -> ()
  func.return
}

// -----

// A copy reads its rows from where it does not write.

func.func @over_itself(%x: tensor<4x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %a0 = memory.alloc_tensor %s[0] : tensor<4x4xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = memory.copy ins(%x : tensor<4x4xf32>) outs(%a0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %h0 = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  // expected-error@+1 {{memory.copy_rows reads bytes that it writes: bytes [0, 32) and [0, 64) of one storage overlap}}
  %h = memory.copy_rows ins(%a : tensor<4x4xf32>) outs(%h0 : tensor<2x4xf32>) {axis = 0 : i64, start = 1 : i64} -> tensor<2x4xf32>
  "test.op"(%h) : (tensor<2x4xf32>) -> ()
  func.return
}

// -----

// Rows that it does not read are bytes of its operand all the same.

func.func @over_rows_not_read(%x: tensor<4x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %a0 = memory.alloc_tensor %s[0] : tensor<4x4xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = memory.copy ins(%x : tensor<4x4xf32>) outs(%a0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %h0 = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  // expected-error@+1 {{memory.copy_rows reads bytes that it writes: bytes [0, 32) and [0, 64) of one storage overlap}}
  %h = memory.copy_rows ins(%a : tensor<4x4xf32>) outs(%h0 : tensor<2x4xf32>) {axis = 0 : i64, start = 2 : i64} -> tensor<2x4xf32>
  "test.op"(%h) : (tensor<2x4xf32>) -> ()
  func.return
}
