// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'inline{max-ops=100 once=true}' %s
// RUN: xrelay-opt --split-input-file -p 'inline{max-ops=100 once=true}' %s 2>/dev/null | filecheck %s

// A function that calls itself is not inlined, marked or not.
//
// CHECK-LABEL: @calls_itself(
// CHECK-NEXT:    func.call @itself(%x)
func.func @calls_itself(%x: tensor<4xf32>) {
  %0 = func.call @itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// expected-remark@+1 {{@itself is recursive, so its calls are not inlined}}
func.func @itself(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  %0 = func.call @itself(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// Nor is one that is called through others, or through a value of itself.
//
// CHECK-LABEL: @calls_mutual(
// CHECK-NEXT:    func.call @one(%x)
// CHECK-NEXT:    func.call @value(%x)
// CHECK-LABEL: func.func private @one(
// CHECK-NEXT:    func.call @two(
// CHECK-LABEL: func.func private @two(
// CHECK-NEXT:    func.call @one(
func.func @calls_mutual(%x: tensor<4xf32>) {
  %0 = func.call @one(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @value(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
func.func private @one(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @two(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @two(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @one(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @value(%a: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.global @value : (tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%f) : ((tensor<4xf32>) -> tensor<4xf32>) -> ()
  func.return %a : tensor<4xf32>
}

// -----

// What a recursive function calls is inlined into it.
//
// CHECK-LABEL: @loop(
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a
// CHECK-NEXT:    func.call @loop(%[[A]])
func.func @loop(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @step(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @loop(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func @step(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
