// RUN: not xrelay-opt -p 'lend-caches{caches="past=64"}' %s 2>&1 | filecheck %s

// CHECK:       pipeline:1:13: error: no cache is named 'past'; the parameters are: x
// CHECK-NEXT:  lend-caches{caches="past=64"}
// CHECK-NEXT:              ^^^^^^
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  func.return %x : tensor<?x8xf32>
}
