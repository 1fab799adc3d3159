// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'plan-devices{repair}' %s | filecheck %s

// Of the operands that would settle the conflict, the smallest is copied.
//
// CHECK-LABEL: @cheapest
// CHECK:         %[[C:.*]] = relay.device_copy %b : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    relay.add %a, %[[C]]
func.func @cheapest(%a: tensor<100x4xf32> {relay.device = #relay.device<cuda:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<100x4xf32> { // expected-note {{the value is made here}}
  // expected-remark@+1 {{an operand of relay.add is copied from cpu:0 to cuda:0 (16 bytes)}}
  %y = relay.add %a, %b : (tensor<100x4xf32>, tensor<4xf32>) -> tensor<100x4xf32>
  func.return %y : tensor<100x4xf32>
}

// -----

// A hint still says where its operand is: the operand of an op before the other hint is copied.
//
// CHECK-LABEL: @hints_keep_their_meaning
// CHECK-SAME:    %b: tensor<4xf32, #cpu0>
// CHECK:         relay.add %a, %b : {{.*}} -> tensor<4xf32, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %b : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    %[[C:.*]] = relay.add %[[B]], %c : {{.*}} -> tensor<4xf32, #cuda0>
// CHECK-NEXT:    relay.device_copy %[[C]] : tensor<4xf32, #cuda0> to tensor<4xf32, #cpu0>
func.func @hints_keep_their_meaning(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> { // expected-note {{the value is made here}}
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{an operand of relay.add is copied from cpu:0 to cuda:0 (16 bytes)}}
  %1 = relay.add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.on_device %0, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.on_device %1, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relay.subtract %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}

// -----

// What a branch yields may be the place of the copy.
//
// CHECK-LABEL: @branch
// CHECK:         relay.if
// CHECK-NEXT:      %[[C:.*]] = relay.device_copy %a
// CHECK-NEXT:      relay.yield %[[C]]
// CHECK:         else
// CHECK-NEXT:      relay.yield %b
func.func @branch(%c: tensor<i1>, %a: tensor<4xf32> {relay.device = #relay.device<cuda:0>}, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}) { // expected-note {{the value is made here}}
  // expected-remark@+1 {{an operand of relay.if is copied from cuda:0 to cpu:0 (16 bytes)}}
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    relay.yield %a : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// A program without a conflict is planned as without repair.
//
// CHECK-LABEL: @nothing_to_repair
// CHECK-NOT:     device_copy
func.func @nothing_to_repair(%a: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Data cannot be copied: the conflict stays an error.
relay.type_data @Box [@Box(tensor<4xf32>)]
// expected-note@+3 {{cpu:0 is required here: parameter 0 of @no_copy_of_data is annotated}}
// expected-note@+2 {{cuda:0 is required here: result 0 of @no_copy_of_data is declared there}}
// expected-error@+1 {{one value would have to be on cpu:0 and on cuda:0}}
func.func @no_copy_of_data(%x: !relay.adt<@Box, []> {relay.device = #relay.device<cpu:0>}) -> (!relay.adt<@Box, []> {relay.device = #relay.device<cuda:0>}) {
  // expected-note@+1 {{result 0 of @no_copy_of_data is returned here}}
  func.return %x : !relay.adt<@Box, []>
}
