// RUN: xrelay-opt --split-input-file -p pack-storage %s | filecheck %s

// Storages share an arena; a slice lives from its tensor to the last use of its bytes.
//
// CHECK-LABEL: func.func @lifetimes
// CHECK-NEXT:    %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %[[A:[a-z0-9_]+]] = memory.slice %{{.*}} [0, 2) 16
// CHECK-NEXT:    %[[B:[a-z0-9_]+]] = memory.slice %{{.*}} [1, 4) 16
// CHECK-NEXT:    %[[C:[a-z0-9_]+]] = memory.slice %{{.*}} [3, 4) 16
// CHECK-NEXT:    %[[TOTAL:[a-z0-9_]+]] = memory.total %{{.*}}
// CHECK-NEXT:    %[[ARENA:[a-z0-9_]+]] = memory.alloc_storage %[[TOTAL]] align 64 : !memory.storage
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %[[ARENA]][%[[A]]]
// CHECK:         %{{.*}} = memory.alloc_tensor %[[ARENA]][%[[B]]]
// CHECK:         %{{.*}} = memory.alloc_tensor %[[ARENA]][%[[C]]]
// CHECK-NOT:     memory.alloc_storage
func.func @lifetimes(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %b = vm.invoke_tvm_op @f ins(%a : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  %s2 = memory.alloc_storage 16 align 64 : !memory.storage
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32>
  %c = vm.invoke_tvm_op @f ins(%b : tensor<4xf32>) outs(%t2 : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %x : tensor<4xf32>
}

// -----

// Each device and memory scope has an arena of its own, aligned as its strictest storage.
//
// CHECK-LABEL: func.func @devices_and_scopes
// CHECK:         %{{.*}} = memory.pack align 128 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 2) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [1, 3) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK-NEXT:    %{{.*}} = memory.alloc_storage %{{.*}} align 128 : !memory.storage<#cpu0>
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 2) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [1, 3) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
// CHECK-NEXT:    %{{.*}} = memory.alloc_storage %{{.*}} align 64 : !memory.storage<#cuda0>
// CHECK:         memory.alloc_storage 16 align 64 : !memory.storage<#cuda0_texture>
func.func @devices_and_scopes() {
  %s0 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %s2 = memory.alloc_storage 16 align 128 : !memory.storage<#relay.device<cpu:0>>
  %s3 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0>>
  %s4 = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cuda:0, scope = "texture">>
  %t0 = memory.alloc_tensor %s0[0] : tensor<4xf32, #relay.device<cpu:0>>
  %t2 = memory.alloc_tensor %s2[0] : tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %t0 : tensor<4xf32, #relay.device<cpu:0>>
  memory.kill %t2 : tensor<4xf32, #relay.device<cpu:0>>
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32, #relay.device<cuda:0>>
  %t3 = memory.alloc_tensor %s3[0] : tensor<4xf32, #relay.device<cuda:0>>
  memory.kill %t1 : tensor<4xf32, #relay.device<cuda:0>>
  memory.kill %t3 : tensor<4xf32, #relay.device<cuda:0>>
  %t4 = memory.alloc_tensor %s4[0] : tensor<4xf32, #relay.device<cuda:0, scope = "texture">>
  func.return
}

// -----

// Views, tuples and projections are other names of the same bytes, which live as long as they do.
//
// CHECK-LABEL: func.func @aliases
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [0, 2) 16
// CHECK-NEXT:    %{{.*}} = memory.slice %{{.*}} [1, 3) 16
// CHECK-NEXT:    %{{.*}} = memory.total %{{.*}}
func.func @aliases(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %v = vm.reshape_tensor %a : (tensor<4xf32>) -> tensor<2x2xf32>
  %p = relay.tuple %v : (tensor<2x2xf32>) -> tuple<tensor<2x2xf32>>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %q = relay.tuple_get_item %p[0] : (tuple<tensor<2x2xf32>>) -> tensor<2x2xf32>
  %n = vm.shape_of %q : (tensor<2x2xf32>) -> tensor<2xi64>
  %b = memory.copy ins(%x : tensor<4xf32>) outs(%t1 : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Tensors that share a storage are placed together, at their offsets in it.
//
// CHECK-LABEL: func.func @shared_storage
// CHECK:         %{{.*}} = memory.pack align 64 : !memory.pack
// CHECK-NEXT:    %[[A:[a-z0-9_]+]] = memory.slice %{{.*}} [0, 3) 32
// CHECK-NEXT:    %[[B:[a-z0-9_]+]] = memory.slice %{{.*}} [1, 2) 16
// CHECK:         %{{.*}} = memory.alloc_tensor %arena[%[[A]]]
// CHECK:         %[[C16:[a-z0-9_]+]] = arith.constant 16 : i64
// CHECK-NEXT:    %[[AT:[a-z0-9_]+]] = arith.addi %[[A]], %[[C16]]
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor %arena[%[[AT]]]
func.func @shared_storage() {
  %s = memory.alloc_storage 32 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  %u = memory.alloc_tensor %s[16] : tensor<4xf32>
  func.return
}

// -----

// A storage alone on its device stays as it is, as does one without tensors.
//
// CHECK-LABEL: func.func @alone
// CHECK-NEXT:    %{{.*}} = memory.alloc_storage 16
// CHECK-NEXT:    %{{.*}} = memory.alloc_tensor
// CHECK-NEXT:    %{{.*}} = memory.alloc_storage 32
// CHECK-NEXT:    func.return
func.func @alone() {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %empty = memory.alloc_storage 32 align 64 : !memory.storage
  func.return
}
