// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A storage has a size in bytes, static or an i64, an alignment and maybe a device: where it is, or
// where it is to be.
//
// CHECK-LABEL: @storages
// CHECK:         memory.alloc_storage 140 align 64 : !memory.storage<#cuda0>
// CHECK:         memory.alloc_storage 0 align 1 : !memory.storage
// CHECK:         memory.alloc_storage %{{.*}} align 128 {note} : !memory.storage<#cpu0>
// CHECK:         memory.alloc_storage 8 align 64 on #cuda0 {note} : !memory.storage
func.func @storages(%bytes: i64) {
  %a = memory.alloc_storage 140 align 64 : !memory.storage<#relay.device<cuda:0>>
  %b = memory.alloc_storage 0 align 1 : !memory.storage
  %c = memory.alloc_storage %bytes align 128 {note} : !memory.storage<#relay.device<cpu:0>>
  %d = memory.alloc_storage 8 align 64 on #relay.device<cuda:0> {note} : !memory.storage
  func.return
}

// -----

// A tensor views its storage at a byte offset; a dynamic shape is an operand.
//
// CHECK-LABEL: @tensors
// CHECK:         %[[S:.*]] = memory.alloc_storage 512
// CHECK:         memory.alloc_tensor %[[S]][128] : tensor<4x4xf32, #cpu0>
// CHECK:         memory.alloc_tensor %[[S]][%[[AT:.*]]] {note} : tensor<f64, #cpu0>
// CHECK:         memory.alloc_tensor %[[S]][0] shape %[[DIMS:.*]] : tensor<2xi64, #cpu0> -> tensor<?x4xi8, #cpu0>
// CHECK:         memory.alloc_tensor %[[S]][%[[AT]]] shape %[[DIMS]] : tensor<2xi64, #cpu0> -> tensor<?x?xi1, #cpu0>
func.func @tensors(%at: i64, %dims: tensor<2xi64, #relay.device<cpu:0>>) {
  %s = memory.alloc_storage 512 align 64 : !memory.storage<#relay.device<cpu:0>>
  %a = memory.alloc_tensor %s[128] : tensor<4x4xf32, #relay.device<cpu:0>>
  %b = memory.alloc_tensor %s[%at] {note} : tensor<f64, #relay.device<cpu:0>>
  %c = memory.alloc_tensor %s[0] shape %dims : tensor<2xi64, #relay.device<cpu:0>> -> tensor<?x4xi8, #relay.device<cpu:0>>
  %d = memory.alloc_tensor %s[%at] shape %dims : tensor<2xi64, #relay.device<cpu:0>> -> tensor<?x?xi1, #relay.device<cpu:0>>
  func.return
}

// -----

