// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// A device has a type, an id, a target and a scope, each optional.
//
// CHECK:      "test.op"() {
// CHECK-SAME:   a = #cuda0,
// CHECK-SAME:   b = #cpu,
// CHECK-SAME:   c = #device,
// CHECK-SAME:   d = #device1,
// CHECK-SAME:   e = #cpu0_llvm,
// CHECK-SAME:   f = #device_texture,
// CHECK-SAME:   g = #cpu3_llvm_global
"test.op"() {
  a = #relay.device<cuda:0>,
  b = #relay.device<cpu>,
  c = #relay.device<?>,
  d = #relay.device<?:1>,
  e = #relay.device<cpu:0, target = "llvm -mcpu=\22x\22">,
  f = #relay.device<?, scope = "texture">,
  g = #relay.device<cpu:3, scope = "global", target = "llvm">
} : () -> ()

// -----

// A tensor's device is its encoding.
//
// CHECK: "test.op"() : () -> tensor<5x7xf32, #cuda0>
%0 = "test.op"() : () -> tensor<5x7xf32, #relay.device<cuda:0>>
