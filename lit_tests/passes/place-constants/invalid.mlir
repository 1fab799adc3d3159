// RUN: xrelay-opt --verify-diagnostics -p 'place-constants{pools="itcm=20:1,flash=8:5"}' %s

// The error says how many bytes of params do not fit, where the first of them is.
#cpu0 = #relay.device<cpu:0>
func.func @main() -> (tensor<4xf32, #cpu0>, tensor<4xf32, #cpu0>) {
  // expected-error@+1 {{the constants do not fit in itcm=20:1, flash=8:5}}
  %w = relay.param "w" : tensor<4xf32, #cpu0>
  %v = relay.param "v" : tensor<4xf32, #cpu0>
  func.return %w, %v : tensor<4xf32, #cpu0>, tensor<4xf32, #cpu0>
}
