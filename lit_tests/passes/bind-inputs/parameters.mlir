// RUN: xrelay-opt --split-input-file -p 'bind-inputs{values="n=3","b=true","m=[[1, -2]]","f=1.5"}' %s | filecheck %s

// Parameters with values become constants, of which a number fills all elements; the others stay.
//
// CHECK-LABEL: @main
// CHECK-SAME:    (%[[X:.*]]: tensor<?x4xf32> {relay.dims = ["k", 4 : i64]}) -> tensor<?x4xf32>
// CHECK-NEXT:    %[[N:.*]] = relay.constant dense<3> : tensor<i64>
// CHECK-NEXT:    %[[B:.*]] = relay.constant dense<true> : tensor<i1>
// CHECK-NEXT:    %[[M:.*]] = relay.constant dense<{{\[\[}}1, -2]]> : tensor<1x2xi8>
// CHECK-NEXT:    %[[F:.*]] = relay.constant dense<1.500000e+00> : tensor<3x4xf32> on #cuda0
// CHECK-NEXT:       "test.op"(%[[X]], %[[N]], %[[B]], %[[M]], %[[F]])
func.func @main(%n: tensor<i64>, %x: tensor<?x4xf32> {relay.dims = ["k", 4]}, %b: tensor<i1>,
                %m: tensor<1x2xi8>,
                %f: tensor<3x4xf32, #relay.device<cuda:0>>) -> tensor<?x4xf32> {
  "test.op"(%x, %n, %b, %m, %f)
    : (tensor<?x4xf32>, tensor<i64>, tensor<i1>, tensor<1x2xi8>,
       tensor<3x4xf32, #relay.device<cuda:0>>) -> ()
  func.return %x : tensor<?x4xf32>
}
