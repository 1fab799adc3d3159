// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators that find elements.

// CHECK-LABEL: @topk(
// CHECK:       relay.topk %a0 {k = 2 : i64, dtype = i32} : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
// CHECK:       relay.topk %a1 {k = 1 : i64, axis = 0 : i64, ret_type = "values", is_ascend = true, dtype = i64} : (tensor<3x4xi64>) -> tensor<1x4xi64>
func.func @topk(%a0: tensor<3x4xf32>, %a1: tensor<3x4xi64>) {
  %0, %1 = relay.topk %a0 {k = 2 : i64, dtype = i32} : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  %2 = relay.topk %a1 {k = 1 : i64, axis = 0 : i64, ret_type = "values", is_ascend = true, dtype = i64} : (tensor<3x4xi64>) -> tensor<1x4xi64>
  func.return
}

// CHECK-LABEL: @dyn_topk(
// CHECK:       relay.dyn.topk %a0, %a1 {dtype = i32} : (tensor<3x4xf32>, tensor<i64>) -> (tensor<3x?xf32>, tensor<3x?xi32>)
// CHECK:       relay.dyn.topk %a2, %a3 {axis = 0 : i64, ret_type = "indices", is_ascend = true, dtype = i64} : (tensor<3x4xi64>, tensor<1xi32>) -> tensor<?x4xi64>
func.func @dyn_topk(%a0: tensor<3x4xf32>, %a1: tensor<i64>, %a2: tensor<3x4xi64>, %a3: tensor<1xi32>) {
  %0, %1 = relay.dyn.topk %a0, %a1 {dtype = i32} : (tensor<3x4xf32>, tensor<i64>) -> (tensor<3x?xf32>, tensor<3x?xi32>)
  %2 = relay.dyn.topk %a2, %a3 {axis = 0 : i64, ret_type = "indices", is_ascend = true, dtype = i64} : (tensor<3x4xi64>, tensor<1xi32>) -> tensor<?x4xi64>
  func.return
}

// CHECK-LABEL: @argwhere(
// CHECK:       relay.argwhere %a0 : (tensor<2x3xi1>) -> tensor<?x2xi32>
// CHECK:       relay.argwhere %a1 : (tensor<4xf32>) -> tensor<?x1xi32>
func.func @argwhere(%a0: tensor<2x3xi1>, %a1: tensor<4xf32>) {
  %0 = relay.argwhere %a0 : (tensor<2x3xi1>) -> tensor<?x2xi32>
  %1 = relay.argwhere %a1 : (tensor<4xf32>) -> tensor<?x1xi32>
  func.return
}

// CHECK-LABEL: @unique(
// CHECK:       relay.unique %a0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>)
// CHECK:       relay.unique %a1 {sorted = false, return_counts = true} : (tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>, tensor<4xi32>)
func.func @unique(%a0: tensor<4xf32>, %a1: tensor<4xi64>) {
  %0, %1, %2, %3 = relay.unique %a0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>)
  %4, %5, %6, %7, %8 = relay.unique %a1 {sorted = false, return_counts = true} : (tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>, tensor<4xi32>)
  func.return
}

// CHECK-LABEL: @argsort(
// CHECK:       relay.argsort %a0 {axis = 0 : i64, dtype = i32} : (tensor<3x4xf32>) -> tensor<3x4xi32>
func.func @argsort(%a0: tensor<3x4xf32>) {
  %0 = relay.argsort %a0 {axis = 0 : i64, dtype = i32} : (tensor<3x4xf32>) -> tensor<3x4xi32>
  func.return
}

// CHECK-LABEL: @sort(
// CHECK:       relay.sort %a0 {is_ascend = false} : (tensor<3x4xf32>) -> tensor<3x4xf32>
func.func @sort(%a0: tensor<3x4xf32>) {
  %0 = relay.sort %a0 {is_ascend = false} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// CHECK-LABEL: @scatter_elements(
// CHECK:       relay.scatter_elements %a0, %a1, %a2 {axis = 1 : i64, reduction = "add"} : (tensor<3x4xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x4xf32>
func.func @scatter_elements(%a0: tensor<3x4xf32>, %a1: tensor<3x2xi64>, %a2: tensor<3x2xf32>) {
  %0 = relay.scatter_elements %a0, %a1, %a2 {axis = 1 : i64, reduction = "add"} : (tensor<3x4xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x4xf32>
  func.return
}
