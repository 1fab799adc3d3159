// RUN: xrelay-opt --split-input-file -p outline-primitives %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p outline-primitives --print-debuginfo %s | filecheck %s --check-prefix=LOC

// A function is named after its operators; the name is unique in the module.
//
// CHECK-LABEL: func.func @fused_nn_dense_add
// CHECK:         relay.call_lowered @fused_nn_dense_add_1(
// CHECK:       relay.prim_func @fused_nn_dense_add_1(
func.func @fused_nn_dense_add(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  %r = relay.primitive(%p = %x : tensor<8x4xf32>, %q = %w : tensor<16x4xf32>, %c = %b : tensor<16xf32>) -> (tensor<8x16xf32>) {
    %0 = relay.nn.dense %p, %q : (tensor<8x4xf32>, tensor<16x4xf32>) -> tensor<8x16xf32>
    %1 = relay.add %0, %c : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    relay.yield %1 : tensor<8x16xf32>
  }
  func.return %r : tensor<8x16xf32>
}

// -----

// Primitives in branches are outlined too; the call keeps `reshape_only`.
//
// CHECK-LABEL: @branches
// CHECK:         relay.if
// CHECK-NEXT:      relay.call_lowered @fused_reshape(%x) {reshape_only} :
// CHECK:         else
// CHECK-NEXT:      relay.call_lowered @fused_reshape(%y) {reshape_only} :
// CHECK:       relay.prim_func @fused_reshape(
// CHECK-NOT:   relay.prim_func
// CHECK:       {{^}}// -----
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = relay.if %c : tensor<i1> -> (tensor<2x2xf32>) {
    %s = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<2x2xf32>) attributes {reshape_only} {
      %0 = relay.reshape %a {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
      relay.yield %0 : tensor<2x2xf32>
    }
    relay.yield %s : tensor<2x2xf32>
  } else {
    %s = relay.primitive(%a = %y : tensor<4xf32>) -> (tensor<2x2xf32>) attributes {reshape_only} {
      %0 = relay.reshape %a {newshape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
      relay.yield %0 : tensor<2x2xf32>
    }
    relay.yield %s : tensor<2x2xf32>
  }
  func.return
}

// -----

// Call and function have the location of the primitive; operators keep theirs.
//
// LOC-LABEL: @locations
// LOC:         relay.call_lowered @fused_exp(%x) : {{.*}} loc("m.py":7:1)
// LOC:       relay.prim_func @fused_exp
// LOC:         relay.exp {{.*}} loc("m.py":8:3)
// LOC:       } loc("m.py":7:1)
func.func @locations(%x: tensor<4xf32>) {
  %r = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32> loc("m.py":8:3)
    relay.yield %0 : tensor<4xf32>
  } loc("m.py":7:1)
  func.return
}
