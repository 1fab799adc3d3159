// RUN: xrelay-opt --split-input-file -p 'convert-relay-to-linalg{require}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'convert-relay-to-linalg{require},convert-memory-to-memref' %s | mlir-opt --split-input-file -o /dev/null

// A dense layer is one contraction onto zeros.
//
// CHECK-LABEL: @dense
// CHECK:         %[[ZEROS:.*]] = linalg.fill
// CHECK-NEXT:    %[[SUM:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x4xf32>, tensor<8x4xf32>) outs(%[[ZEROS]] : tensor<2x8xf32>)
// CHECK:           arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK-NEXT:      arith.addf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK:         relay.yield %[[SUM]]
relay.prim_func @dense(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>) -> tensor<2x8xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  relay.yield %0 : tensor<2x8xf32>
}

// -----

// Batches that may be 1 at run time are views whose stride is 0 then.
//
// CHECK-LABEL: @batches
// CHECK:         %[[SIZE:.*]] = arith.select
// CHECK:         %[[STRIDE:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:    tensor.extract_slice %x[0, 0, 0] [%[[SIZE]], 2, 4] [%[[STRIDE]], 1, 1]
relay.prim_func @batches(%x: tensor<?x2x4xf32>, %y: tensor<?x8x4xf32>) -> tensor<?x2x8xf32> {
  %0 = relay.nn.batch_matmul %x, %y : (tensor<?x2x4xf32>, tensor<?x8x4xf32>) -> tensor<?x2x8xf32>
  relay.yield %0 : tensor<?x2x8xf32>
}

// -----

// A convolution is padded first, by as much as its windows read.
//
// CHECK-LABEL: @convolution
// CHECK:         %[[PADDED:.*]] = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 0, 0]
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, ((d2 * 2) + d5), ((d3 * 2) + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[PADDED]], %w
relay.prim_func @convolution(%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32> {
  %0 = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
    : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32>
  relay.yield %0 : tensor<1x16x4x4xf32>
}

// -----

// A convolution with windows of 1x1 has no loops over them.
//
// CHECK-LABEL: @pointwise
// CHECK:         %[[W:.*]] = tensor.collapse_shape %w {{.*}} : tensor<1x1x3x16xf32> into tensor<3x16xf32>
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, (d1 * 2), (d2 * 2), d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>]
relay.prim_func @pointwise(%x: tensor<1x8x8x3xf32>, %w: tensor<1x1x3x16xf32>) -> tensor<1x4x4x16xf32> {
  %0 = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x3xf32>, tensor<1x1x3x16xf32>) -> tensor<1x4x4x16xf32>
  relay.yield %0 : tensor<1x4x4x16xf32>
}

// -----

// A depthwise convolution has no loop over the one channel of a group.
//
// CHECK-LABEL: @depthwise
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, (d2 + d4), (d3 + d5))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>]
relay.prim_func @depthwise(%x: tensor<1x4x8x8xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.nn.conv2d %x, %w {groups = 4} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  relay.yield %0 : tensor<1x4x6x6xf32>
}

// -----

// Groups are a loop of their own.
//
// CHECK-LABEL: @groups
// CHECK:         tensor.expand_shape %x {{.*}} into tensor<1x2x2x8x8xf32>
// CHECK:         tensor.expand_shape %w {{.*}} into tensor<2x3x2x3x3xf32>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}}affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, (d3 + d6), (d4 + d7))>
// CHECK:         tensor.collapse_shape %[[R]]
relay.prim_func @groups(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x6x6xf32> {
  %0 = relay.nn.conv2d %x, %w {groups = 2} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x6x6xf32>
  relay.yield %0 : tensor<1x6x6x6xf32>
}

// -----

// A pool reads a tensor of the shape of a window for the bounds of its loops.
//
// CHECK-LABEL: @pool
// CHECK:         %[[WINDOW:.*]] = tensor.empty() : tensor<2x2xf32>
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, ((d2 * 2) + d4), ((d3 * 2) + d5))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>]{{.*}} ins(%x, %[[WINDOW]]
// CHECK:           arith.maximumf
relay.prim_func @pool(%x: tensor<1x3x7x7xf32>) -> tensor<1x3x3x3xf32> {
  %0 = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x3x7x7xf32>) -> tensor<1x3x3x3xf32>
  relay.yield %0 : tensor<1x3x3x3xf32>
}

// -----

// A mean of f16 is summed in f32; the reduced axis is kept after it.
//
// CHECK-LABEL: @mean
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x3xf16>) outs(%{{.*}} : tensor<2xf32>)
// CHECK:           arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
// CHECK:           arith.divf
// CHECK-NEXT:      arith.truncf
// CHECK:         tensor.expand_shape %{{.*}} : tensor<2xf16> into tensor<2x1xf16>
relay.prim_func @mean(%x: tensor<2x3xf16>) -> tensor<2x1xf16> {
  %0 = relay.mean %x {axis = array<i64: 1>, keepdims = true} : (tensor<2x3xf16>) -> tensor<2x1xf16>
  relay.yield %0 : tensor<2x1xf16>
}

