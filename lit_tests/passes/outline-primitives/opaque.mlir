// RUN: xrelay-opt -p fuse-ops,outline-primitives %s | filecheck %s
// RUN: xrelay-opt -p 'plan-devices,fuse-ops,outline-primitives,manifest-alloc,lower-to-bytecode' %s | filecheck %s --check-prefix=BYTECODE

// An unknown operator becomes a kernel of its own, named after it. It may have effects, so the kernel
// and its calls are impure.
//
// CHECK-LABEL: @main
// CHECK:         relay.call_lowered @fused_add
// CHECK-NEXT:    relay.call_lowered @fused_nn_fancy(%{{.*}}) {impure} :
// CHECK-NEXT:    relay.call_lowered @fused_nn_relu(%{{.*}}) :
// CHECK:       relay.prim_func @fused_nn_fancy(%{{.*}}) -> tensor<4xf32> attributes {impure}
//
// BYTECODE:      bytecode.kernel @fused_nn_fancy (tensor<4xf32>) -> [1] {
// BYTECODE-NEXT:   bytecode.step "nn.fancy" [0] -> [1] : (tensor<4xf32>) with {depth = 3 : i64}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.call_opaque "nn.fancy"(%a) {depth = 3 : i64, seed = none} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.nn.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
