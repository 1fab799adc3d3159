// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// The condition is a scalar, and both regions yield what is declared.

func.func @condition_of_rank_1(%c: tensor<1xi1>) {
  // expected-error@+1 {{the condition must be a tensor of rank 0 of integers or bools, but is tensor<1xi1>}}
  relay.if %c : tensor<1xi1> {
  } else {
  }
  func.return
}

// -----

func.func @condition_of_floats(%c: tensor<f32>) {
  // expected-error@+1 {{the condition must be a tensor of rank 0 of integers or bools, but is tensor<f32>}}
  relay.if %c : tensor<f32> {
  } else {
  }
  func.return
}

// -----

func.func @yields_too_little(%c: tensor<i1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{the second region of relay.if yields 0 values, but 1 are declared}}
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %a : tensor<4xf32>
  } else {
    relay.yield
  }
  func.return
}

// -----

func.func @yields_another_type(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{the first region of relay.if yields tensor<5xf32> as value 0, but tensor<4xf32> is declared}}
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %b : tensor<5xf32>
  } else {
    relay.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @does_not_yield(%c: tensor<i1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{the first region of relay.if must end in relay.yield}}
  relay.if %c : tensor<i1> {
    "test.termop"() : () -> ()
  } else {
  }
  func.return
}
