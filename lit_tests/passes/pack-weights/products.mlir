// RUN: xrelay-opt --split-input-file -p 'pack-weights{width=16 least=2048}' %s | filecheck %s

// The columns of large weights are put into panels, whatever the number of rows.
//
// CHECK-LABEL: @rows
// CHECK-NEXT:    %[[W:.*]] = relay.param "w"
// CHECK-NEXT:    %[[S:.*]] = relay.reshape %[[W]] {newshape = array<i64: 32, 2, 16>{{.*}}}
// CHECK-NEXT:    %[[P:.*]] = relay.transpose %[[S]] {axes = array<i64: 1, 0, 2>} : {{.*}} -> tensor<2x32x16xf32>
// CHECK-NEXT:    relay.nn.packed_dense %x, %[[P]] : (tensor<3x5x32xf32>, tensor<2x32x16xf32>) -> tensor<3x5x32xf32>
// CHECK-NEXT:    relay.nn.packed_dense %y, %[[P]] : (tensor<?x32xf32>, tensor<2x32x16xf32>) -> tensor<?x32xf32>
func.func @rows(%x: tensor<3x5x32xf32>, %y: tensor<?x32xf32>) -> (tensor<3x5x32xf32>, tensor<?x32xf32>) {
  %w = relay.param "w" : tensor<32x32xf32>
  %0 = relay.nn.matmul %x, %w : (tensor<3x5x32xf32>, tensor<32x32xf32>) -> tensor<3x5x32xf32>
  %1 = relay.nn.matmul %y, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  func.return %0, %1 : tensor<3x5x32xf32>, tensor<?x32xf32>
}

// -----

// Small weights stay, and those with a rest of a panel, that are transposed or computed.
//
// CHECK-LABEL: @others
// CHECK-COUNT-4: relay.nn.matmul
func.func @others(%x: tensor<2x32xf32>, %v: tensor<32x32xf32>)
    -> (tensor<2x8xf32>, tensor<2x24xf32>, tensor<2x32xf32>, tensor<2x32xf32>) {
  %small = relay.param "small" : tensor<32x8xf32>
  %rest = relay.param "rest" : tensor<32x24xf32>
  %w = relay.param "w" : tensor<32x32xf32>
  %0 = relay.nn.matmul %x, %small : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
  %1 = relay.nn.matmul %x, %rest : (tensor<2x32xf32>, tensor<32x24xf32>) -> tensor<2x24xf32>
  %2 = relay.nn.matmul %x, %w {transpose_b = true} : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
  %3 = relay.nn.matmul %x, %v : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
  func.return %0, %1, %2, %3 : tensor<2x8xf32>, tensor<2x24xf32>, tensor<2x32xf32>, tensor<2x32xf32>
}