// -----

// A mean of several axes of f32 is summed in f64.
//
// CHECK-LABEL: @mean_of_images
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction", "parallel"]} ins(%x : tensor<1x?x?x8xf32>) outs(%{{.*}} : tensor<1x8xf64>)
// CHECK:           arith.extf
// CHECK-NEXT:      arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f64
// CHECK:           arith.divf
// CHECK-NEXT:      arith.truncf
relay.prim_func @mean_of_images(%x: tensor<1x?x?x8xf32>) -> tensor<1x8xf32> {
  %0 = relay.mean %x {axis = array<i64: 1, 2>} : (tensor<1x?x?x8xf32>) -> tensor<1x8xf32>
  relay.yield %0 : tensor<1x8xf32>
}

// -----

// A softmax is the linalg of the operators of its meaning.
//
// CHECK-LABEL: @softmax
// CHECK:           arith.maximumf
// CHECK:           math.exp
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[POWERS:.*]] : tensor<?x8xf32>)
// CHECK:           arith.addf
// CHECK:           arith.divf
// CHECK:         linalg.generic {{.*}} ins(%[[POWERS]], %{{.*}} :
// CHECK:           arith.mulf
relay.prim_func @softmax(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = relay.nn.softmax %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  relay.yield %0 : tensor<?x8xf32>
}

// -----

// Tensors are joined by copies into slices of the result.
//
// CHECK-LABEL: @joins
// CHECK:         %[[N:.*]] = tensor.dim %x
// CHECK:         %[[ALL:.*]] = tensor.empty
// CHECK-NEXT:    %[[TO:.*]] = tensor.extract_slice %[[ALL]][0, 0] [2, %[[N]]] [1, 1]
// CHECK-NEXT:    %[[PART:.*]] = linalg.generic {{.*}} ins(%x : tensor<2x?xf32>) outs(%[[TO]] : tensor<2x?xf32>)
// CHECK:         tensor.insert_slice %[[PART]] into %[[ALL]][0, 0] [2, %[[N]]] [1, 1]
relay.prim_func @joins(%x: tensor<2x?xf32>, %y: tensor<2x3xf32>) -> tensor<2x?xf32> {
  %0 = relay.concatenate %x, %y {axis = 1} : (tensor<2x?xf32>, tensor<2x3xf32>) -> tensor<2x?xf32>
  relay.yield %0 : tensor<2x?xf32>
}

// -----

// An index is clamped to the axis, as an unsigned number if it is one.
//
// CHECK-LABEL: @takes
// CHECK:           %[[WIDE:.*]] = arith.extui %{{.*}} : i8 to i64
// CHECK:           %[[WITHIN:.*]] = arith.minui %[[WIDE]]
// CHECK-NEXT:      %[[AT:.*]] = arith.index_cast %[[WITHIN]] : i64 to index
// CHECK-NEXT:      tensor.extract %x[%[[AT]], %{{.*}}]
relay.prim_func @takes(%x: tensor<9x4xf32>, %i: tensor<3xui8>) -> tensor<3x4xf32> {
  %0 = relay.take %x, %i {axis = 0} : (tensor<9x4xf32>, tensor<3xui8>) -> tensor<3x4xf32>
  relay.yield %0 : tensor<3x4xf32>
}

// -----

// Slices are copies of a slice, or with negative strides of elements that are extracted.
//
// CHECK-LABEL: @slices
// CHECK:         tensor.extract_slice %x[1, 0] [4, 4] [2, 1]
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK:           tensor.extract %x
relay.prim_func @slices(%x: tensor<9x4xf32>) -> (tensor<4x4xf32>, tensor<9x4xf32>) {
  %0 = relay.strided_slice %x {begin = array<i64: 1>, end = array<i64: 8>, strides = array<i64: 2>} : (tensor<9x4xf32>) -> tensor<4x4xf32>
  %1 = relay.strided_slice %x {begin = array<i64: -1>, end = array<i64: -20>, strides = array<i64: -1>} : (tensor<9x4xf32>) -> tensor<9x4xf32>
  relay.yield %0, %1 : tensor<4x4xf32>, tensor<9x4xf32>
}

// -----

// A reshape expands only the axes that change.
//
// CHECK-LABEL: @reshape
// CHECK:         %[[N:.*]] = tensor.dim %x
// CHECK-NEXT:    tensor.expand_shape %x {{\[\[}}0 : i64], [1 : i64, 2 : i64], [3 : i64]] output_shape [2, 3, 2, %[[N]]]
relay.prim_func @reshape(%x: tensor<2x6x?xf32>) -> tensor<2x3x2x?xf32> {
  %0 = relay.reshape %x {newshape = array<i64: 2, 3, 2, -1>} : (tensor<2x6x?xf32>) -> tensor<2x3x2x?xf32>
  relay.yield %0 : tensor<2x3x2x?xf32>
}
