// RUN: xrelay-opt -p tile-for-memory %s | filecheck %s

// Of an open height all turns are alike. The first starts above the image, where windows see
// padding; the ops of the whole stay for their shapes.
//
// CHECK-LABEL: @loop
// CHECK:         %[[A:.*]] = relay.nn.relu %x
// CHECK-NEXT:    %[[B:.*]] = relay.nn.max_pool2d %[[A]]
// CHECK:         %[[SHAPE:.*]] = relay.shape_of %[[B]]
// CHECK-NEXT:    %[[RESULT:.*]] = relay.dyn.zeros %[[SHAPE]]
// CHECK:         %[[ROWS:.*]] = relay.shape_of %[[A]]
// CHECK:         %[[H:.*]], %[[R:.*]] = relay.loop %{{.*}}, %[[RESULT]] {axis = 1 : i64, start = -1 : i64}
// CHECK-NEXT:    %[[C:.*]] = relay.read_rows %[[H]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[X:.*]] = relay.read_rows %x fill %{{.*}} {axis = 1 : i64, start = 0 : i64, step = 1 : i64} : {{.*}} -> tensor<1x1x4x1xf32>
// CHECK-NEXT:    %[[A1:.*]] = relay.nn.relu %[[X]]
// CHECK-NEXT:    %[[J:.*]] = relay.concatenate %[[C]], %[[A1]]
// CHECK-NEXT:    %[[F:.*]] = relay.fill_rows %[[J]], %{{.*}}, %[[ROWS]] {axis = 1 : i64, start = -2 : i64, step = 1 : i64}
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.max_pool2d %[[F]] {layout = "NHWC", pool_size = array<i64: 3, 3>}
// CHECK-NEXT:    %[[W:.*]] = relay.write_rows %[[Y]], %[[R]] {axis = 1 : i64, count = 1 : i64, start = -1 : i64, step = 1 : i64, clips}
// CHECK-NEXT:    %[[K:.*]] = relay.read_rows %[[F]] {axis = 1 : i64, start = 1 : i64} : {{.*}} -> tensor<1x2x4x1xf32>
// CHECK-NEXT:    %[[K1:.*]] = relay.read_rows %[[K]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %{{.*}}, %[[Z:.*]] = relay.end_loop %[[K1]], %[[W]]
// CHECK-NEXT:    func.return %[[Z]]
func.func @loop(%x: tensor<1x?x4x1xf32>) -> tensor<1x?x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x?x4x1xf32>) -> tensor<1x?x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1"}}
    : (tensor<1x?x4x1xf32>) -> tensor<1x?x2x1xf32>
  func.return %y : tensor<1x?x2x1xf32>
}

// Of an open width, too, rows of before the first turn are computed in the shape of the whole.
//
// CHECK-LABEL: @wide
// CHECK:         %[[A:.*]] = relay.nn.relu %x
// CHECK:         %[[SHAPE:.*]] = relay.shape_of %[[A]]
// CHECK:         %[[WIDTH:.*]] = tensor.extract %[[SHAPE]][%{{.*}}]
// CHECK:         %[[ROWS:.*]] = tensor.from_elements %{{.*}}, %{{.*}}, %[[WIDTH]], %{{.*}}
// CHECK-NEXT:    %[[ZEROS:.*]] = relay.dyn.zeros %[[ROWS]] {{.*}} -> tensor<1x2x?x1xf32>
// CHECK:         relay.fill_rows %[[ZEROS]]
// CHECK:         relay.loop
// CHECK:         %[[X:.*]] = relay.read_rows %x fill {{.*}} -> tensor<1x1x?x1xf32>
// CHECK-NEXT:    relay.nn.relu %[[X]] : (tensor<1x1x?x1xf32>) -> tensor<1x1x?x1xf32>
// CHECK:         relay.nn.max_pool2d {{.*}} (tensor<1x3x?x1xf32>) -> tensor<1x1x?x1xf32>
func.func @wide(%x: tensor<1x?x?x1xf32>) -> tensor<1x?x?x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x?x?x1xf32>) -> tensor<1x?x?x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1"}}
    : (tensor<1x?x?x1xf32>) -> tensor<1x?x?x1xf32>
  func.return %y : tensor<1x?x?x1xf32>
}
