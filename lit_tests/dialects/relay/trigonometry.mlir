// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: @asin
// CHECK:         relay.asin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @asin(%x: tensor<2x3xf32>) {
  %y = relay.asin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @acos
// CHECK:         relay.acos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @acos(%x: tensor<2x3xf32>) {
  %y = relay.acos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @atan
// CHECK:         relay.atan %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @atan(%x: tensor<2x3xf32>) {
  %y = relay.atan %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @sinh
// CHECK:         relay.sinh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sinh(%x: tensor<2x3xf32>) {
  %y = relay.sinh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @cosh
// CHECK:         relay.cosh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cosh(%x: tensor<2x3xf32>) {
  %y = relay.cosh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @asinh
// CHECK:         relay.asinh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @asinh(%x: tensor<2x3xf32>) {
  %y = relay.asinh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @acosh
// CHECK:         relay.acosh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @acosh(%x: tensor<2x3xf32>) {
  %y = relay.acosh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @atanh
// CHECK:         relay.atanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @atanh(%x: tensor<2x3xf32>) {
  %y = relay.atanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @log2
// CHECK:         relay.log2 %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log2(%x: tensor<2x3xf32>) {
  %y = relay.log2 %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @log10
// CHECK:         relay.log10 %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log10(%x: tensor<2x3xf32>) {
  %y = relay.log10 %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @trunc
// CHECK:         relay.trunc %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @trunc(%x: tensor<2x3xf32>) {
  %y = relay.trunc %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @isfinite
// CHECK:         relay.isfinite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @isfinite(%x: tensor<2x3xf32>) {
  %y = relay.isfinite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}

// CHECK-LABEL: @isinf
// CHECK:         relay.isinf %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @isinf(%x: tensor<2x3xf32>) {
  %y = relay.isinf %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return
}
