// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// A turn must hand on what it carries where the next one finds it.

func.func @moves(%x: tensor<8x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %a = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  // expected-note@+1 {{it starts here}}
  %b = relay.loop %a {count = 3 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  "test.op"(%b) : (tensor<2x4xf32>) -> ()
  %u = memory.alloc_tensor %s[64] : tensor<2x4xf32>
  %c = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%u : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64, step = 1 : i64} -> tensor<2x4xf32>
  // expected-error@+1 {{a turn hands on bytes [64, 96), but the next one uses bytes [0, 32)}}
  %d = relay.end_loop %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
  "test.op"(%d) : (tensor<2x4xf32>) -> ()
  func.return
}

// -----

// What a turn reads from outside is read by the next one, too: nothing else may be there.

func.func @read_again(%x: tensor<2x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  // expected-note@+1 {{bytes [0, 32) are written here}}
  %a = memory.copy ins(%x : tensor<2x4xf32>) outs(%t : tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = memory.alloc_tensor %s[64] : tensor<2x4xf32>
  %h = memory.copy ins(%x : tensor<2x4xf32>) outs(%v : tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = relay.loop %h {count = 3 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  "test.op"(%a, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  %u = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  // expected-error@+1 {{memory.copy writes bytes of a live tensor: bytes [0, 32) and [0, 32) of one storage overlap}}
  %c = memory.copy ins(%x : tensor<2x4xf32>) outs(%u : tensor<2x4xf32>) -> tensor<2x4xf32>
  "test.op"(%c) : (tensor<2x4xf32>) -> ()
  // expected-note@+1 {{it is used here}}
  %d = relay.end_loop %b : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// Rows that were written over are not read under another name.

func.func @written_over(%x: tensor<2x4xf32>, %y: tensor<4x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4x4xf32>
  %a = memory.copy ins(%y : tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = vm.reshape_tensor %a : (tensor<4x4xf32>) -> tensor<16xf32>
  // expected-note@+1 {{its result has the bytes}}
  %b = relay.write_rows %x, %a {axis = 0 : i64, count = 2 : i64, start = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error@+1 {{test.op uses bytes that relay.write_rows has written over}}
  "test.op"(%v, %b) : (tensor<16xf32>, tensor<4x4xf32>) -> ()
  func.return
}

// -----

// Between its last use and the next one in its place, what a loop carries leaves its bytes to others.

func.func @gap(%x: tensor<8x4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %a = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  %b = relay.loop %a {count = 3 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  "test.op"(%b) : (tensor<2x4xf32>) -> ()
  %v = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %o = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%v : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64} -> tensor<2x4xf32>
  "test.op"(%o) : (tensor<2x4xf32>) -> ()
  %u = memory.alloc_tensor %s[0] : tensor<2x4xf32>
  %c = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%u : tensor<2x4xf32>) {axis = 0 : i64, start = 0 : i64, step = 1 : i64} -> tensor<2x4xf32>
  %d = relay.end_loop %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
  "test.op"(%d) : (tensor<2x4xf32>) -> ()
  func.return
}
