// RUN: xrelay-opt --split-input-file -p pack-storage %s | filecheck %s

// Storages of both arms are in the arena of the function; what one arm no longer needs, the other,
// later in program order, may use.
//
// CHECK-LABEL: func.func @arms_share
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [2, 3) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK-NEXT:    %[[ARENA:[a-z]+]] = memory.alloc_storage
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      %{{.*}} = memory.alloc_tensor %[[ARENA]]
// CHECK:         } else {
// CHECK-NEXT:      %{{.*}} = memory.alloc_tensor %[[ARENA]]
func.func @arms_share(%c: tensor<i1>, %x: tensor<4xf32>) {
  relay.if %c : tensor<i1> {
    %s0 = memory.alloc_storage 16 align 64 : !memory.storage
    %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
    %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  } else {
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = memory.copy ins(%x : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  }
  func.return
}

// -----

// Bytes that an arm yields live on after the branch, but never together with those of the other arm.
//
// CHECK-LABEL: func.func @arms_exclude_each_other
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 4) 16 in (0:0)
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [1, 4) 16 in (0:1)
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [2, 3) 16 in (0:1)
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
func.func @arms_exclude_each_other(%c: tensor<i1>, %x: tensor<4xf32>) {
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %s0 = memory.alloc_storage 16 align 64 : !memory.storage
    %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
    %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %a : tensor<4xf32>
  } else {
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = memory.copy ins(%x : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    %s2 = memory.alloc_storage 16 align 64 : !memory.storage
    %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
    %d = memory.copy ins(%b : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  }
  %n = vm.shape_of %r : (tensor<4xf32>) -> tensor<1xi64>
  func.return
}

// -----

// Bytes from before a branch that only the first arm uses are free in the second.
//
// CHECK-LABEL: func.func @dead_in_the_other_arm
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 1) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [2, 3) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
func.func @dead_in_the_other_arm(%c: tensor<i1>, %x: tensor<4xf32>) {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t0 : tensor<4xf32>) -> tensor<4xf32>
  relay.if %c : tensor<i1> {
    %n = vm.shape_of %a : (tensor<4xf32>) -> tensor<1xi64>
    relay.yield
  } else {
    %s1 = memory.alloc_storage 16 align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
    %b = memory.copy ins(%x : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
    relay.yield
  }
  func.return
}

// -----

// A storage in a branch whose size is computed there has its arena there.
//
// CHECK-LABEL: func.func @size_of_an_arm
// CHECK:         relay.if
// CHECK-NEXT:      %[[N:[a-z]+]] = arith.muli
// CHECK-NEXT:      %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:      %{{.*}} = memory.slice %{{.*}} [0, 3) %[[N]]
// CHECK-NEXT:      %{{.*}} = memory.slice %{{.*}} [1, 2) %[[N]]
// CHECK-NEXT:      %{{.*}} = memory.total %{{.*}}
func.func @size_of_an_arm(%c: tensor<i1>, %n: i64, %dims: tensor<1xi64>) {
  relay.if %c : tensor<i1> {
    %size = arith.muli %n, %n : i64
    %s = memory.alloc_storage %size align 64 : !memory.storage
    %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
    %s1 = memory.alloc_storage %size align 64 : !memory.storage
    %t1 = memory.alloc_tensor %s1[0] shape %dims : tensor<1xi64> -> tensor<?xf32>
    memory.kill %t : tensor<?xf32>
    relay.yield
  } else {
    relay.yield
  }
  func.return
}
