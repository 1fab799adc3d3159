// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @k(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{k must be at most 4, but is 5}}
  %v, %i = relay.topk %x {k = 5 : i64, dtype = i32} : (tensor<3x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xi32>)
  func.return
}

// -----

func.func @results(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{ret_type must be "both" or "values" or "indices", but is "none"}}
  %v = relay.topk %x {k = 2 : i64, ret_type = "none", dtype = i32} : (tensor<3x4xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @count(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{relay.topk has 1 results, but 2 are declared}}
  %v, %i = relay.topk %x {k = 2 : i64, ret_type = "values", dtype = i32} : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  func.return
}

// -----

func.func @rank(%x: tensor<i1>) {
  // expected-error@+1 {{condition must have rank 1 to 5, but has rank 0}}
  %y = relay.argwhere %x : (tensor<i1>) -> tensor<?x0xi32>
  func.return
}

// -----

func.func @matrix(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{data must have rank 1, but has rank 2}}
  %y, %i, %j, %n = relay.unique %x : (tensor<2x2xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>)
  func.return
}
