// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Matrix products.

// CHECK-LABEL: @dense
// CHECK:       relay.nn.dense %a0, %a1 : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
// CHECK:       relay.nn.dense %a2, %a3 {out_dtype = i32} : (tensor<2x4xi8>, tensor<5x4xi8>) -> tensor<2x5xi32>
func.func @dense(%a0: tensor<2x4xf32>, %a1: tensor<5x4xf32>, %a2: tensor<2x4xi8>, %a3: tensor<5x4xi8>) {
  %0 = relay.nn.dense %a0, %a1 : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  %1 = relay.nn.dense %a2, %a3 {out_dtype = i32} : (tensor<2x4xi8>, tensor<5x4xi8>) -> tensor<2x5xi32>
  func.return
}

// CHECK-LABEL: @packed_dense
// CHECK:       relay.nn.packed_dense %a0, %a1 : (tensor<?x4xf32>, tensor<3x4x16xf32>) -> tensor<?x48xf32>
func.func @packed_dense(%a0: tensor<?x4xf32>, %a1: tensor<3x4x16xf32>) {
  %0 = relay.nn.packed_dense %a0, %a1 : (tensor<?x4xf32>, tensor<3x4x16xf32>) -> tensor<?x48xf32>
  func.return
}

// CHECK-LABEL: @matmul
// CHECK:       relay.nn.matmul %a0, %a1 : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
// CHECK:       relay.nn.matmul %a2, %a1 {transpose_a = true} : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
// CHECK:       relay.nn.matmul %a3, %a4 {transpose_b = true} : (tensor<2x4xf64>, tensor<5x4xf64>) -> tensor<2x5xf64>
// CHECK:       relay.nn.matmul %a5, %a6 {out_dtype = i32} : (tensor<2x4xi8>, tensor<4x5xi8>) -> tensor<2x5xi32>
func.func @matmul(%a0: tensor<2x4xf32>, %a1: tensor<4x5xf32>, %a2: tensor<4x2xf32>, %a3: tensor<2x4xf64>, %a4: tensor<5x4xf64>, %a5: tensor<2x4xi8>, %a6: tensor<4x5xi8>) {
  %0 = relay.nn.matmul %a0, %a1 : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  %1 = relay.nn.matmul %a2, %a1 {transpose_a = true} : (tensor<4x2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  %2 = relay.nn.matmul %a3, %a4 {transpose_b = true} : (tensor<2x4xf64>, tensor<5x4xf64>) -> tensor<2x5xf64>
  %3 = relay.nn.matmul %a5, %a6 {out_dtype = i32} : (tensor<2x4xi8>, tensor<4x5xi8>) -> tensor<2x5xi32>
  func.return
}

// CHECK-LABEL: @batch_matmul
// CHECK:       relay.nn.batch_matmul %a0, %a1 : (tensor<3x2x4xf32>, tensor<3x5x4xf32>) -> tensor<3x2x5xf32>
// CHECK:       relay.nn.batch_matmul %a2, %a3 {transpose_a = true, transpose_b = false} : (tensor<1x4x2xf32>, tensor<3x4x5xf32>) -> tensor<3x2x5xf32>
// CHECK:       relay.nn.batch_matmul %a4, %a5 {out_dtype = i32} : (tensor<1x2x4xi8>, tensor<1x5x4xi8>) -> tensor<1x2x5xi32>
func.func @batch_matmul(%a0: tensor<3x2x4xf32>, %a1: tensor<3x5x4xf32>, %a2: tensor<1x4x2xf32>, %a3: tensor<3x4x5xf32>, %a4: tensor<1x2x4xi8>, %a5: tensor<1x5x4xi8>) {
  %0 = relay.nn.batch_matmul %a0, %a1 : (tensor<3x2x4xf32>, tensor<3x5x4xf32>) -> tensor<3x2x5xf32>
  %1 = relay.nn.batch_matmul %a2, %a3 {transpose_a = true, transpose_b = false} : (tensor<1x4x2xf32>, tensor<3x4x5xf32>) -> tensor<3x2x5xf32>
  %2 = relay.nn.batch_matmul %a4, %a5 {out_dtype = i32} : (tensor<1x2x4xi8>, tensor<1x5x4xi8>) -> tensor<1x2x5xi32>
  func.return
}
