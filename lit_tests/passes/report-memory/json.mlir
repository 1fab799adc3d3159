// RUN: xrelay-opt -p 'report-memory{format=json}' %s -o %t.out 2>&1 | filecheck %s

// JSON has the same figures.
//
// CHECK:      "functions": [
// CHECK:        "function": "@main",
// CHECK-NEXT:   "device": "cpu:0",
// CHECK:        "tensors": 1,
// CHECK:        "lower_bound": {
// CHECK-NEXT:     "bytes": 16,
// CHECK-NEXT:     "formula": null
// CHECK:        "ratio": 4.0,
// CHECK-NEXT:   "allocations": {
// CHECK-NEXT:     "before": 1,
// CHECK-NEXT:     "after": 1
func.func @main() {
  %s = memory.alloc_storage 64 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[0] : tensor<4xf32, #relay.device<cpu:0>>
  "test.op"() : () -> ()
  memory.kill %t : tensor<4xf32, #relay.device<cpu:0>>
  func.return
}
