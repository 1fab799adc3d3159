// RUN: xrelay-opt -p tile-for-memory %s | filecheck %s

// All stripes are turns of a loop. The first starts above the image, where windows see padding; in
// the first turn no row of %y is in the image, and in the last none of %a.
//
// CHECK-LABEL: @loop
// CHECK:         %[[TOP:.*]] = relay.fill_rows %{{.*}} {axis = 1 : i64, start = -2 : i64}
// CHECK:         %[[H:.*]], %[[R:.*]] = relay.loop %[[TOP]], %{{.*}} {count = 11 : i64}
// CHECK-NEXT:    %[[C:.*]] = relay.read_rows %[[H]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[X:.*]] = relay.read_rows %x fill %{{.*}} {axis = 1 : i64, start = 0 : i64, step = 1 : i64}
// CHECK-NEXT:    %[[A:.*]] = relay.nn.relu %[[X]] {relay.turns = array<i64: 0, 10>}
// CHECK-NEXT:    %[[J:.*]] = relay.concatenate %[[C]], %[[A]]
// CHECK-NEXT:    %[[F:.*]] = relay.fill_rows %[[J]], %{{.*}}, %{{.*}} {axis = 1 : i64, start = -2 : i64, step = 1 : i64}
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.max_pool2d %[[F]] {relay.turns = array<i64: 1, 11>, layout = "NHWC", pool_size = array<i64: 3, 3>}
// CHECK-NEXT:    %[[W:.*]] = relay.write_rows %[[Y]], %[[R]] {axis = 1 : i64, count = 1 : i64, start = -1 : i64, step = 1 : i64, clips}
// CHECK:         %{{.*}}, %[[Z:.*]] = relay.end_loop %{{.*}}, %[[W]]
// CHECK-NEXT:    func.return %[[Z]]
func.func @loop(%x: tensor<1x10x4x1xf32>) -> tensor<1x10x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x10x4x1xf32>) -> tensor<1x10x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1", loop}}
    : (tensor<1x10x4x1xf32>) -> tensor<1x10x2x1xf32>
  func.return %y : tensor<1x10x2x1xf32>
}

// A mean of all rows adds up zeros where there are none.
//
// CHECK-LABEL: @mean
// CHECK:         %[[B:.*]] = relay.nn.max_pool2d {{.*}}relay.turns = array<i64: 1, 11>
// CHECK-NEXT:    %[[F:.*]] = relay.fill_rows %[[B]], %{{.*}}, %{{.*}} {axis = 1 : i64, start = -1 : i64, step = 1 : i64}
// CHECK:         relay.nn.global_avg_pool2d %[[F]] {layout = "NHWC"}
// CHECK:         %[[S:.*]] = relay.add
// CHECK-NEXT:    relay.write_rows %[[S]], %{{.*}} {axis = 0 : i64, count = 1 : i64, start = 0 : i64}
func.func @mean(%x: tensor<1x10x4x1xf32>) -> tensor<1x1x1x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x10x4x1xf32>) -> tensor<1x10x4x1xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 4>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, carried}}
    : (tensor<1x10x4x1xf32>) -> tensor<1x10x1x1xf32>
  %y = relay.nn.global_avg_pool2d %b {layout = "NHWC", relay.stripes = {chain = 0, step = 2, axis = 1, height = "1", loop}}
    : (tensor<1x10x1x1xf32>) -> tensor<1x1x1x1xf32>
  func.return %y : tensor<1x1x1x1xf32>
}

// A turn is two parts of a row, in each of which %a has a row.
//
// CHECK-LABEL: @parts
// CHECK:         relay.loop {{.*}} {count = 8 : i64}
// CHECK:         relay.read_rows %x fill %{{.*}} {axis = 1 : i64, start = 0 : i64, step = 2 : i64}
// CHECK:         relay.read_rows %x fill %{{.*}} {axis = 1 : i64, start = 1 : i64, step = 2 : i64}
// CHECK:         relay.nn.max_pool2d
// CHECK-NOT:     relay.nn.max_pool2d
// CHECK:         func.return
func.func @parts(%x: tensor<1x16x4x1xf32>) -> tensor<1x8x4x1xf32> {
  %a = relay.tanh %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 1>, strides = array<i64: 2, 1>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1/2", loop}}
    : (tensor<1x16x4x1xf32>) -> tensor<1x8x4x1xf32>
  func.return %y : tensor<1x8x4x1xf32>
}

