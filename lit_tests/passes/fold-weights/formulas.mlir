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
