// RUN: xrelay-opt -p tile-for-memory %s | filecheck %s

// Stripes that are alike are a loop, between those at the top and the bottom. It carries the halo,
// and the result, into which each stripe writes its rows. A copy of the halo is copied to where it is
// carried, which may so be in the bytes of the whole.
//
// CHECK-LABEL: @loop
// CHECK-NEXT:    %[[Z:.*]] = relay.zeros {{.*}}shape = array<i64: 1, 10, 2, 1>
// CHECK:         %[[Y0:.*]] = relay.nn.max_pool2d {{.*}}padding = array<i64: 1, 0, 0, 0>{{.*}} -> tensor<1x1x2x1xf32>
// CHECK-NEXT:    %[[R0:.*]] = relay.write_rows %[[Y0]], %[[Z]] {axis = 1 : i64, count = 1 : i64, start = 0 : i64}
// CHECK:         %[[H0:.*]] = relay.read_rows %{{.*}} {axis = 1 : i64, start = 0 : i64} : (tensor<1x2x4x1xf32>) -> tensor<1x2x4x1xf32>
// CHECK-NEXT:    %[[H:.*]], %[[R:.*]] = relay.loop %[[H0]], %[[R0]] {count = 8 : i64}
// CHECK-NEXT:    %[[C:.*]] = relay.read_rows %[[H]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[X:.*]] = relay.read_rows %x {axis = 1 : i64, start = 2 : i64, step = 1 : i64} : {{.*}} -> tensor<1x1x4x1xf32>
// CHECK-NEXT:    %[[A:.*]] = relay.nn.relu %[[X]]
// CHECK-NEXT:    %[[B:.*]] = relay.concatenate %[[C]], %[[A]]
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.max_pool2d %[[B]]
// CHECK-NEXT:    %[[W:.*]] = relay.write_rows %[[Y]], %[[R]] {axis = 1 : i64, count = 1 : i64, start = 1 : i64, step = 1 : i64}
// CHECK-NEXT:    %[[K:.*]] = relay.read_rows %[[B]] {axis = 1 : i64, start = 1 : i64} : {{.*}} -> tensor<1x2x4x1xf32>
// CHECK-NEXT:    %[[K1:.*]] = relay.read_rows %[[K]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[H1:.*]], %[[R1:.*]] = relay.end_loop %[[K1]], %[[W]]
// CHECK-NEXT:    %[[Y1:.*]] = relay.nn.max_pool2d %[[H1]] {{.*}}padding = array<i64: 0, 0, 1, 0>
// CHECK-NEXT:    %[[R2:.*]] = relay.write_rows %[[Y1]], %[[R1]] {axis = 1 : i64, count = 1 : i64, start = 9 : i64}
// CHECK-NEXT:    func.return %[[R2]]
func.func @loop(%x: tensor<1x10x4x1xf32>) -> tensor<1x10x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x10x4x1xf32>) -> tensor<1x10x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1"}}
    : (tensor<1x10x4x1xf32>) -> tensor<1x10x2x1xf32>
  func.return %y : tensor<1x10x2x1xf32>
}

// Of %a three rows stay, and a step reads one: they are in a ring of four, into which each new row is
// written, from which the row of three turns before is read, and in which row 4 is over row 0.
//
// CHECK-LABEL: @ring
// CHECK:         %[[A0:.*]] = relay.tanh
// CHECK-NEXT:    %[[Z:.*]] = relay.zeros {{.*}}shape = array<i64: 1, 4, 4, 1>
// CHECK-NEXT:    %[[R0:.*]] = relay.write_rows %[[A0]], %[[Z]] {axis = 1 : i64, count = 1 : i64, start = 0 : i64}
// CHECK:         %[[R1:.*]] = relay.write_rows %{{.*}}, %[[R0]] {axis = 1 : i64, count = 1 : i64, start = 1 : i64}
// CHECK:         %[[R2:.*]] = relay.write_rows %{{.*}}, %[[R1]] {axis = 1 : i64, count = 1 : i64, start = 2 : i64}
// CHECK:         %{{.*}}, %[[R:.*]], %{{.*}} = relay.loop %{{.*}}, %[[R2]], %{{.*}} {count = 13 : i64}
// CHECK:         %[[A:.*]] = relay.tanh
// CHECK-NEXT:    %[[N:.*]] = relay.write_rows %[[A]], %[[R]] {axis = 1 : i64, count = 1 : i64, start = 3 : i64, step = 1 : i64, wraps}
// CHECK:         relay.nn.max_pool2d %[[A]]
// CHECK:         %[[B:.*]] = relay.nn.max_pool2d
// CHECK:         %[[LATE:.*]] = relay.read_rows %[[N]] {axis = 1 : i64, start = 0 : i64, step = 1 : i64, wraps}
// CHECK-NEXT:    relay.add %[[LATE]], %[[B]]
// CHECK:         %{{.*}}, %[[E:.*]], %{{.*}} = relay.end_loop %{{.*}}, %[[N]], %{{.*}}
// CHECK:         relay.read_rows %[[E]] {axis = 1 : i64, start = 1 : i64}
func.func @ring(%x: tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32> {
  %a = relay.tanh %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 1, 2>, padding = array<i64: 0, 0, 0, 1>, relay.stripes = {chain = 0, step = 1, carried}}
    : (tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  %c = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 4, 1>, padding = array<i64: 0, 0, 3, 0>, relay.stripes = {chain = 0, step = 2, carried}}
    : (tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  %y = relay.add %a, %c {relay.stripes = {chain = 0, step = 3, axis = 1, height = "1"}} : (tensor<1x16x4x1xf32>, tensor<1x16x4x1xf32>) -> tensor<1x16x4x1xf32>
  func.return %y : tensor<1x16x4x1xf32>
}
