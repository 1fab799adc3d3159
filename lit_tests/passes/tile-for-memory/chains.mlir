// RUN: xrelay-opt --split-input-file -p tile-for-memory %s | filecheck %s

// A halo that is carried stays for the next stripe. It is copied before new rows are computed, which
// are put after it. The first row, which the first stripe does not have to wait for, is computed
// ahead.
//
// CHECK-LABEL: @carried
// CHECK-NEXT:    %[[X:.*]] = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 1>, axes = array<i64: 1>}
// CHECK-NEXT:    %[[A:.*]] = relay.nn.relu %[[X]]
// CHECK-NEXT:    %[[H:.*]] = relay.read_rows %[[A]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[X0:.*]] = relay.strided_slice %x {begin = array<i64: 1>, end = array<i64: 4>, axes = array<i64: 1>}
// CHECK-NEXT:    %[[A0:.*]] = relay.nn.relu %[[X0]]
// CHECK-NEXT:    %[[B0:.*]] = relay.concatenate %[[H]], %[[A0]] {relay.unfused, axis = 1 : i64} : {{.*}} -> tensor<1x4x4x1xf32>
// CHECK-NEXT:    %[[Y0:.*]] = relay.nn.max_pool2d %[[B0]] {{.*}}padding = array<i64: 1, 0, 0, 0>{{.*}} -> tensor<1x3x2x1xf32>
// CHECK-NEXT:    %[[K0:.*]] = relay.read_rows %[[B0]] {axis = 1 : i64, start = 2 : i64}
// CHECK-NEXT:    %[[H0:.*]] = relay.read_rows %[[K0]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[X1:.*]] = relay.strided_slice %x {begin = array<i64: 4>, end = array<i64: 7>, axes = array<i64: 1>}
// CHECK-NEXT:    %[[A1:.*]] = relay.nn.relu %[[X1]]
// CHECK-NEXT:    %[[B1:.*]] = relay.concatenate %[[H0]], %[[A1]] {relay.unfused, axis = 1 : i64} : {{.*}} -> tensor<1x5x4x1xf32>
// CHECK-NEXT:    %[[Y1:.*]] = relay.nn.max_pool2d %[[B1]] {layout = "NHWC", pool_size = array<i64: 3, 3>} : {{.*}} -> tensor<1x3x2x1xf32>
// CHECK-NEXT:    %[[K1:.*]] = relay.read_rows %[[B1]] {axis = 1 : i64, start = 3 : i64}
// CHECK-NEXT:    %[[H1:.*]] = relay.read_rows %[[K1]] {axis = 1 : i64, start = 0 : i64}
// CHECK-NEXT:    %[[X2:.*]] = relay.strided_slice %x {begin = array<i64: 7>, end = array<i64: 8>, axes = array<i64: 1>}
// CHECK-NEXT:    %[[A2:.*]] = relay.nn.relu %[[X2]]
// CHECK-NEXT:    %[[B2:.*]] = relay.concatenate %[[H1]], %[[A2]] {relay.unfused, axis = 1 : i64} : {{.*}} -> tensor<1x3x4x1xf32>
// CHECK-NEXT:    %[[Y2:.*]] = relay.nn.max_pool2d %[[B2]] {{.*}}padding = array<i64: 0, 0, 1, 0>{{.*}} -> tensor<1x2x2x1xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.concatenate %[[Y0]], %[[Y1]], %[[Y2]] {axis = 1 : i64}
// CHECK-NEXT:    func.return %[[Y]]
func.func @carried(%x: tensor<1x8x4x1xf32>) -> tensor<1x8x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x8x4x1xf32>) -> tensor<1x8x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "3"}}
    : (tensor<1x8x4x1xf32>) -> tensor<1x8x2x1xf32>
  func.return %y : tensor<1x8x2x1xf32>
}

// -----

// Rows of a step that carries nothing are computed for each stripe that reads them.
//
// CHECK-LABEL: @computed_again
// CHECK-NEXT:    %[[X0:.*]] = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 5>, axes = array<i64: 1>}
// CHECK-NEXT:    %[[A0:.*]] = relay.nn.relu %[[X0]]
// CHECK-NEXT:    %[[Y0:.*]] = relay.nn.max_pool2d %[[A0]] {{.*}} -> tensor<1x4x2x1xf32>
// CHECK-NEXT:    %[[X1:.*]] = relay.strided_slice %x {begin = array<i64: 3>, end = array<i64: 8>, axes = array<i64: 1>}
// CHECK-NEXT:    %[[A1:.*]] = relay.nn.relu %[[X1]]
// CHECK-NEXT:    %[[Y1:.*]] = relay.nn.max_pool2d %[[A1]] {{.*}} -> tensor<1x4x2x1xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.concatenate %[[Y0]], %[[Y1]]
func.func @computed_again(%x: tensor<1x8x4x1xf32>) -> tensor<1x8x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0}} : (tensor<1x8x4x1xf32>) -> tensor<1x8x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 0, 1, 0>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "4"}}
    : (tensor<1x8x4x1xf32>) -> tensor<1x8x2x1xf32>
  func.return %y : tensor<1x8x2x1xf32>
}

