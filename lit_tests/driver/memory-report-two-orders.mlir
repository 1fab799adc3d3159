// RUN: xrelay-run %s --random-seed 0 --shape a=300 --shape b=7 --memory-report 2>&1 | filecheck %s

// A plan that keeps two orders of slices, and takes the smaller, has bytes and offsets for given dims.
//
// CHECK:      memory of @main on cpu:0, for n = 300, m = 7
// CHECK:        lower bound {{.*}} = 78,140 B
// CHECK-NEXT:   planned {{ *}}78,320 B
// CHECK-NOT:    select(
// CHECK:        v21 {{ *}}8,400 B {{.*}} arena[{{[0-9,]+}}]
func.func @main(%a: tensor<?xf32> {relay.dims = ["n"]}, %b: tensor<?xf32> {relay.dims = ["m"]}) -> tensor<?xf32> {
  %v0 = relay.nn.softmax %a {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v1 = relay.concatenate %a, %v0 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v2 = relay.nn.softmax %b {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v3 = relay.nn.softmax %v0 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v4 = relay.concatenate %b, %v1 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v5 = relay.nn.softmax %v1 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v6 = relay.concatenate %v0, %v1 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v7 = relay.nn.softmax %v6 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v8 = relay.concatenate %v5, %v3 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v9 = relay.concatenate %v6, %v7 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v10 = relay.concatenate %v4, %v7 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v11 = relay.concatenate %v2, %v3 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v12 = relay.nn.softmax %v3 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v13 = relay.nn.softmax %v10 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v14 = relay.nn.softmax %v9 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v15 = relay.nn.softmax %v14 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v16 = relay.concatenate %v8, %v12 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v17 = relay.nn.softmax %v15 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v18 = relay.concatenate %b, %v11 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v19 = relay.concatenate %v17, %v13 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v20 = relay.nn.softmax %v13 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %v21 = relay.concatenate %v12, %v14 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v22 = relay.concatenate %v21, %v13 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v23 = relay.nn.softmax %v21 {axis = 0 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  %r = relay.concatenate %v19, %v20, %v22, %v23 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}