// A copy writes into a tensor that may be on another device, or into a parameter.
//
// CHECK-LABEL: @copies
// CHECK:         %[[T:.*]] = memory.alloc_tensor
// CHECK:         memory.copy ins(%{{.*}} : tensor<4xf32, #cpu0>) outs(%[[T]] : tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
// CHECK:         memory.copy ins(%{{.*}} : tensor<4xf32, #cpu0>) outs(%out : tensor<4xf32, #cpu0>) -> tensor<4xf32, #cpu0>
// CHECK:         memory.kill %[[T]] : tensor<4xf32, #cuda0>
// CHECK:         memory.copy_rows ins(%{{.*}} : tensor<4xf32, #cpu0>) outs(%out : tensor<4xf32, #cpu0>) {axis = 0 : i64, start = 0 : i64} -> tensor<4xf32, #cpu0>
func.func @copies(%x: tensor<4xf32, #relay.device<cpu:0>>, %out: tensor<4xf32, #relay.device<cpu:0>>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cuda:0>>
  %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %z = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%out : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %t : tensor<4xf32, #relay.device<cuda:0>>
  %r = memory.copy_rows ins(%z : tensor<4xf32, #relay.device<cpu:0>>) outs(%out : tensor<4xf32, #relay.device<cpu:0>>) {axis = 0 : i64, start = 0 : i64} -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

// A pack has slices beside it, each with a lifetime, a size, static or an i64, and maybe arms.
//
// CHECK-LABEL: @packs
// CHECK:         %[[PACK:.*]] = memory.pack align 64 : !memory.pack {note}
// CHECK-NEXT:    memory.slice %[[PACK]] [0, 2) %size
// CHECK-NEXT:    memory.slice %[[PACK]] [1, 4) 4096 align 16 in (0:0) {note}
// CHECK-NEXT:    %[[LAST:.*]] = memory.slice %[[PACK]] [1, 3) 0 in (0:1, 2:0)
// CHECK-NEXT:    memory.total %[[PACK]] {note}
// CHECK-NEXT:    "test.op"(%[[LAST]])
// CHECK-NEXT:    memory.pack align 1 : !memory.pack
// CHECK-NEXT:    memory.pack at_bind align 64 : !memory.pack
func.func @packs(%size: i64) {
  %pack = memory.pack align 64 : !memory.pack {note}
  %a = memory.slice %pack [0, 2) %size
  %b = memory.slice %pack [1, 4) 4096 align 16 in (0:0) {note}
  %c = memory.slice %pack [1, 3) 0 in (0:1, 2:0)
  %total = memory.total %pack {note}
  "test.op"(%c) : (i64) -> ()
  %empty = memory.pack align 1 : !memory.pack
  %left = memory.pack at_bind align 64 : !memory.pack
  func.return
}

// -----

// An ordered pack says which slices a slice lies on: by name in one order, by number in several.
//
// CHECK-LABEL: @orders
// CHECK:         %[[ONE:.*]] = memory.pack ordered align 64 : !memory.pack
// CHECK-NEXT:    %[[A:.*]] = memory.slice %[[ONE]] [0, 2) %size
// CHECK-NEXT:    %[[B:.*]] = memory.slice %[[ONE]] [1, 3) 64 on (%[[A]])
// CHECK-NEXT:    memory.slice %[[ONE]] [1, 3) %size in (0:1) on (%[[A]], %[[B]])
// CHECK:         %[[TWO:.*]] = memory.pack smallest of 2 align 64 : !memory.pack
// CHECK-NEXT:    memory.slice %[[TWO]] [0, 2) %size on () or (1)
// CHECK-NEXT:    memory.slice %[[TWO]] [1, 3) 64 on (0, 2) or ()
// CHECK-NEXT:    memory.slice %[[TWO]] [4, 5) 64
func.func @orders(%size: i64) {
  %one = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %one [0, 2) %size
  %b = memory.slice %one [1, 3) 64 on (%a)
  %c = memory.slice %one [1, 3) %size in (0:1) on (%a, %b)
  %total = memory.total %one
  %two = memory.pack smallest of 2 align 64 : !memory.pack
  %d = memory.slice %two [0, 2) %size on () or (1)
  %e = memory.slice %two [1, 3) 64 on (0, 2) or ()
  %f = memory.slice %two [4, 5) 64
  func.return
}

// -----

// Slices of one piece are side by side, over others, or tied; a slice may be at a fixed offset.
// Nothing is in a slice between its intervals, and never in padding. A pool is an arena of its own.
//
// CHECK-LABEL: @pieces
// CHECK:         %[[PACK:.*]] = memory.pack ordered align 64 : !memory.pack
// CHECK-NEXT:    %[[A:.*]] = memory.slice %[[PACK]] [1, 4) %size
// CHECK-NEXT:    %[[B:.*]] = memory.slice %[[PACK]] 64 beside %[[A]]
// CHECK-NEXT:    %[[C:.*]] = memory.slice %[[PACK]] [2, 4) [5, 6) %size in (0:1) beside %[[B]]
// CHECK-NEXT:    %[[W:.*]] = memory.slice %[[PACK]] [6, 8) over %[[A]] to %[[C]]
// CHECK-NEXT:    memory.slice %[[PACK]] [8, 9) %size tied %[[W]]
// CHECK-NEXT:    memory.slice %[[PACK]] [2, 3) %size on (%[[A]])
// CHECK-NEXT:    memory.slice %[[PACK]] [0, 9) 256 at 0 pool 1
// CHECK-NEXT:    memory.slice %[[PACK]] [0, 9) %size pool 1
// CHECK-NEXT:    memory.total %[[PACK]]
// CHECK-NEXT:    memory.total %[[PACK]] pool 1
func.func @pieces(%size: i64) {
  %pack = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %pack [1, 4) %size
  %b = memory.slice %pack 64 beside %a
  %c = memory.slice %pack [2, 4) [5, 6) %size in (0:1) beside %b
  %w = memory.slice %pack [6, 8) over %a to %c
  %t = memory.slice %pack [8, 9) %size tied %w
  %on = memory.slice %pack [2, 3) %size on (%a)
  %f = memory.slice %pack [0, 9) 256 at 0 pool 1
  %g = memory.slice %pack [0, 9) %size pool 1
  %total = memory.total %pack
  %other = memory.total %pack pool 1
  func.return
}

// -----

// A slice of a storage is a storage, at a byte offset and of a size that are static or i64.
//
// CHECK-LABEL: @slices
// CHECK:         %[[A:.*]] = memory.slice_storage %s[64] size 128 align 64 : !memory.storage<#cpu0>
// CHECK:         memory.slice_storage %[[A]][%n] size 8 align 8 : !memory.storage<#cpu0>
// CHECK:         memory.slice_storage %s[%n] size %n align 64 {note} : !memory.storage<#cpu0>
func.func @slices(%s: !memory.storage<#relay.device<cpu:0>>, %n: i64) {
  %a = memory.slice_storage %s[64] size 128 align 64 : !memory.storage<#relay.device<cpu:0>>
  %b = memory.slice_storage %a[%n] size 8 align 8 : !memory.storage<#relay.device<cpu:0>>
  %c = memory.slice_storage %s[%n] size %n align 64 {note} : !memory.storage<#relay.device<cpu:0>>
  func.return
}

// -----

// A pack may lay out a workspace of its function, whose size callers ask for by the parameter's
// number and the shapes that it depends on.
//
// CHECK-LABEL: @f
// CHECK:         %{{.*}} = memory.pack align 64 within %w : !memory.storage -> !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 64
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK-LABEL: @workspaces
// CHECK:         memory.workspace_size @f[1](%s : tensor<2xi64>) {note}
// CHECK:         memory.workspace_size @f[2]
func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>}, %v: !memory.storage {memory.workspace = array<i64>}) {
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %offset = memory.slice %pack [0, 1) 64
  %total = memory.total %pack
  func.return
}
func.func @workspaces(%s: tensor<2xi64>) {
  %n = memory.workspace_size @f[1](%s : tensor<2xi64>) {note}
  %m = memory.workspace_size @f[2]
  func.return
}

