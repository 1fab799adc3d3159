// RUN: xrelay-opt --split-input-file --remarks --verify-diagnostics -p layout-slices %s

// With --remarks, a pack of dynamic sizes says how good its order is within the bounds of the dims.
func.func @bounded(%x: tensor<?xf32> {relay.dims = ["n"]}) attributes {relay.dim_bounds = {n = [16, 2000]}} {
  %shape = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %shape[%i0] : tensor<1xi64>
  %c64 = arith.constant 64 : i64
  %bytes = arith.muli %n, %c64 : i64
  // expected-remark@+1 {{2 slices of dynamic size: 1 order of slices, with these ratios to the lower bound: 1.0000 at n = 16; 1.0000 at n = 80; 1.0000 at n = 400; 1.0000 at n = 2000}}
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 2) %bytes
  %offsets_1 = memory.slice %pack [1, 3) %bytes
  %total = memory.total %pack
  "test.op"(%total) : (i64) -> ()
  func.return
}

// -----

// A pack of static sizes says nothing.
func.func @static() {
  %pack = memory.pack align 64 : !memory.pack
  %offset = memory.slice %pack [0, 2) 64
  %total = memory.total %pack
  "test.op"(%total) : (i64) -> ()
  func.return
}
