// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @size(%x: tensor<1x2x3x4xf32>) {
  // expected-error@+1 {{size must be at least 1, but is 0}}
  %y = relay.image.resize2d %x {size = array<i64: 6, 0>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x0xf32>
  func.return
}

// -----

func.func @integers(%x: tensor<1x2x3x4xi32>) {
  // expected-error@+1 {{data, with method linear, must have float elements, but has i32}}
  %y = relay.image.resize2d %x {size = array<i64: 6, 8>} : (tensor<1x2x3x4xi32>) -> tensor<1x2x6x8xi32>
  func.return
}

// -----

func.func @column(%x: tensor<1x5x6xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{score_index is 6, but a row of data has 6 numbers}}
  %n, %y, %i = relay.vision.get_valid_counts %x, %t {score_index = 6 : i64} : (tensor<1x5x6xf32>, tensor<f32>) -> (tensor<1xi32>, tensor<1x5x6xf32>, tensor<1x5xi32>)
  func.return
}

// -----

func.func @boxes(%b: tensor<1x6x4xf32>, %s: tensor<1x2x5xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error@+1 {{dim 1 of boxes must be 5, but is 6}}
  %y, %n = relay.vision.all_class_non_max_suppression %b, %s, %m, %t, %t : (tensor<1x6x4xf32>, tensor<1x2x5xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<12x3xi64>, tensor<1xi64>)
  func.return
}

// -----

func.func @indices(%x: tensor<1x5x6xf32>, %c: tensor<1xi32>, %k: tensor<1x4xi32>, %m: tensor<i32>, %t: tensor<f32>) {
  // expected-error@+1 {{dim 1 of indices must be 5, that of data, but is 4}}
  %i, %n = relay.vision.non_max_suppression %x, %c, %k, %m, %t : (tensor<1x5x6xf32>, tensor<1xi32>, tensor<1x4xi32>, tensor<i32>, tensor<f32>) -> (tensor<1x5xi32>, tensor<1x1xi32>)
  func.return
}
