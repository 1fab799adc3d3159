// RUN: xrelay-opt --split-input-file -p eliminate-dead-code %s | filecheck %s

// Sizes and shapes that nothing uses are removed; a requirement stays.
//
// CHECK-LABEL: @unused_sizes
// CHECK-NEXT:    relay.require eq %n, %m
// CHECK-NEXT:    func.return
func.func @unused_sizes(%x: tensor<?xf32>, %n: i64, %m: i64) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %q = relay.measure "slice_length"(%n, %n, %n, %n) : (i64, i64, i64, i64) -> i64
  relay.require eq %n, %m, "the sizes must be equal, but are {0} and {1}"
  func.return
}

// -----

// What a requirement compares is used.
//
// CHECK-LABEL: @compared
// CHECK-NEXT:    %[[S:.*]] = vm.shape_of %x
// CHECK:         %[[N:.*]] = tensor.extract %[[S]]
// CHECK-NEXT:    relay.require eq %[[N]], %m
func.func @compared(%x: tensor<?xf32>, %m: i64) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %c0 = arith.constant 0 : index
  %n = tensor.extract %s[%c0] : tensor<1xi64>
  relay.require eq %n, %m, "the sizes must be equal, but are {0} and {1}"
  func.return
}

// -----

// A call of a kernel goes if its results are unused, whatever their shapes.
//
// CHECK-LABEL: @kernels
// CHECK-NEXT:    func.return
func.func @kernels(%x: tensor<?xf32>) {
  %y = relay.call_lowered @exp(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}
relay.prim_func @exp(%a: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @shape, shape_inputs = array<i64: 2>} {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.shape_func @shape(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}
