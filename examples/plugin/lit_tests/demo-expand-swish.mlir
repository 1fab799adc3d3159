// RUN: xrelay-opt -p demo-expand-swish %s | filecheck %s

// CHECK-LABEL: @swish
// CHECK-SAME:    %[[X:[a-z]+]]: tensor<4xf32>
// CHECK-NEXT:    %[[S:.*]] = relay.sigmoid %[[X]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.multiply %[[X]], %[[S]] :
// CHECK-NEXT:    func.return %[[Y]]
func.func @swish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = demo.swish %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
