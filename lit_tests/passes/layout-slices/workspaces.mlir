// RUN: xrelay-opt --split-input-file -p layout-slices %s | filecheck %s

// The size of a workspace is that of the slices in it; without slices it is 0.
//
// CHECK-LABEL: func.func private @f(%w: !memory.storage {memory.workspace = array<i64>, memory.size = 164 : i64}, %v:
// CHECK-LABEL: func.func @sizes
// CHECK:         memory.alloc_storage 164 align 64
// CHECK:         memory.alloc_storage 0 align 64
func.func private @f(%w: !memory.storage {memory.workspace = array<i64>}, %v: !memory.storage {memory.workspace = array<i64>}) {
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) 100
  %offsets_1 = memory.slice %pack [1, 3) 64
  %total = memory.total %pack
  %s = memory.slice_storage %w[%offsets_1] size 64 align 64 : !memory.storage
  func.return
}
func.func @sizes() {
  %n = memory.workspace_size @f[0]
  %s = memory.alloc_storage %n align 64 : !memory.storage
  %m = memory.workspace_size @f[1]
  %t = memory.alloc_storage %m align 64 : !memory.storage
  func.call @f(%s, %t) : (!memory.storage, !memory.storage) -> ()
  func.return
}
