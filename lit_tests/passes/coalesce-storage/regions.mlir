// RUN: xrelay-opt --split-input-file -p coalesce-storage %s | filecheck %s

// The storages of a region share one arena; every slice lives as long as the region.
//
// CHECK-LABEL: func.func @one_arena
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %[[A:[a-z0-9_]+]] = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %[[B:[a-z0-9_]+]] = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %[[TOTAL:[a-z0-9_]+]] = memory.total %{{.*}}
// CHECK-NEXT:    %[[ARENA:[a-z0-9_]+]] = memory.alloc_storage %[[TOTAL]] align 64 : !memory.storage
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[ARENA]][%[[A]]]
// CHECK:         %{{.*}} = memory.alloc_tensor %[[ARENA]][%[[B]]]
func.func @one_arena(%x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Each arm of a branch has an arena of its own, and the function another.
//
// CHECK-LABEL: func.func @one_per_arm
// CHECK-NEXT:    %{{.*}} = memory.pack
// CHECK:         relay.if
// CHECK-NEXT:      %{{.*}} = memory.pack
// CHECK:         } else {
// CHECK-NEXT:      %{{.*}} = memory.pack
func.func @one_per_arm(%c: tensor<i1>, %x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  relay.if %c : tensor<i1> {
    %s2 = memory.alloc_storage 16 align 64 : !memory.storage
    %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
    %d = memory.copy ins(%x : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
    %s3 = memory.alloc_storage 16 align 64 : !memory.storage
    %t3 = memory.alloc_tensor %s3[0] : tensor<4xf32>
    %e = memory.copy ins(%d : tensor<4xf32>) outs(%t3 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  } else {
    %s4 = memory.alloc_storage 16 align 64 : !memory.storage
    %t4 = memory.alloc_tensor %s4[0] : tensor<4xf32>
    %g = memory.copy ins(%x : tensor<4xf32>) outs(%t4 : tensor<4xf32>) -> tensor<4xf32>
    %s5 = memory.alloc_storage 16 align 64 : !memory.storage
    %t5 = memory.alloc_tensor %s5[0] : tensor<4xf32>
    %h = memory.copy ins(%g : tensor<4xf32>) outs(%t5 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  }
  func.return
}
