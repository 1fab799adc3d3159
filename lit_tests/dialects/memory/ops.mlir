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
func.func @copies(%x: tensor<4xf32, #relay.device<cpu:0>>, %out: tensor<4xf32, #relay.device<cpu:0>>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cuda:0>>
  %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%t : tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  %z = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>) outs(%out : tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %t : tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

// A pack has an alignment, and for each slice a lifetime, a size, static or an i64, and maybe arms.
//
// CHECK-LABEL: @packs
// CHECK:         %total, %offsets, %{{.*}}, %[[LAST:.*]] = memory.pack align 64 {
// CHECK-NEXT:      [0, 2) %size
// CHECK-NEXT:      [1, 4) 4096 in (0:0)
// CHECK-NEXT:      [1, 3) 0 in (0:1, 2:0)
// CHECK-NEXT:    } {note}
// CHECK-NEXT:    "test.op"(%[[LAST]])
// CHECK-NEXT:    memory.pack align 1 {
// CHECK-NEXT:    }
func.func @packs(%size: i64) {
  %total, %offsets:3 = memory.pack align 64 {
    [0, 2) %size
    [1, 4) 4096 in (0:0)
    [1, 3) 0 in (0:1, 2:0)
  } {note}
  "test.op"(%offsets#2) : (i64) -> ()
  %empty = memory.pack align 1 {
  }
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
// CHECK:         memory.pack align 64 within %w : !memory.storage {
// CHECK-NEXT:      [0, 1) 64
// CHECK-NEXT:    }
// CHECK-LABEL: @workspaces
// CHECK:         memory.workspace_size @f[1](%s : tensor<2xi64>) {note}
// CHECK:         memory.workspace_size @f[2]
func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>}, %v: !memory.storage {memory.workspace = array<i64>}) {
  %total, %offset = memory.pack align 64 within %w : !memory.storage {
    [0, 1) 64
  }
  func.return
}
func.func @workspaces(%s: tensor<2xi64>) {
  %n = memory.workspace_size @f[1](%s : tensor<2xi64>) {note}
  %m = memory.workspace_size @f[2]
  func.return
}
