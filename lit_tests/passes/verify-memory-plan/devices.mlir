// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

#cpu = #relay.device<cpu:0>
#cuda = #relay.device<cuda:0>

// Arenas of two devices share no bytes, whatever the offsets in them are.

func.func @apart(%x: tensor<16xf32, #cpu>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage<#cpu>
  %t = memory.alloc_tensor %s[0] : tensor<16xf32, #cpu>
  %a = memory.copy ins(%x : tensor<16xf32, #cpu>) outs(%t : tensor<16xf32, #cpu>) -> tensor<16xf32, #cpu>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage<#cuda>
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32, #cuda>
  %b = memory.copy ins(%a : tensor<16xf32, #cpu>) outs(%t1 : tensor<16xf32, #cuda>) -> tensor<16xf32, #cuda>
  "test.op"(%a, %b) : (tensor<16xf32, #cpu>, tensor<16xf32, #cuda>) -> ()
  func.return
}

// -----

#cpu = #relay.device<cpu:0>
#cuda = #relay.device<cuda:0>

// A copy from another device overwrites bytes as any other op does.

func.func @overwritten(%x: tensor<16xf32, #cuda>, %y: tensor<16xf32, #cpu>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage<#cuda>
  %t = memory.alloc_tensor %s[0] : tensor<16xf32, #cuda>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = memory.copy ins(%x : tensor<16xf32, #cuda>) outs(%t : tensor<16xf32, #cuda>) -> tensor<16xf32, #cuda>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32, #cuda>
  // expected-error@+1 {{memory.copy writes bytes of a live tensor: bytes [0, 64) and [0, 64) of one storage overlap}}
  %b = memory.copy ins(%y : tensor<16xf32, #cpu>) outs(%u : tensor<16xf32, #cuda>) -> tensor<16xf32, #cuda>
  // expected-note@+1 {{it is used here}}
  "test.op"(%a, %b) : (tensor<16xf32, #cuda>, tensor<16xf32, #cuda>) -> ()
  func.return
}

// -----

// A tensor is in an arena of its own device. The op says so.

func.func @elsewhere() {
  %s = "memory.alloc_storage"() {size = 64 : i64, alignment = 64 : i64} : () -> !memory.storage<#relay.device<cuda:0>>
  // expected-error@+1 {{the tensor is tensor<16xf32, #relay.device<cpu:0>>, but its storage is !memory.storage<#relay.device<cuda:0>>}}
  %t = "memory.alloc_tensor"(%s) <{offset = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!memory.storage<#relay.device<cuda:0>>) -> tensor<16xf32, #relay.device<cpu:0>>
  func.return
}
