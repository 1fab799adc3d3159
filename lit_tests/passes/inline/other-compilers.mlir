// RUN: xrelay-opt -p 'inline{max-ops=9 once=true}' %s | filecheck %s

// A function for another compiler stays one, even if it is marked, small, or called once.
//
// CHECK-LABEL: @main(
// CHECK-NEXT:    func.call @for_another(%x)
// CHECK-NEXT:    relay.exp
// CHECK:       func.func private @for_another(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @for_another(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @for_us(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func private @for_another(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {relay.attrs = {Compiler = "dnnl", Inline = 1 : i64}} {
  %s = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
func.func private @for_us(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.attrs = {Inline = 1 : i64}} {
  %s = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
