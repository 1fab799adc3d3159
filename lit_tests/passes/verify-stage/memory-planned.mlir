// RUN: xrelay-opt --split-input-file --verify-diagnostics -p verify-stage{stage=memory-planned} %s

// Bytes are not used after a kill, under any name, on any path.
func.func @used_after_kill(%c: tensor<i1, #relay.device<cpu:0>>) {
  %a = "test.op"() : () -> tensor<4xf32, #relay.device<cpu:0>>
  %v = vm.reshape_tensor %a : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<2x2xf32, #relay.device<cpu:0>>
  relay.if %c : tensor<i1, #relay.device<cpu:0>> {
    // expected-note @below {{they are killed here}}
    memory.kill %v : tensor<2x2xf32, #relay.device<cpu:0>>
    relay.yield
  } else {
    "test.op"(%v) : (tensor<2x2xf32, #relay.device<cpu:0>>) -> ()
    relay.yield
  }
  // expected-error @below {{test.op uses bytes that are killed before it: passes that move or merge ops, such as cse and canonicalize, must run before manifest-lifetimes}}
  "test.op"(%a) : (tensor<4xf32, #relay.device<cpu:0>>) -> ()
  func.return
}

// -----

// They are killed once on a path.
func.func @killed_twice() {
  %a = "test.op"() : () -> tensor<4xf32, #relay.device<cpu:0>>
  // expected-note @below {{they are killed here}}
  memory.kill %a : tensor<4xf32, #relay.device<cpu:0>>
  // expected-error @below {{memory.kill uses bytes that are killed before it}}
  memory.kill %a : tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

// A branch may kill what the other one uses.
func.func @killed_in_one_branch(%c: tensor<i1, #relay.device<cpu:0>>) {
  %a = "test.op"() : () -> tensor<4xf32, #relay.device<cpu:0>>
  relay.if %c : tensor<i1, #relay.device<cpu:0>> {
    memory.kill %a : tensor<4xf32, #relay.device<cpu:0>>
    relay.yield
  } else {
    "test.op"(%a) : (tensor<4xf32, #relay.device<cpu:0>>) -> ()
    memory.kill %a : tensor<4xf32, #relay.device<cpu:0>>
    relay.yield
  }
  func.return
}

// -----

// The offsets of a memory plan are chosen before lowering.
func.func @pack() {
  // expected-error @below {{memory.pack is left at stage memory-planned: layout-slices should have chosen its offsets}}
  %pack = memory.pack align 64 : !memory.pack
  %offset = memory.slice %pack [0, 1) 64
  %total = memory.total %pack
  func.return
}
