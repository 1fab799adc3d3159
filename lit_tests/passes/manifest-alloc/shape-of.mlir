// RUN: xrelay-opt --split-input-file -p manifest-alloc %s | filecheck %s

// A kernel that only returns a shape is read from the tensor, which may be on another device.
//
// CHECK-LABEL: @shape_of
// CHECK-NEXT:    %[[S:.*]] = vm.shape_of %x : (tensor<?x3xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:    func.return %[[S]]
func.func @shape_of(%x: tensor<?x3xf32, #relay.device<cuda:0>>) -> tensor<2xi64, #relay.device<cpu:0>> {
  %s = relay.call_lowered @k(%x) : (tensor<?x3xf32, #relay.device<cuda:0>>) -> tensor<2xi64, #relay.device<cpu:0>>
  func.return %s : tensor<2xi64, #relay.device<cpu:0>>
}
relay.prim_func @k(%x: tensor<?x3xf32>) -> tensor<2xi64> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?x3xf32>) -> tensor<2xi64>
  relay.yield %s : tensor<2xi64>
}
