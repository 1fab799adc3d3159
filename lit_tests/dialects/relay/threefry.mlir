// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: @random_threefry_generate(
// CHECK:       relay.random.threefry_generate %a0 {out_shape = array<i64: 4>} : (tensor<10xui64>) -> (tensor<10xui64>, tensor<4xui64>)
func.func @random_threefry_generate(%a0: tensor<10xui64>) {
  %0, %1 = relay.random.threefry_generate %a0 {out_shape = array<i64: 4>} : (tensor<10xui64>) -> (tensor<10xui64>, tensor<4xui64>)
  func.return
}

// CHECK-LABEL: @random_threefry_split(
// CHECK:       relay.random.threefry_split %a0 : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>)
func.func @random_threefry_split(%a0: tensor<10xui64>) {
  %0, %1 = relay.random.threefry_split %a0 : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>)
  func.return
}
