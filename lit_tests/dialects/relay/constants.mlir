// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Constants stand in the text, on a device or on none; params are named.
//
// CHECK: relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> on #cuda0 {note}
// CHECK: relay.constant dense<true> : tensor<i1>
// CHECK: relay.constant dense<> : tensor<0x4xi64>
// CHECK: relay.param "conv1 \22w\22" : tensor<64x3x7x7xf32>
// CHECK: relay.param "b" {note} : tensor<4xbf16, #cpu0>
%a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
%b = relay.constant dense<[1.0, 2.0]> : tensor<2xf32> on #relay.device<cuda:0> {note}
%c = relay.constant dense<true> : tensor<i1>
%d = relay.constant dense<> : tensor<0x4xi64>
%e = relay.param "conv1 \22w\22" : tensor<64x3x7x7xf32>
%f = relay.param "b" {note} : tensor<4xbf16, #relay.device<cpu:0>>