// -----

// In stripes of half a row, a step of twice the rows computes one row at a time.
//
// CHECK-LABEL: @parts_of_rows
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.nn.max_pool2d {{.*}} -> tensor<1x1x2x1xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.nn.max_pool2d {{.*}} -> tensor<1x1x2x1xf32>
func.func @parts_of_rows(%x: tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1/2"}}
    : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  func.return %y : tensor<1x2x2x1xf32>
}

// -----

// A chain runs ahead: the first row of the result needs five rows, of which four are computed before.
//
// CHECK-LABEL: @ahead
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x2x4x1xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.nn.max_pool2d {{.*}} -> tensor<1x1x4x1xf32>
func.func @ahead(%x: tensor<1x9x4x1xf32>) -> tensor<1x5x4x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x9x4x1xf32>) -> tensor<1x9x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 5, 1>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1"}}
    : (tensor<1x9x4x1xf32>) -> tensor<1x5x4x1xf32>
  func.return %y : tensor<1x5x4x1xf32>
}

// -----

// A mean at the end is added up, weighted by the rows of each stripe.
//
// CHECK-LABEL: @mean
// CHECK:         %[[A0:.*]] = relay.nn.relu {{.*}} -> tensor<1x3x4x1xf32>
// CHECK-NEXT:    %[[M0:.*]] = relay.nn.global_avg_pool2d %[[A0]]
// CHECK-NEXT:    %[[S0:.*]] = relay.constant dense<7.500000e-01>
// CHECK-NEXT:    %[[P0:.*]] = relay.multiply %[[M0]], %[[S0]]
// CHECK:         %[[A1:.*]] = relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK-NEXT:    %[[M1:.*]] = relay.nn.global_avg_pool2d %[[A1]]
// CHECK-NEXT:    %[[S1:.*]] = relay.constant dense<2.500000e-01>
// CHECK-NEXT:    %[[P1:.*]] = relay.multiply %[[M1]], %[[S1]]
// CHECK-NEXT:    %[[SUM:.*]] = relay.add %[[P0]], %[[P1]] {relay.unfused}
// CHECK-NEXT:    func.return %[[SUM]]
func.func @mean(%x: tensor<1x4x4x1xf32>) -> tensor<1x1x1x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0}} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %y = relay.nn.global_avg_pool2d %a {layout = "NHWC", relay.stripes = {chain = 0, step = 1, axis = 1, height = "3"}}
    : (tensor<1x4x4x1xf32>) -> tensor<1x1x1x1xf32>
  func.return %y : tensor<1x1x1x1xf32>
}

// -----

// Rows that no window reads are not computed.
//
// CHECK-LABEL: @unread
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK:         relay.strided_slice %x {begin = array<i64: 3>, end = array<i64: 4>
// CHECK:         relay.nn.relu {{.*}} -> tensor<1x1x4x1xf32>
// CHECK-NOT:     relay.nn.relu
func.func @unread(%x: tensor<1x6x4x1xf32>) -> tensor<1x2x2x1xf32> {
  %a = relay.nn.relu %x {relay.stripes = {chain = 0, step = 0, carried}} : (tensor<1x6x4x1xf32>) -> tensor<1x6x4x1xf32>
  %y = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 1, 1>, strides = array<i64: 3, 3>, relay.stripes = {chain = 0, step = 1, axis = 1, height = "1"}}
    : (tensor<1x6x4x1xf32>) -> tensor<1x2x2x1xf32>
  func.return %y : tensor<1x2x2x1xf32>
}

// -----

// A transposition moves the rows to another axis: each stripe transposes its own, of the argument.
//
// CHECK-LABEL: @transposed
// CHECK-NEXT:    %[[X0:.*]] = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 2>, axes = array<i64: 2>}
// CHECK-NEXT:    %[[T0:.*]] = relay.transpose %[[X0]] {{.*}} -> tensor<1x2x5x3xf32>
// CHECK-NEXT:    relay.nn.relu %[[T0]]
func.func @transposed(%x: tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32> {
  %t = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>, relay.stripes = {chain = 0, step = 0}} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
  %y = relay.nn.relu %t {relay.stripes = {chain = 0, step = 1, axis = 1, height = "2"}} : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  func.return %y : tensor<1x4x5x3xf32>
}

// -----

// Stripes 0 and 1 are one.
//
// CHECK-LABEL: @joined
// CHECK:         relay.tanh {{.*}} -> tensor<4x3xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<4x3xf32>
// CHECK:         relay.tanh {{.*}} -> tensor<2x3xf32>
// CHECK:         relay.nn.relu {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT:    relay.concatenate
func.func @joined(%x: tensor<6x3xf32>) -> tensor<6x3xf32> {
  %a = relay.tanh %x {relay.stripes = {chain = 0, step = 0}} : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %y = relay.nn.relu %a {relay.stripes = {chain = 0, step = 1, axis = 0, height = "2", joined = array<i64: 0>}} : (tensor<6x3xf32>) -> tensor<6x3xf32>
  func.return %y : tensor<6x3xf32>
}