// -----

// A pool is a memory scope of a device; a tensor of the device may lie in it, and a pack says it.
//
// CHECK-LABEL: @pools
// CHECK:         %[[P:.*]] = memory.pack align 64 in #memory.pool<#cpu0_dtcm, capacity 256, cost 1, align 1> : !memory.pack
// CHECK:         %[[S:.*]] = memory.alloc_storage %{{.*}} align 64 : !memory.storage<#cpu0_dtcm>
// CHECK:         memory.alloc_tensor %[[S]][0] : tensor<4xf32, #cpu0> in !memory.storage<#cpu0_dtcm>
// CHECK:         memory.pack align 8 in #memory.pool<#cpu0, cost 3, align 8> : !memory.pack
func.func @pools() {
  %p = memory.pack align 64 in #memory.pool<#relay.device<cpu:0, scope = "dtcm">, capacity 256, cost 1, align 1> : !memory.pack
  %a = memory.slice %p [0, 1) 16
  %total = memory.total %p
  %s = memory.alloc_storage %total align 64 : !memory.storage<#relay.device<cpu:0, scope = "dtcm">>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cpu:0>> in !memory.storage<#relay.device<cpu:0, scope = "dtcm">>
  %q = memory.pack align 8 in #memory.pool<#relay.device<cpu:0>, cost 3, align 8> : !memory.pack
  func.return
}

// -----

// CHECK-LABEL: @buffers
// CHECK:         memory.buffer %[[S:.*]][128] : memref<4x4xf32>
// CHECK:         memory.buffer %[[S]][%{{.*}}] sizes(%{{.*}}, %{{.*}}) {note} : memref<?x4x?xf32>
// CHECK:         memory.buffer %{{.*}}[0] : memref<4xf32, 1 : i64> in !memory.storage<#cpu0_1>
func.func @buffers(%s: !memory.storage, %t: !memory.storage<#relay.device<cpu:0, scope = "1">>, %o: i64, %n: index) {
  %a = memory.buffer %s[128] : memref<4x4xf32>
  %b = memory.buffer %s[%o] sizes(%n, %n) {note} : memref<?x4x?xf32>
  %c = memory.buffer %t[0] : memref<4xf32, 1> in !memory.storage<#relay.device<cpu:0, scope = "1">>
  func.return
}
