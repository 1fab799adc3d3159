// RUN: xrelay-opt --split-input-file -p fold-weights %s | filecheck %s

// A chain of operators on a weight is one weight, named by its formula.
//
// CHECK-LABEL: @chain
// CHECK-NEXT:    %[[P:.*]] = relay.param "=relay.cast(relay.transpose('w', axes=(1, 0)), dtype='float64')" : tensor<3x200xf64>
// CHECK-NEXT:    return %[[P]]
func.func @chain() -> tensor<3x200xf64> {
  %w = relay.param "w" : tensor<200x3xf32>
  %t = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<200x3xf32>) -> tensor<3x200xf32>
  %c = relay.cast %t {dtype = f64} : (tensor<3x200xf32>) -> tensor<3x200xf64>
  func.return %c : tensor<3x200xf64>
}

// -----

// A constant in the text is part of the formula.
//
// CHECK-LABEL: @with_a_constant
// CHECK-NEXT:    relay.param "=relay.multiply('w', constant('float32', (1,), 'AAAAQA=='))"
func.func @with_a_constant() -> tensor<200x3xf32> {
  %w = relay.param "w" : tensor<200x3xf32>
  %c = relay.constant dense<2.0> : tensor<1xf32>
  %y = relay.multiply %w, %c : (tensor<200x3xf32>, tensor<1xf32>) -> tensor<200x3xf32>
  func.return %y : tensor<200x3xf32>
}

// -----

// A weight that has another use stays for it.
//
// CHECK-LABEL: @another_use
// CHECK-NEXT:    %[[W:.*]] = relay.param "w"
// CHECK-NEXT:    %[[T:.*]] = relay.param "=relay.transpose('w', axes=(1, 0))"
// CHECK-NEXT:    return %[[W]], %[[T]]
func.func @another_use() -> (tensor<200x3xf32>, tensor<3x200xf32>) {
  %w = relay.param "w" : tensor<200x3xf32>
  %t = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<200x3xf32>) -> tensor<3x200xf32>
  func.return %w, %t : tensor<200x3xf32>, tensor<3x200xf32>
}

// -----

// What reads an argument, reduces, or is much larger than its operands runs with the program.
//
// CHECK-LABEL: @left
// CHECK:         relay.add %x
// CHECK:         relay.sum
// CHECK:         relay.broadcast_to
func.func @left(%x: tensor<1x3xf32>) -> (tensor<200x3xf32>, tensor<3xf32>, tensor<900x200x3xf32>) {
  %w = relay.param "w" : tensor<200x3xf32>
  %a = relay.add %x, %w : (tensor<1x3xf32>, tensor<200x3xf32>) -> tensor<200x3xf32>
  %s = relay.sum %w {axis = array<i64: 0>} : (tensor<200x3xf32>) -> tensor<3xf32>
  %b = relay.broadcast_to %w {shape = array<i64: 900, 200, 3>}
    : (tensor<200x3xf32>) -> tensor<900x200x3xf32>
  func.return %a, %s, %b : tensor<200x3xf32>, tensor<3xf32>, tensor<900x200x3xf32>
}

// -----

// Each result of a split is a slice.
//
// CHECK-LABEL: @split
// CHECK-NEXT:    %[[Q:.*]] = relay.param "=relay.strided_slice('w', axes=(1,), begin=(0,), end=(2,), slice_mode='end')" : tensor<200x2xf32>
// CHECK-NEXT:    %[[K:.*]] = relay.param "=relay.strided_slice('w', axes=(1,), begin=(2,), end=(6,), slice_mode='end')" : tensor<200x4xf32>
// CHECK-NEXT:    return %[[Q]], %[[K]]
func.func @split() -> (tensor<200x2xf32>, tensor<200x4xf32>) {
  %w = relay.param "w" : tensor<200x6xf32>
  %q, %k = relay.split %w {indices_or_sections = array<i64: 2>, axis = 1}
    : (tensor<200x6xf32>) -> (tensor<200x2xf32>, tensor<200x4xf32>)
  func.return %q, %k : tensor<200x2xf32>, tensor<200x4xf32>
}

// -----

