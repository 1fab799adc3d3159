// RUN: xrelay-opt --split-input-file -p expand-lrn %s | filecheck %s

// Channels last: they are the width of an image in the layout NCHW. The power of -3/4 is two roots.
//
// CHECK-LABEL: @last
// CHECK-NEXT:    %[[S:.*]] = relay.multiply %x, %x
// CHECK-NEXT:    %[[M:.*]] = relay.nn.avg_pool2d %[[S]] {count_include_pad = true, pool_size = array<i64: 1, 5>, padding = array<i64: 0, 2, 0, 2>}
// CHECK-NEXT:    %[[A:.*]] = relay.constant dense<5.0{{.*}}> : tensor<f32>
// CHECK-NEXT:    %[[T:.*]] = relay.multiply %[[M]], %[[A]]
// CHECK-NEXT:    %[[B:.*]] = relay.constant dense<2.0{{.*}}> : tensor<f32>
// CHECK-NEXT:    %[[P:.*]] = relay.add %[[T]], %[[B]]
// CHECK-NEXT:    %[[R:.*]] = relay.rsqrt %[[P]]
// CHECK-NEXT:    %[[Q:.*]] = relay.sqrt %[[R]]
// CHECK-NEXT:    %[[F:.*]] = relay.multiply %[[R]], %[[Q]]
// CHECK-NEXT:    relay.multiply %x, %[[F]]
func.func @last(%x: tensor<?x5x6x8xf32>) -> tensor<?x5x6x8xf32> {
  %0 = relay.nn.lrn %x {axis = 3, size = 5, alpha = 5.0} : (tensor<?x5x6x8xf32>) -> tensor<?x5x6x8xf32>
  func.return %0 : tensor<?x5x6x8xf32>
}

// -----

// Of a window that is larger than the image, only what is inside is summed.
//
// CHECK-LABEL: @first
// CHECK:         relay.nn.avg_pool2d {{.*}} {count_include_pad = true, pool_size = array<i64: 5, 1>, padding = array<i64: 2, 0, 2, 0>, layout = "NHWC"}
// CHECK:         relay.constant dense<2.5{{.*}}> : tensor<f64>
// CHECK:         %[[E:.*]] = relay.constant dense<-2.0{{.*}}> : tensor<f64>
// CHECK-NEXT:    relay.power {{.*}}, %[[E]]
func.func @first(%x: tensor<1x3x5x6xf64>) -> tensor<1x3x5x6xf64> {
  %0 = relay.nn.lrn %x {axis = 1, size = 1000, alpha = 500.0, beta = 2.0} : (tensor<1x3x5x6xf64>) -> tensor<1x3x5x6xf64>
  func.return %0 : tensor<1x3x5x6xf64>
}

// -----

// Narrow floats and other ranks stay.
//
// CHECK-LABEL: @stay
// CHECK-COUNT-2: relay.nn.lrn
func.func @stay(%x: tensor<1x3x5x6xf16>, %y: tensor<3x5xf32>) -> (tensor<1x3x5x6xf16>, tensor<3x5xf32>) {
  %0 = relay.nn.lrn %x : (tensor<1x3x5x6xf16>) -> tensor<1x3x5x6xf16>
  %1 = relay.nn.lrn %y : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %0, %1 : tensor<1x3x5x6xf16>, tensor<3x5xf32>
}

// -----

// Of an unknown number of channels, whole windows are summed.
//
// CHECK-LABEL: @open
// CHECK:         relay.nn.avg_pool2d {{.*}} {count_include_pad = true, pool_size = array<i64: 5, 1>, padding = array<i64: 2, 0, 2, 0>, layout = "NHWC"}
func.func @open(%x: tensor<1x?x5x6xf32>) -> tensor<1x?x5x6xf32> {
  %0 = relay.nn.lrn %x : (tensor<1x?x5x6xf32>) -> tensor<1x?x5x6xf32>
  func.return %0 : tensor<1x?x5x6xf32>
}
