// RUN: xrelay-opt -t relay-text %s | filecheck %s

// Attributes that have TVM's default are left out, ours are not always TVM's.
//
// CHECK-LABEL: @defaults
// CHECK-NEXT:    %0 = nn.leaky_relu(%x, alpha=0.05f64);
// CHECK-NEXT:    %1 = nn.leaky_relu(%0);
// CHECK-NEXT:    %2 = nn.batch_matmul(%1, %y, transpose_b=True);
// CHECK-NEXT:    %3 = nn.batch_matmul(%2, %x);
// CHECK-NEXT:    %4 = nn.softmax(%3);
// CHECK-NEXT:    %5 = nn.softmax(%4, axis=1);
// CHECK-NEXT:    repeat(%5, repeats=2, axis=0)
func.func @defaults(%x: tensor<2x4x4xf32>, %y: tensor<2x4x4xf32>) -> tensor<4x4x4xf32> {
  %a = relay.nn.leaky_relu %x : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %b = relay.nn.leaky_relu %a {alpha = 0.25} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %c = relay.nn.batch_matmul %b, %y : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %d = relay.nn.batch_matmul %c, %x {transpose_b = false} : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %e = relay.nn.softmax %d : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %f = relay.nn.softmax %e {axis = 1} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %g = relay.repeat %f {repeats = 2} : (tensor<2x4x4xf32>) -> tensor<4x4x4xf32>
  func.return %g : tensor<4x4x4xf32>
}

// Every kind of attribute.
//
// CHECK-LABEL: @kinds
// CHECK-NEXT:    %6 = sum(%x, axis=[0, 2], keepdims=True);
// CHECK-NEXT:    %7 = clip(%6, a_min=-1f, a_max=6f);
// CHECK-NEXT:    %8 = cast(%7, dtype="int64");
// CHECK-NEXT:    %9 = cast(%8, dtype="bool");
// CHECK-NEXT:    %10 = cast(%9, dtype="float32");
// CHECK-NEXT:    %11 = nn.gelu(%10, approximate="tanh");
// CHECK-NEXT:    %12 = nn.pad(%11, 0f, pad_width=[[0, 1], [2, 3], [0, 0]]);
// CHECK-NEXT:    %13 = clip(%12, a_min=-inff, a_max=0.1f64);
// CHECK-NEXT:    strided_slice(%13, begin=[0, 1], end=[1, -1], strides=[], axes=[0, 1])
func.func @kinds(%x: tensor<2x4x4xf32>) -> tensor<1x7x1xf32> {
  %a = relay.sum %x {axis = array<i64: 0, 2>, keepdims = true} : (tensor<2x4x4xf32>) -> tensor<1x4x1xf32>
  %b = relay.clip %a {a_min = -1.0, a_max = 6.0} : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %c = relay.cast %b {dtype = i64} : (tensor<1x4x1xf32>) -> tensor<1x4x1xi64>
  %d = relay.cast %c {dtype = i1} : (tensor<1x4x1xi64>) -> tensor<1x4x1xi1>
  %e = relay.cast %d {dtype = f32} : (tensor<1x4x1xi1>) -> tensor<1x4x1xf32>
  %f = relay.nn.gelu %e {approximate = "tanh"} : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %g = relay.nn.pad %f, %zero {pad_width = array<i64: 0, 1, 2, 3, 0, 0>} : (tensor<1x4x1xf32>, tensor<f32>) -> tensor<2x9x1xf32>
  %h = relay.clip %g {a_min = 0xFFF0000000000000 : f64, a_max = 0.1} : (tensor<2x9x1xf32>) -> tensor<2x9x1xf32>
  %i = relay.strided_slice %h {begin = array<i64: 0, 1>, end = array<i64: 1, -1>, axes = array<i64: 0, 1>} : (tensor<2x9x1xf32>) -> tensor<1x7x1xf32>
  func.return %i : tensor<1x7x1xf32>
}

// What TVM's frontends write although types say it is written too.
//
// CHECK-LABEL: @network
// CHECK-NEXT:    %14 = nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
// CHECK-NEXT:    %15 = nn.conv2d(%14, %v, padding=[0, 0, 0, 0], groups=8, channels=8, kernel_size=[1, 1]);
// CHECK-NEXT:    %16 = nn.batch_norm(%15, %m, %m, %m, %m);
// CHECK-NEXT:    %17 = %16.0;
// CHECK-NEXT:    %18 = nn.max_pool2d(%17, pool_size=[2, 2], padding=[0, 0, 0, 0]);
// CHECK-NEXT:    %19 = reshape(%18, newshape=[1, -1]);
// CHECK-NEXT:    nn.dense(%19, %u, units=5)
func.func @network(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>, %v: tensor<8x1x1x1xf32>, %m: tensor<8xf32>, %u: tensor<5x72xf32>) -> tensor<1x5xf32> {
  %a = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %b = relay.nn.conv2d %a, %v {groups = 8} : (tensor<1x8x4x4xf32>, tensor<8x1x1x1xf32>) -> tensor<1x8x4x4xf32>
  %c, %d, %e = relay.nn.batch_norm %b, %m, %m, %m, %m : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>)
  %f = relay.nn.max_pool2d %c {pool_size = array<i64: 2, 2>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x3x3xf32>
  %g = relay.reshape %f {newshape = array<i64: 1, -1>} : (tensor<1x8x3x3xf32>) -> tensor<1x72xf32>
  %h = relay.nn.dense %g, %u : (tensor<1x72xf32>, tensor<5x72xf32>) -> tensor<1x5xf32>
  func.return %h : tensor<1x5xf32>
}

// Scalars are literals; other constants stand in the metadata, equal ones once.
//
// CHECK-LABEL: @constants
// CHECK-NEXT:    (1, -2i64, 3i16, True, 0.1f, -inff, 1e-10f64, 1.5f16, meta[relay.Constant][0], meta[relay.Constant][1], meta[relay.Constant][1], meta[relay.Constant][2])
// CHECK:       #[metadata]
// CHECK:       "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAIAQABAAAAAAAAAAc=",
func.func @constants() -> tuple<tensor<i32>, tensor<i64>, tensor<i16>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f64>, tensor<f16>, tensor<i8>, tensor<2xf32>, tensor<2xf32>, tensor<f32>> {
  %a = relay.constant dense<1> : tensor<i32>
  %b = relay.constant dense<-2> : tensor<i64>
  %c = relay.constant dense<3> : tensor<i16>
  %d = relay.constant dense<true> : tensor<i1>
  %e = relay.constant dense<0.1> : tensor<f32>
  %f = relay.constant dense<"0x000080FF"> : tensor<f32>
  %g = relay.constant dense<1.0e-10> : tensor<f64>
  %h = relay.constant dense<1.5> : tensor<f16>
  %i = relay.constant dense<7> : tensor<i8>
  %j = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %k = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %l = relay.constant dense<"0x0000C07F"> : tensor<f32>
  %t = relay.tuple %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l : (tensor<i32>, tensor<i64>, tensor<i16>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f64>, tensor<f16>, tensor<i8>, tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tuple<tensor<i32>, tensor<i64>, tensor<i16>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f64>, tensor<f16>, tensor<i8>, tensor<2xf32>, tensor<2xf32>, tensor<f32>>
  func.return %t : tuple<tensor<i32>, tensor<i64>, tensor<i16>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f64>, tensor<f16>, tensor<i8>, tensor<2xf32>, tensor<2xf32>, tensor<f32>>
}
