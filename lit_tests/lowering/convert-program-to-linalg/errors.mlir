// RUN: xrelay-opt --split-input-file --verify-diagnostics -p convert-program-to-linalg %s

func.func @topk(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{relay.topk has no linalg; xrelay-run can run the program: its machine has all of Relay}}
  %0 = relay.topk %x {k = 2 : i64, ret_type = "values", dtype = i64} : (tensor<4xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// expected-error@+1 {{a value of type (tensor<f32>) -> tensor<f32> cannot be written in linalg, which has tensors only; xrelay-run can run the program}}
func.func @function_value(%f: (tensor<f32>) -> tensor<f32>) {
  func.return
}

// -----

func.func @reference(%x: tensor<f32>) {
  // expected-error@+1 {{a value of type !relay.ref<tensor<f32>> cannot be written in linalg, which has tensors only}}
  %0 = relay.ref_create %x : (tensor<f32>) -> !relay.ref<tensor<f32>>
  func.return
}

// -----

func.func @data(%x: tensor<f32>) {
  // expected-error@+1 {{a value of type !relay.adt<@Box, []> cannot be written in linalg}}
  %0 = relay.construct @One(%x) : (tensor<f32>) -> !relay.adt<@Box, []>
  func.return
}
relay.type_data @Box [@One(tensor<f32>)]

// -----

// expected-error@+1 {{@generic is generic, and cannot be written in linalg; xrelay-run}}
func.func @generic(%x: tensor<f32>) attributes {relay.type_params = ["A"]} {
  func.return
}

// -----

func.func @devices(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.on_device %x, #relay.device<cuda:0> : (tensor<f32>) -> tensor<f32>
  // expected-warning@+1 {{the program uses cuda:0 and cpu:0, but linalg on tensors has no devices: which one computes what is lost}}
  %1 = relay.on_device %0, #relay.device<cpu:0> : (tensor<f32>) -> tensor<f32>
  func.return %1 : tensor<f32>
}

// -----

// expected-error@+1 {{@blocks must be one block, but has 2: branch with relay.if, and loop with calls}}
func.func @blocks() {
  "test.termop"()[^bb1] : () -> ()
^bb1:
  func.return
}