// Rows of a ring that are before the first one are not seen by windows, so that they are zeros.
//
// CHECK-LABEL: @ring
// CHECK:         %[[Z:.*]] = relay.zeros {{.*}}shape = array<i64: 1, 4, 4, 1>
// CHECK:         %{{.*}}, %[[R:.*]], %{{.*}} = relay.loop %{{.*}}, %[[Z]], %{{.*}} {count = 19 : i64}
// CHECK:         %[[A:.*]] = relay.tanh {{.*}}relay.turns = array<i64: 0, 16>
// CHECK-NEXT:    %[[N:.*]] = relay.write_rows %[[A]], %[[R]] {axis = 1 : i64, count = 1 : i64, start = 0 : i64, step = 1 : i64, wraps}
// CHECK:         %[[B:.*]] = relay.nn.max_pool2d {{.*}}relay.turns = array<i64: 3, 19>
// CHECK:         %[[LATE:.*]] = relay.read_rows %[[N]] {axis = 1 : i64, start = 1 : i64, step = 1 : i64, wraps}
// CHECK-NEXT:    relay.add %[[LATE]], %[[B]] {relay.turns = array<i64: 3, 19>}
func.func @ring(%x: tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32> {
  %a = relay.tanh %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 1, 2>, padding = array<i64: 0, 0, 0, 1>, relay.stripes = {chain = 0, step = 1, carried}}
    : (tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  %c = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 4, 1>, padding = array<i64: 0, 0, 3, 0>, relay.stripes = {chain = 0, step = 2, carried}}
    : (tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  %y = relay.add %a, %c {relay.stripes = {chain = 0, step = 3, axis = 1, height = "1", loop}} : (tensor<1x16x4x1xf32>, tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  func.return %y : tensor<1x16x4x1xf32>
}

// Turns of parts of rows that are all alike: the ring is there before the first.
//
// CHECK-LABEL: @ring_at_first
// CHECK:         %[[W:.*]], %{{.*}} = relay.loop %{{.*}}, %{{.*}} {count = 3 : i64} : (tensor<1x2x4x1xf32>, tensor<1x2x1x1xf32>)
// CHECK:         %[[N:.*]] = relay.write_rows %{{.*}}, %[[W]] {axis = 2 : i64, count = 4 : i64, start = 0 : i64, step = 4 : i64, wraps}
// CHECK:         relay.read_rows %[[N]] {axis = 2 : i64, start = 1 : i64, step = 4 : i64, wraps}
// CHECK:         relay.end_loop %[[N]], %{{.*}} :
func.func @ring_at_first(%x: tensor<1x2x3x1xf32>) -> tensor<1x2x1x1xf32> {
  %u = relay.nn.upsampling %x {scale_h = 4.0, relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x2x3x1xf32>) -> tensor<1x2x12x1xf32>
  %m = relay.nn.global_avg_pool2d %u {relay.stripes = {chain = 0, step = 1, carried, loop, axis = 2, height = "1/2"}} : (tensor<1x2x12x1xf32>) -> tensor<1x2x1x1xf32>
  func.return %m : tensor<1x2x1x1xf32>
}

// A mean that does not count padding differs at the borders, so there are a top and a bottom.
//
// CHECK-LABEL: @borders
// CHECK:         padding = array<i64: 1, 0, 0, 0>
// CHECK:         relay.loop {{.*}} {count = 8 : i64}
// CHECK:         relay.end_loop
// CHECK:         padding = array<i64: 0, 0, 1, 0>
func.func @borders(%x: tensor<1x10x4x1xf32>) -> tensor<1x10x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x10x4x1xf32>) -> tensor<1x10x4x1xf32>
  %y = relay.nn.avg_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1", loop}}
    : (tensor<1x10x4x1xf32>) -> tensor<1x10x2x1xf32>
  func.return %y : tensor<1x10x2x1xf32>
}