// So is a join of weights one, and a selection of rows.
//
// CHECK-LABEL: @joined
// CHECK-NEXT:    relay.param "=relay.take(relay.concatenate('v', 'w', axis=0), constant('int64', (2,), 'AAAAAAAAAAAHAAAAAAAAAA=='), axis=0, batch_dims=0, mode='clip')"
// CHECK-NEXT:    return
func.func @joined() -> tensor<2x3xf32> {
  %v = relay.param "v" : tensor<5x3xf32>
  %w = relay.param "w" : tensor<200x3xf32>
  %i = relay.constant dense<[0, 7]> : tensor<2xi64>
  %c = relay.concatenate %v, %w : (tensor<5x3xf32>, tensor<200x3xf32>) -> tensor<205x3xf32>
  %t = relay.take %c, %i {axis = 0} : (tensor<205x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}

// -----

// Bytes become floats: four times their size, in each step of a chain.
//
// CHECK-LABEL: @dequantized
// CHECK-NEXT:    relay.param "=relay.multiply(relay.subtract(relay.cast('w', dtype='float32'), 'zero'), 'scale')"
// CHECK-NEXT:    return
func.func @dequantized() -> tensor<4096x1024xf32> {
  %w = relay.param "w" : tensor<4096x1024xi8>
  %z = relay.param "zero" : tensor<1024xf32>
  %s = relay.param "scale" : tensor<1024xf32>
  %c = relay.cast %w {dtype = f32} : (tensor<4096x1024xi8>) -> tensor<4096x1024xf32>
  %d = relay.subtract %c, %z : (tensor<4096x1024xf32>, tensor<1024xf32>) -> tensor<4096x1024xf32>
  %y = relay.multiply %d, %s : (tensor<4096x1024xf32>, tensor<1024xf32>) -> tensor<4096x1024xf32>
  func.return %y : tensor<4096x1024xf32>
}

// -----

// Copies of copies are bounded by the weight, not each by the one before.
//
// CHECK-LABEL: @nested_tiles
// CHECK:         %[[W:.*]] = relay.param "=relay.tile(relay.tile('w', reps=(2, 1)), reps=(2, 1))" {relay.origin = 1048576 : i64} : tensor<4096x256xf32>
// CHECK-NEXT:    %[[A:.*]] = relay.tile %[[W]]
// CHECK-NEXT:    relay.tile %[[A]]
func.func @nested_tiles() -> tensor<16384x256xf32> {
  %w = relay.param "w" : tensor<1024x256xf32>
  %a = relay.tile %w {reps = array<i64: 2, 1>} : (tensor<1024x256xf32>) -> tensor<2048x256xf32>
  %b = relay.tile %a {reps = array<i64: 2, 1>} : (tensor<2048x256xf32>) -> tensor<4096x256xf32>
  %c = relay.tile %b {reps = array<i64: 2, 1>} : (tensor<4096x256xf32>) -> tensor<8192x256xf32>
  %d = relay.tile %c {reps = array<i64: 2, 1>} : (tensor<8192x256xf32>) -> tensor<16384x256xf32>
  func.return %d : tensor<16384x256xf32>
}

// -----

// Of a formula in the source, only its size is known: it may be four times its weights already.
//
// CHECK-LABEL: @of_a_formula
// CHECK:         relay.param "=relay.transpose(relay.tile('w', reps=(2, 1)), axes=(1, 0))"
// CHECK:         relay.tile
func.func @of_a_formula() -> (tensor<1024x2048xf32>, tensor<4096x1024xf32>) {
  %w = relay.param "=relay.tile('w', reps=(2, 1))" : tensor<2048x1024xf32>
  %t = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<2048x1024xf32>) -> tensor<1024x2048xf32>
  %c = relay.tile %w {reps = array<i64: 2, 1>} : (tensor<2048x1024xf32>) -> tensor<4096x1024xf32>
  func.return %t, %c : tensor<1024x2048xf32>, tensor<4096x1024xf32>
}

// -----

// All that is derived together is bounded by the file, too: of five copies of 128 MiB, only four.
//
// CHECK-LABEL: @together
// CHECK-NEXT:    relay.param "=relay.tile('u', reps=(1, 4))"
// CHECK-NEXT:    relay.param "=relay.tile('v', reps=(1, 4))"
// CHECK-NEXT:    relay.param "=relay.tile(relay.negative('v'), reps=(1, 4))"
// CHECK-NEXT:    relay.param "=relay.tile(relay.exp('v'), reps=(1, 4))"
// CHECK-NEXT:    relay.param "=relay.sqrt('v')"
// CHECK-NEXT:    relay.tile
func.func @together() -> (tensor<1024x32768xf32>, tensor<1024x32768xf32>, tensor<1024x32768xf32>,
                          tensor<1024x32768xf32>, tensor<1024x32768xf32>) {
  %u = relay.param "u" : tensor<1024x8192xf32>
  %a = relay.tile %u {reps = array<i64: 1, 4>} : (tensor<1024x8192xf32>) -> tensor<1024x32768xf32>
  %v = relay.param "v" : tensor<1024x8192xf32>
  %b = relay.tile %v {reps = array<i64: 1, 4>} : (tensor<1024x8192xf32>) -> tensor<1024x32768xf32>
  %n = relay.negative %v : (tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  %c = relay.tile %n {reps = array<i64: 1, 4>} : (tensor<1024x8192xf32>) -> tensor<1024x32768xf32>
  %m = relay.exp %v : (tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  %d = relay.tile %m {reps = array<i64: 1, 4>} : (tensor<1024x8192xf32>) -> tensor<1024x32768xf32>
  %s = relay.sqrt %v : (tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  %e = relay.tile %s {reps = array<i64: 1, 4>} : (tensor<1024x8192xf32>) -> tensor<1024x32768xf32>
  func.return %a, %b, %c, %d, %e : tensor<1024x32768xf32>, tensor<1024x32768xf32>,
    tensor<1024x32768xf32>, tensor<1024x32768xf32>, tensor<1024x32768xf32>
}

// -----

// A product with a small constant is folded, another is not.
//
// CHECK-LABEL: @products
// CHECK:         relay.param "=relay.nn.matmul(constant('float32', (2, 2), {{.*}}), 'w'
// CHECK:         relay.nn.matmul %{{.*}}, %{{.*}} : (tensor<200x2xf32>, tensor<2x200xf32>)
func.func @products() -> (tensor<2x200xf32>, tensor<200x200xf32>) {
  %w = relay.param "w" : tensor<2x200xf32>
  %v = relay.param "v" : tensor<200x2xf32>
  %c = relay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = relay.nn.matmul %c, %w : (tensor<2x2xf32>, tensor<2x200xf32>) -> tensor<2x200xf32>
  %z = relay.nn.matmul %v, %w : (tensor<200x2xf32>, tensor<2x200xf32>) -> tensor<200x200xf32>
  func.return %y, %z : tensor<2x200xf32>, tensor<200x200xf32>
}
