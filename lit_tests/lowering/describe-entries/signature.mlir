// RUN: xrelay-opt -p describe-entries %s | filecheck %s

// Names, element types with their signs, names and bounds of dims, those of results too, and devices
// are kept.
//
// CHECK:       xrelay.devices = ["cpu:0", "cuda:0"]
// CHECK-LABEL: func.func @main
// CHECK-SAME:    params = [{name = "x:0", spec = {dtype = "uint8", shape = [-1 : i64, 8 : i64]}, dims = ["n", ""]}, {name = "f", spec = {dtype = "float32", shape = []}, device = 1 : i64}]
// CHECK-SAME:    dim_bounds = {n = [1 : i64, 64 : i64]}
// CHECK-SAME:    results = [{name = "y", spec = {dtype = "uint8", shape = [-1 : i64, 8 : i64]}, dims = ["n", ""]}, {name = "output_1", spec = {dtype = "float32", shape = []}, device = 1 : i64}]
func.func @main(%x: tensor<?x8xui8, #relay.device<cpu:0>> {relay.name = "x:0", relay.dims = ["n", 8 : i64]}, %f: tensor<f32, #relay.device<cuda:0>>) -> (tensor<?x8xui8, #relay.device<cpu:0>> {relay.name = "y"}, tensor<f32, #relay.device<cuda:0>>) attributes {relay.dim_bounds = {n = [1 : i64, 64 : i64]}} {
  func.return %x, %f : tensor<?x8xui8, #relay.device<cpu:0>>, tensor<f32, #relay.device<cuda:0>>
}

// Functions that are called from inside only are not described, nor are functions of sizes.
//
// CHECK-LABEL: func.func private @inner
// CHECK-NOT:     xrelay.entry
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @main.sizes(%n: i64) -> i64 attributes {memory.sizes_of = @main} {
  func.return %n : i64
}

// Outputs that the function allocates are listed.
//
// CHECK-LABEL: @allocates
// CHECK-SAME:    allocated = [1 : i64]}
func.func @allocates(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32> {memory.allocated}) {
  %y = "test.op"() : () -> tensor<?xf32>
  func.return %x, %y : tensor<4xf32>, tensor<?xf32>
}

// A kernel that keeps operators lists them; one of upstream ops does not.
//
// CHECK:       relay.prim_func @kept
// CHECK-SAME:    xrelay.steps = {name = "kept",{{.*}}op = "relay.add"
// CHECK:       relay.prim_func @lowered(%x: tensor<4xf32>) -> tensor<4xf32> {
relay.prim_func @kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
relay.prim_func @lowered(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %x : tensor<4xf32>
}
