// RUN: xrelay-opt -p vm %s | filecheck %s

// The parts of %e become parts of %f, whose first is %a: all are in one storage, and the places of a
// join in a join are compared by the first of them. The result is in the other storage.
//
// CHECK-LABEL: bytecode.func @main
// CHECK:         bytecode.alloc_storage
// CHECK:         bytecode.join_tensors
// CHECK:         bytecode.join_tensors
// CHECK:         bytecode.alloc_storage
// CHECK-NOT:     bytecode.alloc_storage
// CHECK:         bytecode.ret
func.func @main(%x: tensor<?xf32> {relay.dims = ["n"]}) -> tensor<?xf32> {
  %a = relay.nn.softmax %x {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %b = relay.concatenate %x, %a {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %c = relay.concatenate %a, %b {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = relay.nn.softmax %c {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %e = relay.concatenate %c, %d {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %f = relay.concatenate %a, %e {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %g = relay.nn.softmax %f {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %h = relay.concatenate %e, %f, %g {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %h : tensor<?xf32>
}
