// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'aot-lower-main{prefix=net}' %s

// A description says only what the runtime can pass.
//
// expected-error@+1 {{the attribute xrelay.entry must be a description; run describe-entries to make one (unsupported element type rows (supported: bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64))}}
func.func @main(%x: memref<4xf32>) -> memref<4xf32> attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "rows", shape = [4 : i64]}}], results = [{name = "y", spec = {dtype = "float32", shape = [4 : i64]}}]}}} {
  func.return %x : memref<4xf32>
}
