// RUN: xrelay-opt %s -p 'vm{work=1.0}' --memory-report -o /dev/null 2>&1 | filecheck %s --check-prefix=REPORT
// RUN: xrelay-opt %s -p 'vm{work=1.0}' -t memory-plan-html 2>/dev/null | filecheck %s --check-prefix=PAGE

// Reports and pages of memory say which chains were tiled, and what was live before.
//
// REPORT:      planned 15,360 B
// REPORT:      tiled, 73,728 bytes were live before:
// REPORT-NEXT: 3 steps in 32 stripes of 1/2 rows: 17408 bytes live, not 73728; work +0.0 %
//
// PAGE:        <h3>In stripes: 1 chain of steps</h3><ul>
// PAGE-NEXT:   <li>3 steps in 32 stripes of 1/2 rows
// PAGE:        <title>73,728 bytes live at most before, 15,360 in stripes</title>
// PAGE-NEXT:   <path class="load" d="M84,144
// PAGE-NEXT:   <path class="after" d="M84,144
func.func @main(%x: tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  func.return %y : tensor<1x16x4x32xf32>
}
