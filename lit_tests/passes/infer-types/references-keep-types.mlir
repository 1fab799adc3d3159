// RUN: xrelay-opt -p infer-types %s | filecheck %s

// What a reference is made of keeps the type that the reference was declared with.
//
// CHECK-LABEL: @is_held
// CHECK:         %none = relay.strided_slice %x {{.*}} -> tensor<?xf32>
// CHECK:         %held = relay.ref_create %none : (tensor<?xf32>) -> !relay.ref<tensor<?xf32>>
func.func @is_held(%x: tensor<?xf32>) -> !relay.ref<tensor<?xf32>> {
  %none = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  %held = relay.ref_create %none : (tensor<?xf32>) -> !relay.ref<tensor<?xf32>>
  func.return %held : !relay.ref<tensor<?xf32>>
}
