// RUN: xrelay-opt --split-input-file -p version-kernels %s | filecheck %s

// One comparison a call chooses the version in which both dims are one, and loops read in order.
//
// CHECK-LABEL: func.func private @add(
// CHECK-NOT:     xrelay.kernel
// CHECK:         %[[N:.*]] = memref.dim %{{.*}}, %{{.*}}
// CHECK:         %[[M:.*]] = memref.dim %{{.*}}, %{{.*}}
// CHECK:         %[[EQUAL:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK:         scf.if %[[EQUAL]] {
// CHECK-NEXT:      func.call @add.equal
// CHECK:         } else {
// CHECK-NEXT:      func.call @add.any
//
// CHECK-LABEL: func.func private @add.equal(
// CHECK-SAME:    attributes {xrelay.kernel}
// CHECK:         tensor.empty(%n)
// CHECK-NEXT:    linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xf32>)
// CHECK-NOT:     tensor.extract
//
// CHECK-LABEL: func.func private @add.any(
// CHECK:         tensor.extract
builtin.module {
  func.func private @add(%mx: memref<?xf32>, %my: memref<?xf32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
    %x = bufferization.to_tensor %mx restrict : memref<?xf32> to tensor<?xf32>
    %y = bufferization.to_tensor %my restrict : memref<?xf32> to tensor<?xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    %is_one = arith.cmpi eq, %n, %c1 : index
    %size = arith.select %is_one, %m, %n : index
    %last_n = arith.subi %n, %c1 : index
    %last_m = arith.subi %m, %c1 : index
    %e = tensor.empty(%size) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
    ^bb0(%old: f32):
      %i = linalg.index 0 : index
      %a = arith.minsi %i, %last_n : index
      %v = tensor.extract %x[%a] : tensor<?xf32>
      %b = arith.minsi %i, %last_m : index
      %w = tensor.extract %y[%b] : tensor<?xf32>
      %s = arith.addf %v, %w : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
    func.return
  }
}

// -----

// A kernel whose dims are known to be equal has one version.
//
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME:    attributes {xrelay.kernel}
// CHECK-NOT:     scf.if
func.func private @copy(%mx: memref<?xf32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %x in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  func.return
}

// -----

// A size that is computed from a dim is computed before the comparison, too.
//
// CHECK-LABEL: func.func private @sum(
// CHECK:         %[[D:.*]] = memref.dim %{{.*}}, %{{.*}}
// CHECK:         %[[N:.*]] = arith.floordivsi %[[D]]
// CHECK:         %[[M:.*]] = memref.dim %{{.*}}, %{{.*}}
// CHECK:         arith.cmpi eq, %[[N]], %[[M]]
// CHECK-LABEL: func.func private @sum.equal(
builtin.module {
  func.func private @sum(%mx: memref<?xf32>, %my: memref<?xf32>, %out: memref<?xf32>) attributes {xrelay.kernel} {
    %x = bufferization.to_tensor %mx restrict : memref<?xf32> to tensor<?xf32>
    %y = bufferization.to_tensor %my restrict : memref<?xf32> to tensor<?xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %n = arith.floordivsi %d, %c1 : index
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    %is_one = arith.cmpi eq, %n, %c1 : index
    %size = arith.select %is_one, %m, %n : index
    %last_n = arith.subi %n, %c1 : index
    %last_m = arith.subi %m, %c1 : index
    %e = tensor.empty(%size) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
    ^bb0(%old: f32):
      %i = linalg.index 0 : index
      %a = arith.minsi %i, %last_n : index
      %v = tensor.extract %x[%a] : tensor<?xf32>
      %b = arith.minsi %i, %last_m : index
      %w = tensor.extract %y[%b] : tensor<?xf32>
      %s = arith.addf %v, %w : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
    func.return
  }
}
