// RUN: xrelay-opt --split-input-file -p convert-relay-to-linalg %s | filecheck %s

// A chain of operators is a chain of generic ops, each with a destination of its own.
//
// CHECK-LABEL: @chains(%x: tensor<4x3xf32>, %y: tensor<3xf32>) -> tensor<4x3xf32>
// CHECK:         %[[E0:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT:    %[[SUM:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<4x3xf32>, tensor<3xf32>) outs(%[[E0]] : tensor<4x3xf32>)
// CHECK:           arith.addf
// CHECK:         %[[E1:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<4x3xf32>) outs(%[[E1]] : tensor<4x3xf32>)
// CHECK:           arith.cmpf olt
// CHECK:         relay.yield %[[R]] : tensor<4x3xf32>
relay.prim_func @chains(%x: tensor<4x3xf32>, %y: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = relay.add %x, %y : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = relay.nn.relu %0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  relay.yield %1 : tensor<4x3xf32>
}

// -----

// Integers become signless; the operator's own type decides how they are compared.
//
// CHECK-LABEL: @is_signless(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8>
// CHECK:           arith.maxui
// CHECK:         relay.yield %{{.*}} : tensor<4xi8>
relay.prim_func @is_signless(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %0 = relay.maximum %x, %y : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  relay.yield %0 : tensor<4xui8>
}

// -----

// A static dim of 1 is read at index 0.
//
// CHECK-LABEL: @broadcasts
// CHECK:         indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
relay.prim_func @broadcasts(%x: tensor<4x3xf32>, %y: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %0 = relay.subtract %x, %y : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  relay.yield %0 : tensor<4x3xf32>
}

// -----

// A dim that may be 1 at run time is read at an index that is right in both cases.
//
// CHECK-LABEL: @may_broadcast
// CHECK:         %[[X:.*]] = tensor.dim %x
// CHECK:         %[[Y:.*]] = tensor.dim %y
// CHECK:         %[[ONE:.*]] = arith.cmpi eq, %[[X]]
// CHECK:         %[[SIZE:.*]] = arith.select %[[ONE]], %[[Y]], %[[X]]
// CHECK:         %[[LAST:.*]] = arith.subi %[[X]]
// CHECK:         tensor.empty(%[[SIZE]])
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK-NEXT:      %[[AT:.*]] = arith.minsi %[[I]], %[[LAST]]
// CHECK-NEXT:      tensor.extract %x[%[[AT]]]
relay.prim_func @may_broadcast(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// Equal dims are not broadcast.
//
// CHECK-LABEL: @has_equal_dims
// CHECK:         ins(%x, %{{.*}} : tensor<?xf32>, tensor<?xf32>)
// CHECK-NOT:     tensor.extract
relay.prim_func @has_equal_dims(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relay.add %x, %0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.yield %1 : tensor<?xf32>
}

// -----

// A kernel with an operator that has no rule stays as it is.
//
// CHECK-LABEL: @stays(%x: tensor<4xui8>)
// CHECK-NEXT:    relay.add
// CHECK-NEXT:    relay.unique
relay.prim_func @stays(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = relay.add %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1, %2, %3, %4 = relay.unique %0 : (tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>)
  relay.yield %1 : tensor<4xui8>
}
