// RUN: xrelay-opt -p 'bind-params{names=w,b}' %s | filecheck %s

// Parameters become weights of the same names; the others stay, with their names.
//
// CHECK-LABEL: @main
// CHECK-SAME:    (%[[X:.*]]: tensor<?x4xf32> {relay.dims = ["k", 4 : i64]}) -> tensor<?x4xf32>
// CHECK-NEXT:    %[[W:.*]] = relay.param "w" : tensor<4x4xf32, #cuda0>
// CHECK-NEXT:    %[[B:.*]] = relay.param "b" : tensor<4xf32>
// CHECK-NEXT:       "test.op"(%[[W]], %[[X]], %[[B]])
func.func @main(%w: tensor<4x4xf32, #relay.device<cuda:0>>,
                %x: tensor<?x4xf32> {relay.dims = ["k", 4]},
                %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %y = "test.op"(%w, %x, %b) : (tensor<4x4xf32, #relay.device<cuda:0>>, tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
