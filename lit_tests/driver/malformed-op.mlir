// RUN: not xrelay-opt %s 2>&1 | filecheck %s

// A text that an op's parser of xDSL does not expect is an error at the op.
//
// CHECK:      malformed-op.mlir:8:3: error: the op is malformed
// CHECK-NEXT:   linalg.fill %x : f32
func.func @f(%x: f32) {
  linalg.fill %x : f32
  func.return
}
