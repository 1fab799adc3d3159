// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

func.func @two_inferred(%x: tensor<2x3xf32>) {
  %s = relay.constant dense<-1> : tensor<2xi64>
  // expected-error@+1 {{shape must have at most one -1, but is [-1, -1]}}
  %y = relay.dyn.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// -----

func.func @copied(%x: tensor<2x3xf32>) {
  %s = relay.constant dense<[2, 3, 0]> : tensor<3xi64>
  // expected-error@+1 {{shape entry 2 is 0, which copies dim 2 of data, but its rank is 2}}
  %y = relay.dyn.reshape %x, %s : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  func.return
}

// -----

func.func @elements(%x: tensor<2x3xf32>) {
  %s = relay.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{cannot reshape 6 elements to 8}}
  %y = relay.dyn.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// -----

func.func @squeezed(%x: tensor<2x1xf32>) {
  %a = relay.constant dense<0> : tensor<1xi64>
  // expected-error@+1 {{dim 0 must be 1 to be squeezed, but is 2}}
  %y = relay.dyn.squeeze %x, %a : (tensor<2x1xf32>, tensor<1xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @squeezed_too_often(%x: tensor<1xf32>, %a: tensor<2xi64>) {
  // expected-error@+1 {{axis must have at most 1 entries, but has 2}}
  %y = relay.dyn.squeeze %x, %a : (tensor<1xf32>, tensor<2xi64>) -> tensor<f32>
  func.return
}

// -----

func.func @axis(%x: tensor<2x1xf32>) {
  %a = relay.constant dense<4> : tensor<i64>
  // expected-error@+1 {{axis must be in [-3, 2], but is 4}}
  %y = relay.dyn.expand_dims %x, %a : (tensor<2x1xf32>, tensor<i64>) -> tensor<?x?x?xf32>
  func.return
}

// -----

func.func @broadcast(%x: tensor<2x1xf32>) {
  %s = relay.constant dense<3> : tensor<2xi64>
  // expected-error@+1 {{dim 2 at axis -2 does not broadcast to 3}}
  %y = relay.dyn.broadcast_to %x, %s : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// -----

func.func @lengths(%x: tensor<4xf32>, %b: tensor<1xi64>, %e: tensor<2xi64>) {
  // expected-error@+1 {{begin, end and strides must have one length, but have 1, 2 and 1 entries}}
  %y = relay.dyn.strided_slice %x, %b, %e, %b : (tensor<4xf32>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @stride(%x: tensor<4xf32>, %b: tensor<1xi64>) {
  %s = relay.constant dense<0> : tensor<1xi64>
  // expected-error@+1 {{strides must not be 0}}
  %y = relay.dyn.strided_slice %x, %b, %b, %s : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @widths(%x: tensor<4xf32>, %w: tensor<2x2xi64>, %v: tensor<f32>) {
  // expected-error@+1 {{dim 0 of pad_width must be 1, but is 2}}
  %y = relay.dyn.nn.pad %x, %w, %v : (tensor<4xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @reflected(%x: tensor<4xf32>, %v: tensor<f32>) {
  %w = relay.constant dense<[[4, 0]]> : tensor<1x2xi64>
  // expected-error@+1 {{pad_width at axis 0 must be at most 3 to reflect, but is 4}}
  %y = relay.dyn.nn.pad %x, %w, %v {pad_mode = "reflect"} : (tensor<4xf32>, tensor<1x2xi64>, tensor<f32>) -> tensor<?xf32>
  func.return
}
