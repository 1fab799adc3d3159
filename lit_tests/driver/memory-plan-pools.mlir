// RUN: xrelay-opt -p 'vm{pools="dtcm=256:1,psram=:10"}' -t memory-plan-svg %s | filecheck %s --check-prefix=SVG
// RUN: xrelay-opt -p 'vm{pools="dtcm=256:1,psram=:10"}' -t memory-plan-html %s | filecheck %s --check-prefix=HTML

// A picture has a panel for each pool, and says how much of it is planned.
//
// SVG:  <title id="title">
// SVG-SAME: @main on cpu:0/dtcm: planned 256 B of 256 B
// SVG-SAME: @main on cpu:0/psram: planned 256 B =
//
// HTML: <h2 id="p0-title">@main on cpu:0/dtcm</h2>
// HTML: <dt>Capacity</dt><dd><b>256 B</b><span>reading a byte costs 1</span>
// HTML: <h2 id="p1-title">@main on cpu:0/psram</h2>
// HTML: <dt>Capacity</dt><dd><b>unbounded</b><span>reading a byte costs 10</span>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = relay.nn.dense %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = relay.nn.dense %a, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = relay.nn.dense %b, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %c : tensor<8x8xf32>
}
