// RUN: xrelay-opt -p pass-workspaces %s | filecheck %s --check-prefix=PUBLIC
// RUN: xrelay-opt -p 'pass-workspaces{entries=main}' %s | filecheck %s --check-prefix=ENTRIES
// RUN: not xrelay-opt -p 'pass-workspaces{entries=lost}' %s 2>&1 | filecheck %s --check-prefix=LOST

// A function that may be called from outside is not changed; with the option `entries`, only these
// may, and the functions that are changed become private.
//
// PUBLIC:    func.func @leaf(%x: tensor<16xf32>) ->
// PUBLIC:    func.call @leaf(%x) :
// ENTRIES:   func.func private @leaf(%x: tensor<16xf32>, %{{.*}}: !memory.storage {memory.result
// ENTRIES:   %[[SIZE:.*]] = memory.workspace_size @leaf[2]
// ENTRIES:   %[[R:.*]] = memory.alloc_storage 64
// ENTRIES:   %[[W:.*]] = memory.alloc_storage %[[SIZE]] align 64
// ENTRIES:   func.call @leaf(%x, %[[R]], %[[W]])
// LOST:      @lost, of the option entries, is not a function
func.func @leaf(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s0 = memory.alloc_storage 64 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<16xf32>
  %a = memory.copy ins(%x : tensor<16xf32>) outs(%t0 : tensor<16xf32>) -> tensor<16xf32>
  %s1 = memory.alloc_storage 64 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<16xf32>
  %b = memory.copy ins(%a : tensor<16xf32>) outs(%t1 : tensor<16xf32>) -> tensor<16xf32>
  %s2 = memory.alloc_storage 64 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<16xf32>
  %c = memory.copy ins(%b : tensor<16xf32>) outs(%t2 : tensor<16xf32>) -> tensor<16xf32>
  func.return %c : tensor<16xf32>
}
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = func.call @leaf(%x) : (tensor<16xf32>) -> tensor<16xf32>
  func.return %a : tensor<16xf32>
}
