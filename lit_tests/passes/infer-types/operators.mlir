// RUN: xrelay-opt --split-input-file -p infer-types %s | filecheck %s

// An operator's incomplete result type follows from its operands, along a chain.
//
// CHECK-LABEL: @follows_from_operands
// CHECK:         %[[A:.*]] = relay.nn.dense %x, %w : ({{.*}}) -> tensor<8x16xf32>
// CHECK:         %[[B:.*]] = relay.reshape %[[A]] {{.*}} : (tensor<8x16xf32>) -> tensor<4x32xf32>
// CHECK:         relay.split %[[B]] {{.*}} : (tensor<4x32xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>)
func.func @follows_from_operands(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>) {
  %a = relay.nn.dense %x, %w : (tensor<8x4xf32>, tensor<16x4xf32>) -> !relay.incomplete
  %b = relay.reshape %a {newshape = array<i64: 4, -1>} : (!relay.incomplete) -> !relay.incomplete
  %c:2 = relay.split %b {indices_or_sections = 2} : (!relay.incomplete) -> (!relay.incomplete, !relay.incomplete)
  func.return
}

// -----

// A dim that is declared dynamic is filled in; one that is only declared stays.
//
// CHECK-LABEL: @refines_dims
// CHECK:         relay.nn.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK:         relay.nn.relu %y : (tensor<?x8xf32>) -> tensor<3x8xf32>
func.func @refines_dims(%x: tensor<4x8xf32>, %y: tensor<?x8xf32>) {
  %a = relay.nn.relu %x : (tensor<4x8xf32>) -> tensor<?x8xf32>
  %b = relay.nn.relu %y : (tensor<?x8xf32>) -> tensor<3x?xf32>
  func.return
}

// -----

// A device in a type stays, and does not spread to other types.
//
// CHECK-LABEL: @keeps_devices
// CHECK:         relay.nn.relu %x : ({{.*}}) -> tensor<4xf32, #cuda0>
// CHECK:         relay.abs %x : ({{.*}}) -> tensor<4xf32>{{$}}
func.func @keeps_devices(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  %a = relay.nn.relu %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<?xf32, #relay.device<cuda:0>>
  %b = relay.abs %x : (tensor<4xf32, #relay.device<cpu:0>>) -> !relay.incomplete
  func.return
}

// -----

// Tuples, their fields and hints are filled in, and so are the parts of a tuple's type.
//
// CHECK-LABEL: @tuples
// CHECK:         %[[T:.*]] = relay.tuple %{{.*}}, %x : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK:         %[[H:.*]] = relay.on_device %[[T]], {{.*}} : ({{.*}}) -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK:         relay.tuple_get_item %[[H]][0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
func.func @tuples(%x: tensor<4xf32>) {
  %a = relay.nn.relu %x : (tensor<4xf32>) -> !relay.incomplete
  %t = relay.tuple %a, %x : (!relay.incomplete, tensor<4xf32>) -> tuple<!relay.incomplete, tensor<?xf32>>
  %h = relay.on_device %t, #relay.device<cpu:0> : (tuple<!relay.incomplete, tensor<?xf32>>) -> !relay.incomplete
  %f = relay.tuple_get_item %h[0] : (!relay.incomplete) -> !relay.incomplete
  func.return
}

// -----

// The result type of a branch joins those that its regions yield: a dim is static if both are.
//
// CHECK-LABEL: @branches
// CHECK:         relay.if %c : tensor<i1> -> (tensor<4x?x?xf32>) {
func.func @branches(%c: tensor<i1>, %x: tensor<4x2x?xf32>, %y: tensor<4x?x8xf32>) {
  %r = relay.if %c : tensor<i1> -> (!relay.incomplete) {
    %a = relay.nn.relu %x : (tensor<4x2x?xf32>) -> !relay.incomplete
    relay.yield %a : !relay.incomplete
  } else {
    relay.yield %y : tensor<4x?x8xf32>
  }
  func.return
}

// -----

// A normalization has as many channels as its vectors.
//
// CHECK-LABEL: @channels
// CHECK:         %y, {{.*}} = relay.nn.batch_norm {{.*}} -> (tensor<?x5xf32>, tensor<5xf32>, tensor<5xf32>)
// CHECK:         %z = relay.nn.layer_norm {{.*}} -> tensor<?x5xf32>
func.func @channels(%x: tensor<?x?xf32>, %v: tensor<5xf32>) -> (!relay.incomplete, !relay.incomplete) {
  %y, %m, %w = relay.nn.batch_norm %x, %v, %v, %v, %v : (tensor<?x?xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> (!relay.incomplete, !relay.incomplete, !relay.incomplete)
  %z = relay.nn.layer_norm %x, %v, %v : (tensor<?x?xf32>, tensor<5xf32>, tensor<5xf32>) -> !relay.incomplete
  func.return %y, %z : !relay.incomplete, !relay.incomplete
}
