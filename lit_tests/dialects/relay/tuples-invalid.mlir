// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Types of tuples and fields follow from the operands, and fields are in range.

func.func @too_far(%t: tuple<tensor<4xf32>, tensor<2xi32>>) {
  // expected-error@+1 {{field index must be in [0, 2), but is 2}}
  %f = relay.tuple_get_item %t[2] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
  func.return
}

// -----

func.func @negative(%t: tuple<tensor<4xf32>, tensor<2xi32>>) {
  // expected-error@+1 {{field index must be in [0, 2), but is -1}}
  %f = relay.tuple_get_item %t[-1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
  func.return
}

// -----

func.func @other_field(%t: tuple<tensor<4xf32>, tensor<2xi32>>) {
  // expected-error@+1 {{the result of relay.tuple_get_item is tensor<2xi32>, but is declared as tensor<4xf32>}}
  %f = relay.tuple_get_item %t[1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<4xf32>
  func.return
}

// -----

func.func @other_tuple(%a: tensor<4xf32>) {
  // expected-error@+1 {{the result of relay.tuple is tuple<tensor<4xf32>, tensor<4xf32>>, but is declared as tuple<tensor<4xf32>>}}
  %t = relay.tuple %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @no_tuple(%a: tensor<4xf32>) {
  // expected-error@+1 {{the operand must be a tuple, but is tensor<4xf32>}}
  %f = relay.tuple_get_item %a[0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
