// RUN: xrelay-opt --split-input-file -p expand-math %s | filecheck %s

// An exponential becomes arithmetic that may use fused instructions, without a branch or a call.
//
// CHECK-LABEL: @exponential
// CHECK-NOT:     math.exp
// CHECK:         arith.mulf {{.*}} fastmath<contract> : f32
// CHECK:         arith.shli
// CHECK-NOT:     call
// CHECK:         return
func.func @exponential(%x: f32) -> f32 {
  %y = math.exp %x : f32
  func.return %y : f32
}

// -----

// The body of a structured operation is rewritten in place.
//
// CHECK-LABEL: @in_the_body_of_a_kernel
// CHECK:         linalg.generic
// CHECK:           arith.divf
// CHECK:           linalg.yield
func.func @in_the_body_of_a_kernel(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^body(%a: f32, %b: f32):
    %c = math.tanh %a : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Functions of other types call the library.
//
// CHECK-LABEL: @of_another_type
// CHECK-NEXT:    math.erf
// CHECK-NEXT:    math.log
func.func @of_another_type(%x: f64, %v: vector<4xf32>) -> (f64, vector<4xf32>) {
  %y = math.erf %x : f64
  %w = math.log %v : vector<4xf32>
  func.return %y, %w : f64, vector<4xf32>
}
