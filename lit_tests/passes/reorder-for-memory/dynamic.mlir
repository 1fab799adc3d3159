// RUN: xrelay-opt -p reorder-for-memory --verify-diagnostics %s | filecheck %s

// Dynamic sizes are compared at sample values of their symbols; their arithmetic moves with the
// allocation.
//
// CHECK-LABEL: func.func @dynamic
// CHECK:         %large = arith.muli
// CHECK-NEXT:    %s_b = memory.alloc_storage %large
// CHECK-NEXT:    %t_b = memory.alloc_tensor
// CHECK-NEXT:    %b = memory.copy
// CHECK:         %n_b = vm.shape_of %b
// CHECK:         %s_a = memory.alloc_storage %small
// CHECK-NEXT:    %t_a = memory.alloc_tensor
// CHECK-NEXT:    %a = memory.copy
//
// expected-remark@+1 {{peak of live bytes: to 0.500 - 0.800 of what it was at sample sizes, the least of any order}}
func.func @dynamic(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: i64, %dx: tensor<1xi64>, %dy: tensor<1xi64>) -> tensor<?xf32> {
  %c4 = arith.constant 4 : i64
  %c16 = arith.constant 16 : i64
  %small = arith.muli %n, %c4 : i64
  %large = arith.muli %n, %c16 : i64
  %s_a = memory.alloc_storage %small align 64 : !memory.storage
  %t_a = memory.alloc_tensor %s_a[0] shape %dx : tensor<1xi64> -> tensor<?xf32>
  %a = memory.copy ins(%x : tensor<?xf32>) outs(%t_a : tensor<?xf32>) -> tensor<?xf32>
  %s_b = memory.alloc_storage %large align 64 : !memory.storage
  %t_b = memory.alloc_tensor %s_b[0] shape %dy : tensor<1xi64> -> tensor<?xf32>
  %b = memory.copy ins(%y : tensor<?xf32>) outs(%t_b : tensor<?xf32>) -> tensor<?xf32>
  %n_b = vm.shape_of %b : (tensor<?xf32>) -> tensor<1xi64>
  func.return %a : tensor<?xf32>
}
