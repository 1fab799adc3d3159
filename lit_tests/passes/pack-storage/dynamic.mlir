// RUN: xrelay-opt --split-input-file -p pack-storage %s | filecheck %s

// The computation of sizes moves up to the arena, with the checks before it.
//
// CHECK-LABEL: func.func @sizes_move_up
// CHECK-NEXT:    relay.require eq %n, %m
// CHECK-NEXT:    %[[SIZE:[a-z]+]] = arith.muli %n, %m : i64
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [2, 3) %[[SIZE]]
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK-NEXT:    %{{.*}} = memory.alloc_storage
func.func @sizes_move_up(%n: i64, %m: i64, %x: tensor<4xf32>, %dims: tensor<1xi64>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  relay.require eq %n, %m, "{0} and {1}"
  %size = arith.muli %n, %m : i64
  %s = memory.alloc_storage %size align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  func.return
}

// -----

// Sizes that depend on data in an arena are known later: their storages have an arena there.
//
// CHECK-LABEL: func.func @sizes_from_data
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 2) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [1, 3) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK:         %[[SIZE:[a-z]+]] = "test.op"
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 3) %[[SIZE]]
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [1, 2) %[[SIZE]]
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
func.func @sizes_from_data(%x: tensor<4xf32>, %dims: tensor<1xi64>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = memory.copy ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %size = "test.op"(%b) : (tensor<4xf32>) -> i64
  %s = memory.alloc_storage %size align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  %s2 = memory.alloc_storage %size align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  memory.kill %t : tensor<?xf32>
  func.return
}

// -----

// A size does not move over a check that must stay behind.
//
// CHECK-LABEL: func.func @check_stays
// CHECK:         %{{.*}} = memory.alloc_storage 16
// CHECK:         relay.require
// CHECK-NEXT:    %{{.*}} = arith.muli
// CHECK-NEXT:    %{{.*}} = memory.alloc_storage
func.func @check_stays(%n: i64, %x: tensor<4xf32>, %dims: tensor<1xi64>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  %m = "test.op"(%a) : (tensor<4xf32>) -> i64
  relay.require eq %n, %m, "{0} and {1}"
  %size = arith.muli %n, %n : i64
  %s = memory.alloc_storage %size align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
  func.return
}
