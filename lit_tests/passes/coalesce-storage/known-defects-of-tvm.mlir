// RUN: xrelay-opt --split-input-file -p coalesce-storage %s | filecheck %s

// What TVM's MemoryPlan gets wrong.

// A branch whose result has a name is planned too (TVM visits no values of lets).
//
// CHECK-LABEL: func.func @named_branch
// CHECK:         relay.if
// CHECK-NEXT:      %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:      %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:      %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:      %{{.*}} = memory.total %{{.*}}
func.func @named_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s0 = memory.alloc_storage 16 align 64 : !memory.storage
    %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
    %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// A result does not keep the arena alive: it has a storage of its own, as has what an arm yields
// (TVM's regions keep all their tensors).
//
// CHECK-LABEL: func.func @results_pin_nothing
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK:         relay.if
// CHECK-NEXT:      %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:      %{{.*}} = memory.slice %{{.*}} [0, 1) 128
// CHECK-NEXT:      %{{.*}} = memory.slice %{{.*}} [0, 1) 128
// CHECK-NEXT:      %{{.*}} = memory.total %{{.*}}
// CHECK:           %{{.*}} = memory.alloc_storage 32 align 64
// CHECK:         %{{.*}} = memory.alloc_storage 64 align 64
func.func @results_pin_nothing(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s_g = memory.alloc_storage 128 align 64 : !memory.storage
    %t_g = memory.alloc_tensor %s_g[0] : tensor<4xf32>
    %g = memory.copy ins(%b : tensor<4xf32>) outs(%t_g : tensor<4xf32>) -> tensor<4xf32>
    %s_h = memory.alloc_storage 128 align 64 : !memory.storage
    %t_h = memory.alloc_tensor %s_h[0] : tensor<4xf32>
    %h = memory.copy ins(%g : tensor<4xf32>) outs(%t_h : tensor<4xf32>) -> tensor<4xf32>
    %s2 = memory.alloc_storage 32 align 64 : !memory.storage
    %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
    %d = memory.copy ins(%b : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %d : tensor<4xf32>
  } else {
    %k = relay.constant dense<1.0> : tensor<4xf32>
    relay.yield %k : tensor<4xf32>
  }
  %s3 = memory.alloc_storage 64 align 64 : !memory.storage
  %t3 = memory.alloc_tensor %s3[0] : tensor<4xf32>
  %e = memory.copy ins(%r : tensor<4xf32>) outs(%t3 : tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

// Devices of one type but different ids have arenas of their own (TVM stops with an assertion).
//
// CHECK-LABEL: func.func @device_ids
// CHECK:         memory.alloc_storage %{{.*}} align 64 : !memory.storage<#cpu0>
// CHECK:         memory.alloc_storage %{{.*}} align 64 : !memory.storage<#cpu1>
func.func @device_ids() {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32, #relay.device<cpu:0>>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:1>>
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32, #relay.device<cpu:1>>
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32, #relay.device<cpu:0>>
  %s3 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:1>>
  %t3 = memory.alloc_tensor %s3[0] : tensor<4xf32, #relay.device<cpu:1>>
  func.return
}

// -----

// Alignments may differ: the arena has the strictest (TVM stops with an assertion).
//
// CHECK-LABEL: func.func @alignments
// CHECK:         %{{.*}} = memory.pack align 128 : !memory.pack
// CHECK:         memory.alloc_storage %{{.*}} align 128
func.func @alignments() {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 128 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  func.return
}

// -----

// Element types may differ: storage has none (TVM has a region for each).
//
// CHECK-LABEL: func.func @element_types
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 8
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
func.func @element_types() {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %s1 = memory.alloc_storage 8 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<1xi64>
  func.return
}

// -----

// A dynamic size opens no region: it is packed with the static ones (TVM starts a new region).
//
// CHECK-LABEL: func.func @dynamic_sizes
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) %n
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
func.func @dynamic_sizes(%n: i64, %dims: tensor<1xi64>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %s = memory.alloc_storage %n align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  func.return
}

// -----

// A region without storages gets no arena, nor does a single storage.
//
// CHECK-LABEL: func.func @nothing_to_share
// CHECK-NOT:     memory.pack
// CHECK:         func.return
func.func @nothing_to_share(%c: tensor<i1>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  relay.if %c : tensor<i1> {
    relay.yield
  } else {
    relay.yield
  }
  func.return
}

// -----

// Three allocations become one, and names say what a value is, the same in every run (TVM names
// sizes by hashes).
//
// CHECK-LABEL: func.func @one_allocation
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK:         %arena = memory.alloc_storage %total align 64
// CHECK-NOT:     memory.alloc_storage
// CHECK:         func.return
func.func @one_allocation(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  %s_c = memory.alloc_storage 16 align 64 : !memory.storage
  %t_c = memory.alloc_tensor %s_c[0] : tensor<4xf32>
  %c = memory.copy ins(%b : tensor<4xf32>) outs(%t_c : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// The device of a storage is read from its type, on which every op agrees (TVM reads attributes that
// are gone, and its patterns do not see through wrappers of devices).
//
// CHECK-LABEL: func.func @devices_in_types
// CHECK:         %[[ARENA:.*]] = memory.alloc_storage %{{.*}} align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    memory.alloc_tensor %[[ARENA]]
// CHECK:         memory.alloc_tensor %[[ARENA]]
func.func @devices_in_types(%x: tensor<4xf32, #relay.device<cuda:0>>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32, #relay.device<cuda:0>>
  %a = memory.copy ins(%x : tensor<4xf32, #relay.device<cuda:0>>) outs(%t_a : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32, #relay.device<cuda:0>>
  %b = memory.copy ins(%a : tensor<4xf32, #relay.device<cuda:0>>) outs(%t_b : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

// Cases of a match are planned, and so is the body of a closure (TVM visits neither).
//
// CHECK-LABEL: func.func @match_and_closure
// CHECK:         relay.match
// CHECK-NEXT:      case
// CHECK-NEXT:        %{{.*}} = memory.pack
// CHECK:           case
// CHECK-NEXT:        %{{.*}} = memory.pack
// CHECK:         relay.fn
// CHECK-NEXT:      %{{.*}} = memory.pack
relay.type_data @Box [@Box(tensor<4xf32>), @Empty()]
func.func @match_and_closure(%x: tensor<4xf32>, %l: !relay.adt<@Box, []>) -> (() -> tensor<4xf32>) {
  relay.match %l : !relay.adt<@Box, []> -> () {
    case @Box::@Box(%h: tensor<4xf32>) {
      %s_a = memory.alloc_storage 16 align 64 : !memory.storage
      %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
      %a = memory.copy ins(%h : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
      %s_b = memory.alloc_storage 16 align 64 : !memory.storage
      %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
      %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
      relay.yield
    }
    case _ {
      %s_c = memory.alloc_storage 16 align 64 : !memory.storage
      %t_c = memory.alloc_tensor %s_c[0] : tensor<4xf32>
      %c = memory.copy ins(%x : tensor<4xf32>) outs(%t_c : tensor<4xf32>) -> tensor<4xf32>
      %s_d = memory.alloc_storage 16 align 64 : !memory.storage
      %t_d = memory.alloc_tensor %s_d[0] : tensor<4xf32>
      %d = memory.copy ins(%c : tensor<4xf32>) outs(%t_d : tensor<4xf32>) -> tensor<4xf32>
      relay.yield
    }
  }
  %f = relay.fn () -> tensor<4xf32> {
    %s_e = memory.alloc_storage 16 align 64 : !memory.storage
    %t_e = memory.alloc_tensor %s_e[0] : tensor<4xf32>
    %e = memory.copy ins(%x : tensor<4xf32>) outs(%t_e : tensor<4xf32>) -> tensor<4xf32>
    %s_g = memory.alloc_storage 16 align 64 : !memory.storage
    %t_g = memory.alloc_tensor %s_g[0] : tensor<4xf32>
    %g = memory.copy ins(%e : tensor<4xf32>) outs(%t_g : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %x : tensor<4xf32>
  }
  func.return %f : () -> tensor<4xf32>
}

// -----

// The arena and the offsets of an arm have other names than those around it (TVM repeats offset0).
//
// CHECK-LABEL: func.func @names_differ
// CHECK:         %offset = memory.slice
// CHECK-NEXT:    %offset_1 = memory.slice
// CHECK-NEXT:    %total = memory.total
// CHECK:         %arena = memory.alloc_storage %total
// CHECK:         relay.if
// CHECK-NEXT:      %pack_1 = memory.pack
// CHECK-NEXT:      %offset_2 = memory.slice
// CHECK-NEXT:      %offset_3 = memory.slice
// CHECK-NEXT:      %total_1 = memory.total
// CHECK:           %arena_1 = memory.alloc_storage %total_1
// CHECK:           memory.alloc_tensor %arena_1[%offset_2]
// CHECK:           memory.alloc_tensor %arena_1[%offset_3]
func.func @names_differ(%c0: tensor<i1>, %x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  relay.if %c0 : tensor<i1> {
    %s_c = memory.alloc_storage 16 align 64 : !memory.storage
    %t_c = memory.alloc_tensor %s_c[0] : tensor<4xf32>
    %c = memory.copy ins(%x : tensor<4xf32>) outs(%t_c : tensor<4xf32>) -> tensor<4xf32>
    %s_d = memory.alloc_storage 16 align 64 : !memory.storage
    %t_d = memory.alloc_tensor %s_d[0] : tensor<4xf32>
    %d = memory.copy ins(%c : tensor<4xf32>) outs(%t_d : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  } else {
    relay.yield
  }
  func.return
}

// -----

// Functions share nothing (in an early draft of TVM's, a default argument was one for all).
//
// CHECK-LABEL: func.func @one_function
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK-LABEL: func.func @other_function
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 32
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 32
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
func.func @one_function(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 16 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 16 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
func.func @other_function(%x: tensor<4xf32>) {
  %s_a = memory.alloc_storage 32 align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t_a : tensor<4xf32>) -> tensor<4xf32>
  %s_b = memory.alloc_storage 32 align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t_b : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
