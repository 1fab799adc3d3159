// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A declared type may say less than the operands: incomplete, or with dynamic dims.
//
// CHECK-LABEL: @less
// CHECK:         relay.add %a, %b : (!relay.incomplete, tensor<4xf32>) -> !relay.incomplete
// CHECK:         relay.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
// CHECK:         relay.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
func.func @less(%a: !relay.incomplete, %b: tensor<4xf32>) {
  %0 = relay.add %a, %b : (!relay.incomplete, tensor<4xf32>) -> !relay.incomplete
  %1 = relay.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  %2 = relay.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  func.return
}

// It may also say more: what the program knows of a dynamic dim.
//
// CHECK-LABEL: @more
// CHECK:         relay.nn.relu %a : (tensor<?xf32>) -> tensor<4xf32>
func.func @more(%a: tensor<?xf32>) {
  %0 = relay.nn.relu %a : (tensor<?xf32>) -> tensor<4xf32>
  func.return
}

// A device is no matter of the type rules.
//
// CHECK-LABEL: @device
// CHECK:         relay.nn.relu %a : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda1_cuda_global>
func.func @device(%a: tensor<4xf32, #relay.device<cpu:0>>) {
  %0 = relay.nn.relu %a : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cuda:1, target = "cuda", scope = "global">>
  func.return
}

// A type parameter may have any name.
//
// CHECK-LABEL: @named
// CHECK-SAME:    !relay.type_var<A>
// CHECK-SAME:    !relay.type_var<"">
func.func @named(%a: !relay.type_var<A>, %b: !relay.type_var<"">) attributes {relay.type_params = ["A", ""]} {
  func.return
}
