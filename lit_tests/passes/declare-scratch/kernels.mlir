// RUN: xrelay-opt --split-input-file -p declare-scratch %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p declare-scratch,declare-scratch %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'declare-scratch{parts=1}' %s | filecheck %s --check-prefix=ONE

// Callers allocate the memory of a kernel, a part for each of four threads that compute blocks.
//
// CHECK-LABEL: @blocks(
// CHECK:         %[[Y:.*]], %scratch, %scratch_1 = relay.call_lowered @conv(%x, %u)
// CHECK-SAME:      -> (tensor<1x54x54x16xf32, #cpu0>, tensor<4x4x4x27x64xf32, #cpu0>, tensor<4x4x4x27x16xf32, #cpu0>)
// CHECK-NEXT:    func.return %[[Y]]
// CHECK-LABEL: relay.prim_func @conv(
// CHECK:         %[[C:.*]] = relay.nn.conv2d
// CHECK-NEXT:    %[[CELLS:.*]] = relay.scratch : tensor<4x4x4x27x64xf32>
// CHECK-NEXT:    %[[PRODUCTS:.*]] = relay.scratch : tensor<4x4x4x27x16xf32>
// CHECK-NEXT:    relay.yield %[[C]], %[[CELLS]], %[[PRODUCTS]]
//
// With one part, threads compute panels of one block.
//
// ONE-LABEL: relay.prim_func @conv(
// ONE:         relay.scratch : tensor<1x4x4x27x64xf32>
// ONE-NEXT:    relay.scratch : tensor<1x4x4x27x16xf32>
#cpu0 = #relay.device<cpu:0>
func.func @blocks(%x: tensor<1x56x56x64xf32, #cpu0>, %u: tensor<1x4x4x64x16xf32, #cpu0>) -> tensor<1x54x54x16xf32, #cpu0> {
  %y = relay.call_lowered @conv(%x, %u) : (tensor<1x56x56x64xf32, #cpu0>, tensor<1x4x4x64x16xf32, #cpu0>) -> tensor<1x54x54x16xf32, #cpu0>
  func.return %y : tensor<1x54x54x16xf32, #cpu0>
}
relay.prim_func @conv(%x: tensor<1x56x56x64xf32>, %u: tensor<1x4x4x64x16xf32>) -> tensor<1x54x54x16xf32> {
  %c = relay.nn.conv2d %x, %u {data_layout = "NHWC", kernel_layout = "OHWI16o/F23"} : (tensor<1x56x56x64xf32>, tensor<1x4x4x64x16xf32>) -> tensor<1x54x54x16xf32>
  relay.yield %c : tensor<1x54x54x16xf32>
}

// -----

// A kernel without such an op stays as it is, and so do its calls.
//
// CHECK-LABEL: @none(
// CHECK-NEXT:    %y = relay.call_lowered @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT:     relay.scratch
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.call_lowered @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
relay.prim_func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}

// -----

// The turns of a loop in which a kernel is needed stay.
//
// CHECK-LABEL: @turns(
// CHECK:         relay.call_lowered @conv(%{{.*}}, %u) {turns = array<i64: 0, 2>}
// CHECK-SAME:      tensor<4x4x4x27x64xf32, #cpu0>
#cpu0 = #relay.device<cpu:0>
func.func @turns(%x: tensor<1x56x56x64xf32, #cpu0>, %u: tensor<1x4x4x64x16xf32, #cpu0>, %t: tensor<1x54x54x16xf32, #cpu0>) -> tensor<1x54x54x16xf32, #cpu0> {
  %a = relay.loop %t {count = 4 : i64} : (tensor<1x54x54x16xf32, #cpu0>) -> tensor<1x54x54x16xf32, #cpu0>
  %y = relay.call_lowered @conv(%x, %u) {turns = array<i64: 0, 2>} : (tensor<1x56x56x64xf32, #cpu0>, tensor<1x4x4x64x16xf32, #cpu0>) -> tensor<1x54x54x16xf32, #cpu0>
  %b = relay.end_loop %y : (tensor<1x54x54x16xf32, #cpu0>) -> tensor<1x54x54x16xf32, #cpu0>
  func.return %b : tensor<1x54x54x16xf32, #cpu0>
}
relay.prim_func @conv(%x: tensor<1x56x56x64xf32>, %u: tensor<1x4x4x64x16xf32>) -> tensor<1x54x54x16xf32> {
  %c = relay.nn.conv2d %x, %u {data_layout = "NHWC", kernel_layout = "OHWI16o/F23"} : (tensor<1x56x56x64xf32>, tensor<1x4x4x64x16xf32>) -> tensor<1x54x54x16xf32>
  relay.yield %c : tensor<1x54x54x16xf32>
}
