// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'check-peak{peak=192}' %s | filecheck %s

// A storage counts as long as it is in use, all its bytes included.
//
// CHECK-LABEL: @fits
func.func @fits(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[64] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// A plan with gaps may need more than what is live.
//
// expected-error@+1 {{a peak of 192 bytes is not reached: the plan has 256}}
func.func @gaps(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[192] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// What a call needs comes on top of what is allocated meanwhile.
//
// expected-error@+1 {{a peak of 192 bytes is not reached: the plan has 256}}
func.func @calls(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  func.call @called(%x) : (tensor<4xf32>) -> ()
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}
func.func private @called(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// Of a recursion it is not known.
//
// expected-error@+1 {{a peak of 192 bytes is not reached: its plan is not known}}
func.func @recursion(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  func.call @recursion(%x) : (tensor<4xf32>) -> ()
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// Where stripes do not reach the peak, the least is that of stripes, or of the plan without.
//
// expected-error@+1 {{a peak of 192 bytes is not reached with 1.0 times the work: the least is 250}}
func.func @stripes(%x: tensor<4xf32>) attributes {relay.least_peak = {bytes = 250 : i64, how = " with 1.0 times the work"}} {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// expected-error@+1 {{a peak of 192 bytes is not reached: the least is 256}}
func.func @whole(%x: tensor<4xf32>) attributes {relay.least_peak = {bytes = 300 : i64, how = ""}} {
  %s = memory.alloc_storage 256 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// A peak that stripes do not reach is kept by a plan that has it.
//
// CHECK-LABEL: @kept
func.func @kept(%x: tensor<4xf32>) attributes {relay.least_peak = {bytes = 300 : i64, how = ""}} {
  %s = memory.alloc_storage 192 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  func.return
}
