// RUN: xrelay-opt -p manifest-alloc %s | filecheck %s

// A storage has the size of its elements, each at least a byte, and is aligned to at least 64.
//
// CHECK-LABEL: @sizes
// CHECK-NEXT:    memory.alloc_storage 4 align 64
// CHECK-NEXT:    memory.alloc_storage 24 align 64
// CHECK-NEXT:    memory.alloc_storage 48 align 64
// CHECK-NEXT:    memory.alloc_storage 5 align 64
// CHECK-NEXT:    memory.alloc_storage 7 align 64
// CHECK-NEXT:    memory.alloc_storage 6 align 64
// CHECK-NEXT:    memory.alloc_storage 6 align 64
// CHECK-NEXT:    memory.alloc_storage 3 align 64
// CHECK-NEXT:    memory.alloc_storage 0 align 64
// CHECK-NEXT:    memory.alloc_tensor
func.func @sizes() {
  %r:9 = relay.call_lowered @k() : () -> (
    tensor<f32, #relay.device<cpu:0>>, tensor<3xf64, #relay.device<cpu:0>>,
    tensor<2x3xi64, #relay.device<cpu:0>>, tensor<5xi1, #relay.device<cpu:0>>,
    tensor<7xi4, #relay.device<cpu:0>>, tensor<3xf16, #relay.device<cpu:0>>,
    tensor<3xbf16, #relay.device<cpu:0>>, tensor<3xui8, #relay.device<cpu:0>>,
    tensor<0x4xf32, #relay.device<cpu:0>>)
  func.return
}
relay.prim_func @k() -> (tensor<f32>, tensor<3xf64>, tensor<2x3xi64>, tensor<5xi1>, tensor<7xi4>, tensor<3xf16>, tensor<3xbf16>, tensor<3xui8>, tensor<0x4xf32>) {
  %0 = relay.param "a" : tensor<f32>
  %1 = relay.param "b" : tensor<3xf64>
  %2 = relay.param "c" : tensor<2x3xi64>
  %3 = relay.param "d" : tensor<5xi1>
  %4 = relay.param "e" : tensor<7xi4>
  %5 = relay.param "f" : tensor<3xf16>
  %6 = relay.param "g" : tensor<3xbf16>
  %7 = relay.param "h" : tensor<3xui8>
  %8 = relay.param "i" : tensor<0x4xf32>
  relay.yield %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<f32>, tensor<3xf64>, tensor<2x3xi64>, tensor<5xi1>, tensor<7xi4>, tensor<3xf16>, tensor<3xbf16>, tensor<3xui8>, tensor<0x4xf32>
}
