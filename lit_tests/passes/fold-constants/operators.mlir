// RUN: xrelay-opt --split-input-file -p fold-constants %s | filecheck %s

// A chain of operators on constants becomes one constant.
//
// CHECK-LABEL: @chain
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[0.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    func.return %[[C]]
func.func @chain() -> tensor<2xf32> {
  %a = relay.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %b = relay.nn.relu %a : (tensor<2xf32>) -> tensor<2xf32>
  %c = relay.constant dense<[0.0, 3.0]> : tensor<2xf32>
  %d = relay.add %b, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// -----

// An operator with an operand that is not a constant stays, and so do its constants.
//
// CHECK-LABEL: @one_variable
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.add %x, %[[C]]
// CHECK-NEXT:    func.return %[[Y]]
func.func @one_variable(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.constant dense<-2.0> : tensor<4xf32>
  %b = relay.abs %a : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.add %x, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Each of several results becomes a constant; bits and integers too.
//
// CHECK-LABEL: @several_results
// CHECK-DAG:     %[[A:.*]] = relay.constant dense<[1, 2]> : tensor<2xi64>
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<3> : tensor<1xi64>
// CHECK-DAG:     %[[C:.*]] = relay.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NOT:     relay.constant
// CHECK:         func.return %[[A]], %[[B]], %[[C]]
func.func @several_results() -> (tensor<2xi64>, tensor<1xi64>, tensor<2xi1>) {
  %a = relay.constant dense<[1, 2, 3]> : tensor<3xi64>
  %b, %c = relay.split %a {indices_or_sections = array<i64: 2>} : (tensor<3xi64>) -> (tensor<2xi64>, tensor<1xi64>)
  %d = relay.constant dense<1> : tensor<i64>
  %e = relay.equal %b, %d : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  func.return %b, %c, %e : tensor<2xi64>, tensor<1xi64>, tensor<2xi1>
}

// -----

// A result of 1 KiB is computed, one of four bytes more is not.
//
// CHECK-LABEL: @at_the_limit
// CHECK:         relay.constant dense<1.000000e+00> : tensor<256xf32>
// CHECK:         relay.full %{{.*}} -> tensor<257xf32>
func.func @at_the_limit() -> (tensor<256xf32>, tensor<257xf32>) {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.full %a {shape = array<i64: 256>} : (tensor<f32>) -> tensor<256xf32>
  %c = relay.full %a {shape = array<i64: 257>} : (tensor<f32>) -> tensor<257xf32>
  func.return %b, %c : tensor<256xf32>, tensor<257xf32>
}

// -----

// A param is never read, and is not removed when it is unused.
//
// CHECK-LABEL: @params
// CHECK-NEXT:    %[[P:.*]] = relay.param "w"
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.relu %[[P]]
// CHECK-NEXT:    relay.param "unused"
// CHECK-NEXT:    func.return %[[Y]]
func.func @params() -> tensor<4xf32> {
  %p = relay.param "w" : tensor<4xf32>
  %y = relay.nn.relu %p : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.param "unused" : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Elements that NumPy does not have are not computed.
//
// CHECK-LABEL: @bfloat16
// CHECK:         relay.constant dense<-1.0{{.*}}> : tensor<2xbf16>
// CHECK-NEXT:    relay.nn.relu
func.func @bfloat16() -> tensor<2xbf16> {
  %a = relay.constant dense<-1.0> : tensor<2xbf16>
  %b = relay.nn.relu %a : (tensor<2xbf16>) -> tensor<2xbf16>
  func.return %b : tensor<2xbf16>
}

// -----

// A division by zero has the result that it has at run time, without a warning.
//
// CHECK-LABEL: @division_by_zero
// CHECK:         relay.constant dense<"0x0000807F"> : tensor<f32>
func.func @division_by_zero() -> tensor<f32> {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.constant dense<0.0> : tensor<f32>
  %c = relay.divide %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %c : tensor<f32>
}

// -----

// The constant has the device of the operator's type.
//
// CHECK-LABEL: @on_a_device
// CHECK-NEXT:    relay.constant dense<2.000000e+00> : tensor<4xf32> on #cuda0
// CHECK-NEXT:    func.return
func.func @on_a_device() -> tensor<4xf32, #relay.device<cuda:0>> {
  %a = relay.constant dense<-2.0> : tensor<4xf32> on #relay.device<cuda:0>
  %b = relay.abs %a : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
  func.return %b : tensor<4xf32, #relay.device<cuda:0>>
}
