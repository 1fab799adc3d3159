// SqueezeNet 1.1 (Iandola et al. 2016, https://arxiv.org/abs/1602.07360): 1.2 million weights,
// images of 224 by 224 pixels, 1000 classes. Converted from light_squeezenet.onnx of the onnx
// package (Apache-2.0) by examples/make_squeezenet.py.
//
// The weights are declared, but not included. To run it with random weights:
//
//     xrelay-run examples/squeezenet.mlir --random-seed 0 --random-weights --stats

builtin.module {
  func.func @main(%data.0: tensor<1x3x224x224xf32> {relay.name = "data_0"}) -> (tensor<1x1000x1x1xf32> {relay.name = "softmaxout_1"}) {
    %conv1_w.0 = relay.param "conv1_w_0" : tensor<64x3x3x3xf32>
    %0 = relay.nn.conv2d %data.0, %conv1_w.0 {strides = array<i64: 2, 2>} : (tensor<1x3x224x224xf32>, tensor<64x3x3x3xf32>) -> tensor<1x64x111x111xf32>
    %conv1_b.0 = relay.param "conv1_b_0" : tensor<64xf32>
    %r0 = relay.nn.bias_add %0, %conv1_b.0 : (tensor<1x64x111x111xf32>, tensor<64xf32>) -> tensor<1x64x111x111xf32>
    %r1 = relay.nn.relu %r0 : (tensor<1x64x111x111xf32>) -> tensor<1x64x111x111xf32>
    %r2 = relay.nn.max_pool2d %r1 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x64x111x111xf32>) -> tensor<1x64x55x55xf32>
    %fire2_squeeze1x1_w.0 = relay.param "fire2/squeeze1x1_w_0" : tensor<16x64x1x1xf32>
    %1 = relay.nn.conv2d %r2, %fire2_squeeze1x1_w.0 : (tensor<1x64x55x55xf32>, tensor<16x64x1x1xf32>) -> tensor<1x16x55x55xf32>
    %fire2_squeeze1x1_b.0 = relay.param "fire2/squeeze1x1_b_0" : tensor<16xf32>
    %r3 = relay.nn.bias_add %1, %fire2_squeeze1x1_b.0 : (tensor<1x16x55x55xf32>, tensor<16xf32>) -> tensor<1x16x55x55xf32>
    %r4 = relay.nn.relu %r3 : (tensor<1x16x55x55xf32>) -> tensor<1x16x55x55xf32>
    %fire2_expand1x1_w.0 = relay.param "fire2/expand1x1_w_0" : tensor<64x16x1x1xf32>
    %2 = relay.nn.conv2d %r4, %fire2_expand1x1_w.0 : (tensor<1x16x55x55xf32>, tensor<64x16x1x1xf32>) -> tensor<1x64x55x55xf32>
    %fire2_expand1x1_b.0 = relay.param "fire2/expand1x1_b_0" : tensor<64xf32>
    %r5 = relay.nn.bias_add %2, %fire2_expand1x1_b.0 : (tensor<1x64x55x55xf32>, tensor<64xf32>) -> tensor<1x64x55x55xf32>
    %r6 = relay.nn.relu %r5 : (tensor<1x64x55x55xf32>) -> tensor<1x64x55x55xf32>
    %fire2_expand3x3_w.0 = relay.param "fire2/expand3x3_w_0" : tensor<64x16x3x3xf32>
    %3 = relay.nn.conv2d %r4, %fire2_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x55x55xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x55x55xf32>
    %fire2_expand3x3_b.0 = relay.param "fire2/expand3x3_b_0" : tensor<64xf32>
    %r7 = relay.nn.bias_add %3, %fire2_expand3x3_b.0 : (tensor<1x64x55x55xf32>, tensor<64xf32>) -> tensor<1x64x55x55xf32>
    %r8 = relay.nn.relu %r7 : (tensor<1x64x55x55xf32>) -> tensor<1x64x55x55xf32>
    %r9 = relay.concatenate %r6, %r8 {axis = 1 : i64} : (tensor<1x64x55x55xf32>, tensor<1x64x55x55xf32>) -> tensor<1x128x55x55xf32>
    %fire3_squeeze1x1_w.0 = relay.param "fire3/squeeze1x1_w_0" : tensor<16x128x1x1xf32>
    %4 = relay.nn.conv2d %r9, %fire3_squeeze1x1_w.0 : (tensor<1x128x55x55xf32>, tensor<16x128x1x1xf32>) -> tensor<1x16x55x55xf32>
    %fire3_squeeze1x1_b.0 = relay.param "fire3/squeeze1x1_b_0" : tensor<16xf32>
    %r10 = relay.nn.bias_add %4, %fire3_squeeze1x1_b.0 : (tensor<1x16x55x55xf32>, tensor<16xf32>) -> tensor<1x16x55x55xf32>
    %r11 = relay.nn.relu %r10 : (tensor<1x16x55x55xf32>) -> tensor<1x16x55x55xf32>
    %fire3_expand1x1_w.0 = relay.param "fire3/expand1x1_w_0" : tensor<64x16x1x1xf32>
    %5 = relay.nn.conv2d %r11, %fire3_expand1x1_w.0 : (tensor<1x16x55x55xf32>, tensor<64x16x1x1xf32>) -> tensor<1x64x55x55xf32>
    %fire3_expand1x1_b.0 = relay.param "fire3/expand1x1_b_0" : tensor<64xf32>
    %r12 = relay.nn.bias_add %5, %fire3_expand1x1_b.0 : (tensor<1x64x55x55xf32>, tensor<64xf32>) -> tensor<1x64x55x55xf32>
    %r13 = relay.nn.relu %r12 : (tensor<1x64x55x55xf32>) -> tensor<1x64x55x55xf32>
    %fire3_expand3x3_w.0 = relay.param "fire3/expand3x3_w_0" : tensor<64x16x3x3xf32>
    %6 = relay.nn.conv2d %r11, %fire3_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x55x55xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x55x55xf32>
    %fire3_expand3x3_b.0 = relay.param "fire3/expand3x3_b_0" : tensor<64xf32>
    %r14 = relay.nn.bias_add %6, %fire3_expand3x3_b.0 : (tensor<1x64x55x55xf32>, tensor<64xf32>) -> tensor<1x64x55x55xf32>
    %r15 = relay.nn.relu %r14 : (tensor<1x64x55x55xf32>) -> tensor<1x64x55x55xf32>
    %r16 = relay.concatenate %r13, %r15 {axis = 1 : i64} : (tensor<1x64x55x55xf32>, tensor<1x64x55x55xf32>) -> tensor<1x128x55x55xf32>
    %r17 = relay.nn.max_pool2d %r16 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x128x55x55xf32>) -> tensor<1x128x27x27xf32>
    %fire4_squeeze1x1_w.0 = relay.param "fire4/squeeze1x1_w_0" : tensor<32x128x1x1xf32>
    %7 = relay.nn.conv2d %r17, %fire4_squeeze1x1_w.0 : (tensor<1x128x27x27xf32>, tensor<32x128x1x1xf32>) -> tensor<1x32x27x27xf32>
    %fire4_squeeze1x1_b.0 = relay.param "fire4/squeeze1x1_b_0" : tensor<32xf32>
    %r18 = relay.nn.bias_add %7, %fire4_squeeze1x1_b.0 : (tensor<1x32x27x27xf32>, tensor<32xf32>) -> tensor<1x32x27x27xf32>
    %r19 = relay.nn.relu %r18 : (tensor<1x32x27x27xf32>) -> tensor<1x32x27x27xf32>
    %fire4_expand1x1_w.0 = relay.param "fire4/expand1x1_w_0" : tensor<128x32x1x1xf32>
    %8 = relay.nn.conv2d %r19, %fire4_expand1x1_w.0 : (tensor<1x32x27x27xf32>, tensor<128x32x1x1xf32>) -> tensor<1x128x27x27xf32>
    %fire4_expand1x1_b.0 = relay.param "fire4/expand1x1_b_0" : tensor<128xf32>
    %r20 = relay.nn.bias_add %8, %fire4_expand1x1_b.0 : (tensor<1x128x27x27xf32>, tensor<128xf32>) -> tensor<1x128x27x27xf32>
    %r21 = relay.nn.relu %r20 : (tensor<1x128x27x27xf32>) -> tensor<1x128x27x27xf32>
    %fire4_expand3x3_w.0 = relay.param "fire4/expand3x3_w_0" : tensor<128x32x3x3xf32>
    %9 = relay.nn.conv2d %r19, %fire4_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x27x27xf32>, tensor<128x32x3x3xf32>) -> tensor<1x128x27x27xf32>
    %fire4_expand3x3_b.0 = relay.param "fire4/expand3x3_b_0" : tensor<128xf32>
    %r22 = relay.nn.bias_add %9, %fire4_expand3x3_b.0 : (tensor<1x128x27x27xf32>, tensor<128xf32>) -> tensor<1x128x27x27xf32>
    %r23 = relay.nn.relu %r22 : (tensor<1x128x27x27xf32>) -> tensor<1x128x27x27xf32>
    %r24 = relay.concatenate %r21, %r23 {axis = 1 : i64} : (tensor<1x128x27x27xf32>, tensor<1x128x27x27xf32>) -> tensor<1x256x27x27xf32>
    %fire5_squeeze1x1_w.0 = relay.param "fire5/squeeze1x1_w_0" : tensor<32x256x1x1xf32>
    %10 = relay.nn.conv2d %r24, %fire5_squeeze1x1_w.0 : (tensor<1x256x27x27xf32>, tensor<32x256x1x1xf32>) -> tensor<1x32x27x27xf32>
    %fire5_squeeze1x1_b.0 = relay.param "fire5/squeeze1x1_b_0" : tensor<32xf32>
    %r25 = relay.nn.bias_add %10, %fire5_squeeze1x1_b.0 : (tensor<1x32x27x27xf32>, tensor<32xf32>) -> tensor<1x32x27x27xf32>
    %r26 = relay.nn.relu %r25 : (tensor<1x32x27x27xf32>) -> tensor<1x32x27x27xf32>
    %fire5_expand1x1_w.0 = relay.param "fire5/expand1x1_w_0" : tensor<128x32x1x1xf32>
    %11 = relay.nn.conv2d %r26, %fire5_expand1x1_w.0 : (tensor<1x32x27x27xf32>, tensor<128x32x1x1xf32>) -> tensor<1x128x27x27xf32>
    %fire5_expand1x1_b.0 = relay.param "fire5/expand1x1_b_0" : tensor<128xf32>
    %r27 = relay.nn.bias_add %11, %fire5_expand1x1_b.0 : (tensor<1x128x27x27xf32>, tensor<128xf32>) -> tensor<1x128x27x27xf32>
    %r28 = relay.nn.relu %r27 : (tensor<1x128x27x27xf32>) -> tensor<1x128x27x27xf32>
    %fire5_expand3x3_w.0 = relay.param "fire5/expand3x3_w_0" : tensor<128x32x3x3xf32>
    %12 = relay.nn.conv2d %r26, %fire5_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x27x27xf32>, tensor<128x32x3x3xf32>) -> tensor<1x128x27x27xf32>
    %fire5_expand3x3_b.0 = relay.param "fire5/expand3x3_b_0" : tensor<128xf32>
    %r29 = relay.nn.bias_add %12, %fire5_expand3x3_b.0 : (tensor<1x128x27x27xf32>, tensor<128xf32>) -> tensor<1x128x27x27xf32>
    %r30 = relay.nn.relu %r29 : (tensor<1x128x27x27xf32>) -> tensor<1x128x27x27xf32>
    %r31 = relay.concatenate %r28, %r30 {axis = 1 : i64} : (tensor<1x128x27x27xf32>, tensor<1x128x27x27xf32>) -> tensor<1x256x27x27xf32>
    %r32 = relay.nn.max_pool2d %r31 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x256x27x27xf32>) -> tensor<1x256x13x13xf32>
    %fire6_squeeze1x1_w.0 = relay.param "fire6/squeeze1x1_w_0" : tensor<48x256x1x1xf32>
    %13 = relay.nn.conv2d %r32, %fire6_squeeze1x1_w.0 : (tensor<1x256x13x13xf32>, tensor<48x256x1x1xf32>) -> tensor<1x48x13x13xf32>
    %fire6_squeeze1x1_b.0 = relay.param "fire6/squeeze1x1_b_0" : tensor<48xf32>
    %r33 = relay.nn.bias_add %13, %fire6_squeeze1x1_b.0 : (tensor<1x48x13x13xf32>, tensor<48xf32>) -> tensor<1x48x13x13xf32>
    %r34 = relay.nn.relu %r33 : (tensor<1x48x13x13xf32>) -> tensor<1x48x13x13xf32>
    %fire6_expand1x1_w.0 = relay.param "fire6/expand1x1_w_0" : tensor<192x48x1x1xf32>
    %14 = relay.nn.conv2d %r34, %fire6_expand1x1_w.0 : (tensor<1x48x13x13xf32>, tensor<192x48x1x1xf32>) -> tensor<1x192x13x13xf32>
    %fire6_expand1x1_b.0 = relay.param "fire6/expand1x1_b_0" : tensor<192xf32>
    %r35 = relay.nn.bias_add %14, %fire6_expand1x1_b.0 : (tensor<1x192x13x13xf32>, tensor<192xf32>) -> tensor<1x192x13x13xf32>
    %r36 = relay.nn.relu %r35 : (tensor<1x192x13x13xf32>) -> tensor<1x192x13x13xf32>
    %fire6_expand3x3_w.0 = relay.param "fire6/expand3x3_w_0" : tensor<192x48x3x3xf32>
    %15 = relay.nn.conv2d %r34, %fire6_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x48x13x13xf32>, tensor<192x48x3x3xf32>) -> tensor<1x192x13x13xf32>
    %fire6_expand3x3_b.0 = relay.param "fire6/expand3x3_b_0" : tensor<192xf32>
    %r37 = relay.nn.bias_add %15, %fire6_expand3x3_b.0 : (tensor<1x192x13x13xf32>, tensor<192xf32>) -> tensor<1x192x13x13xf32>
    %r38 = relay.nn.relu %r37 : (tensor<1x192x13x13xf32>) -> tensor<1x192x13x13xf32>
    %r39 = relay.concatenate %r36, %r38 {axis = 1 : i64} : (tensor<1x192x13x13xf32>, tensor<1x192x13x13xf32>) -> tensor<1x384x13x13xf32>
    %fire7_squeeze1x1_w.0 = relay.param "fire7/squeeze1x1_w_0" : tensor<48x384x1x1xf32>
    %16 = relay.nn.conv2d %r39, %fire7_squeeze1x1_w.0 : (tensor<1x384x13x13xf32>, tensor<48x384x1x1xf32>) -> tensor<1x48x13x13xf32>
    %fire7_squeeze1x1_b.0 = relay.param "fire7/squeeze1x1_b_0" : tensor<48xf32>
    %r40 = relay.nn.bias_add %16, %fire7_squeeze1x1_b.0 : (tensor<1x48x13x13xf32>, tensor<48xf32>) -> tensor<1x48x13x13xf32>
    %r41 = relay.nn.relu %r40 : (tensor<1x48x13x13xf32>) -> tensor<1x48x13x13xf32>
    %fire7_expand1x1_w.0 = relay.param "fire7/expand1x1_w_0" : tensor<192x48x1x1xf32>
    %17 = relay.nn.conv2d %r41, %fire7_expand1x1_w.0 : (tensor<1x48x13x13xf32>, tensor<192x48x1x1xf32>) -> tensor<1x192x13x13xf32>
    %fire7_expand1x1_b.0 = relay.param "fire7/expand1x1_b_0" : tensor<192xf32>
    %r42 = relay.nn.bias_add %17, %fire7_expand1x1_b.0 : (tensor<1x192x13x13xf32>, tensor<192xf32>) -> tensor<1x192x13x13xf32>
    %r43 = relay.nn.relu %r42 : (tensor<1x192x13x13xf32>) -> tensor<1x192x13x13xf32>
    %fire7_expand3x3_w.0 = relay.param "fire7/expand3x3_w_0" : tensor<192x48x3x3xf32>
    %18 = relay.nn.conv2d %r41, %fire7_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x48x13x13xf32>, tensor<192x48x3x3xf32>) -> tensor<1x192x13x13xf32>
    %fire7_expand3x3_b.0 = relay.param "fire7/expand3x3_b_0" : tensor<192xf32>
    %r44 = relay.nn.bias_add %18, %fire7_expand3x3_b.0 : (tensor<1x192x13x13xf32>, tensor<192xf32>) -> tensor<1x192x13x13xf32>
    %r45 = relay.nn.relu %r44 : (tensor<1x192x13x13xf32>) -> tensor<1x192x13x13xf32>
    %r46 = relay.concatenate %r43, %r45 {axis = 1 : i64} : (tensor<1x192x13x13xf32>, tensor<1x192x13x13xf32>) -> tensor<1x384x13x13xf32>
    %fire8_squeeze1x1_w.0 = relay.param "fire8/squeeze1x1_w_0" : tensor<64x384x1x1xf32>
    %19 = relay.nn.conv2d %r46, %fire8_squeeze1x1_w.0 : (tensor<1x384x13x13xf32>, tensor<64x384x1x1xf32>) -> tensor<1x64x13x13xf32>
    %fire8_squeeze1x1_b.0 = relay.param "fire8/squeeze1x1_b_0" : tensor<64xf32>
    %r47 = relay.nn.bias_add %19, %fire8_squeeze1x1_b.0 : (tensor<1x64x13x13xf32>, tensor<64xf32>) -> tensor<1x64x13x13xf32>
    %r48 = relay.nn.relu %r47 : (tensor<1x64x13x13xf32>) -> tensor<1x64x13x13xf32>
    %fire8_expand1x1_w.0 = relay.param "fire8/expand1x1_w_0" : tensor<256x64x1x1xf32>
    %20 = relay.nn.conv2d %r48, %fire8_expand1x1_w.0 : (tensor<1x64x13x13xf32>, tensor<256x64x1x1xf32>) -> tensor<1x256x13x13xf32>
    %fire8_expand1x1_b.0 = relay.param "fire8/expand1x1_b_0" : tensor<256xf32>
    %r49 = relay.nn.bias_add %20, %fire8_expand1x1_b.0 : (tensor<1x256x13x13xf32>, tensor<256xf32>) -> tensor<1x256x13x13xf32>
    %r50 = relay.nn.relu %r49 : (tensor<1x256x13x13xf32>) -> tensor<1x256x13x13xf32>
    %fire8_expand3x3_w.0 = relay.param "fire8/expand3x3_w_0" : tensor<256x64x3x3xf32>
    %21 = relay.nn.conv2d %r48, %fire8_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x13x13xf32>, tensor<256x64x3x3xf32>) -> tensor<1x256x13x13xf32>
    %fire8_expand3x3_b.0 = relay.param "fire8/expand3x3_b_0" : tensor<256xf32>
    %r51 = relay.nn.bias_add %21, %fire8_expand3x3_b.0 : (tensor<1x256x13x13xf32>, tensor<256xf32>) -> tensor<1x256x13x13xf32>
    %r52 = relay.nn.relu %r51 : (tensor<1x256x13x13xf32>) -> tensor<1x256x13x13xf32>
    %r53 = relay.concatenate %r50, %r52 {axis = 1 : i64} : (tensor<1x256x13x13xf32>, tensor<1x256x13x13xf32>) -> tensor<1x512x13x13xf32>
    %fire9_squeeze1x1_w.0 = relay.param "fire9/squeeze1x1_w_0" : tensor<64x512x1x1xf32>
    %22 = relay.nn.conv2d %r53, %fire9_squeeze1x1_w.0 : (tensor<1x512x13x13xf32>, tensor<64x512x1x1xf32>) -> tensor<1x64x13x13xf32>
    %fire9_squeeze1x1_b.0 = relay.param "fire9/squeeze1x1_b_0" : tensor<64xf32>
    %r54 = relay.nn.bias_add %22, %fire9_squeeze1x1_b.0 : (tensor<1x64x13x13xf32>, tensor<64xf32>) -> tensor<1x64x13x13xf32>
    %r55 = relay.nn.relu %r54 : (tensor<1x64x13x13xf32>) -> tensor<1x64x13x13xf32>
    %fire9_expand1x1_w.0 = relay.param "fire9/expand1x1_w_0" : tensor<256x64x1x1xf32>
    %23 = relay.nn.conv2d %r55, %fire9_expand1x1_w.0 : (tensor<1x64x13x13xf32>, tensor<256x64x1x1xf32>) -> tensor<1x256x13x13xf32>
    %fire9_expand1x1_b.0 = relay.param "fire9/expand1x1_b_0" : tensor<256xf32>
    %r56 = relay.nn.bias_add %23, %fire9_expand1x1_b.0 : (tensor<1x256x13x13xf32>, tensor<256xf32>) -> tensor<1x256x13x13xf32>
    %r57 = relay.nn.relu %r56 : (tensor<1x256x13x13xf32>) -> tensor<1x256x13x13xf32>
    %fire9_expand3x3_w.0 = relay.param "fire9/expand3x3_w_0" : tensor<256x64x3x3xf32>
    %24 = relay.nn.conv2d %r55, %fire9_expand3x3_w.0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x13x13xf32>, tensor<256x64x3x3xf32>) -> tensor<1x256x13x13xf32>
    %fire9_expand3x3_b.0 = relay.param "fire9/expand3x3_b_0" : tensor<256xf32>
    %r58 = relay.nn.bias_add %24, %fire9_expand3x3_b.0 : (tensor<1x256x13x13xf32>, tensor<256xf32>) -> tensor<1x256x13x13xf32>
    %r59 = relay.nn.relu %r58 : (tensor<1x256x13x13xf32>) -> tensor<1x256x13x13xf32>
    %r60 = relay.concatenate %r57, %r59 {axis = 1 : i64} : (tensor<1x256x13x13xf32>, tensor<1x256x13x13xf32>) -> tensor<1x512x13x13xf32>
    %conv10_w.0 = relay.param "conv10_w_0" : tensor<1000x512x1x1xf32>
    %25 = relay.nn.conv2d %r60, %conv10_w.0 : (tensor<1x512x13x13xf32>, tensor<1000x512x1x1xf32>) -> tensor<1x1000x13x13xf32>
    %conv10_b.0 = relay.param "conv10_b_0" : tensor<1000xf32>
    %r63 = relay.nn.bias_add %25, %conv10_b.0 : (tensor<1x1000x13x13xf32>, tensor<1000xf32>) -> tensor<1x1000x13x13xf32>
    %r64 = relay.nn.relu %r63 : (tensor<1x1000x13x13xf32>) -> tensor<1x1000x13x13xf32>
    %r65 = relay.nn.global_avg_pool2d %r64 : (tensor<1x1000x13x13xf32>) -> tensor<1x1000x1x1xf32>
    %26 = relay.reshape %r65 {newshape = array<i64: 1, 1000>} : (tensor<1x1000x1x1xf32>) -> tensor<1x1000xf32>
    %27 = relay.nn.softmax %26 {axis = 1 : i64} : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
    %softmaxout.1 = relay.reshape %27 {newshape = array<i64: 1, 1000, 1, 1>} : (tensor<1x1000xf32>) -> tensor<1x1000x1x1xf32>
    func.return %softmaxout.1 : tensor<1x1000x1x1xf32>
  }
}
