// RUN: xrelay-opt --split-input-file -p infer-types %s | filecheck %s

// A function's result type is that of the value it returns, and reaches all its calls.
//
// CHECK-LABEL: @caller_above
// CHECK-SAME:      -> tensor<8x16xf32>
// CHECK:         func.call @callee(%x, %w) : ({{.*}}) -> tensor<8x16xf32>
// CHECK:         relay.nn.relu %{{.*}} : (tensor<8x16xf32>) -> tensor<8x16xf32>
func.func @caller_above(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>) -> !relay.incomplete {
  %a = func.call @callee(%x, %w) : (tensor<8x4xf32>, tensor<16x4xf32>) -> !relay.incomplete
  %b = relay.nn.relu %a : (!relay.incomplete) -> !relay.incomplete
  func.return %b : !relay.incomplete
}
// CHECK:       func.func @callee({{.*}}) -> tensor<8x16xf32>
func.func @callee(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>) -> !relay.incomplete {
  %a = relay.nn.dense %x, %w : (tensor<8x4xf32>, tensor<16x4xf32>) -> !relay.incomplete
  func.return %a : !relay.incomplete
}

// -----

// A dim that a later function fills in reaches callers that were complete already.
//
// CHECK-LABEL: @complete_caller
// CHECK-SAME:      -> tensor<4xf32>
// CHECK:         func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
func.func @complete_caller(%x: tensor<4xf32>) -> tensor<?xf32> {
  %y = func.call @callee(%x) : (tensor<4xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}
func.func @callee(%x: tensor<4xf32>) -> tensor<?xf32> {
  %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// A recursive function's type follows from the branch that does not call it.
//
// CHECK-LABEL: @recursive
// CHECK-SAME:      -> tensor<4xf32>
// CHECK:         relay.if %c : tensor<i1> -> (tensor<4xf32>) {
// CHECK:           func.call @recursive(%c, %x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
func.func @recursive(%c: tensor<i1>, %x: tensor<4xf32>) -> !relay.incomplete {
  %r = relay.if %c : tensor<i1> -> (!relay.incomplete) {
    %a = func.call @recursive(%c, %x) : (tensor<i1>, tensor<4xf32>) -> !relay.incomplete
    relay.yield %a : !relay.incomplete
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : !relay.incomplete
}

// -----

// What a call passes keeps the type of the parameter.
//
// CHECK-LABEL: @passed
// CHECK:         %[[Y:.*]] = func.call @two(%x) : (tensor<?xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %[[P:.*]] = relay.reshape %[[Y]] {newshape = array<i64: 0>} : (tensor<2xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %[[Z:.*]] = func.call @any(%[[P]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %[[A:.*]] = relay.strided_slice %[[Z]] {{.*}} : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    func.call @any(%[[A]]) : (tensor<?xf32>) -> tensor<?xf32>
func.func @passed(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = func.call @two(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %z = func.call @any(%y) : (tensor<?xf32>) -> tensor<?xf32>
  %a = relay.strided_slice %z {begin = array<i64: 0>, end = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  %b = func.call @any(%a) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %b : tensor<?xf32>
}
func.func @two(%x: tensor<?xf32>) -> tensor<?xf32> {
  %i = relay.constant dense<[0, 1]> : tensor<2xi64>
  %y = relay.take %x, %i {mode = "clip"} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}
func.func @any(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}
