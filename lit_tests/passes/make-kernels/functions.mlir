// RUN: xrelay-opt --disable-verify --split-input-file -p make-kernels %s | filecheck %s

// Tuples among the parameters and results of a kernel become their tensors.
//
// CHECK-LABEL: @flattened
// CHECK-NEXT:    %{{.*}}, %[[B:.*]] = relay.call_lowered @f(%x, %y, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:    relay.exp %[[B]]
// CHECK:       relay.prim_func @f(%[[P0:.*]]: tensor<4xf32>, %[[P1:.*]]: tensor<4xf32>, %q: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:    %[[S:.*]] = relay.add %[[P0]], %[[P1]]
// CHECK-NEXT:    relay.yield %[[S]], %q
func.func @flattened(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = "relay.call_lowered"(%x, %y, %x) <{callee = @f}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %b = relay.tuple_get_item %r[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %e = relay.exp %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
func.func @f(%p: tuple<tensor<4xf32>, tuple<tensor<4xf32>>>, %q: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %a = relay.tuple_get_item %p[0] : (tuple<tensor<4xf32>, tuple<tensor<4xf32>>>) -> tensor<4xf32>
  %t = relay.tuple_get_item %p[1] : (tuple<tensor<4xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
  %b = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %s = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.tuple %s, %q : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %r : tuple<tensor<4xf32>, tensor<4xf32>>
}

// -----

// A kernel keeps the target, memory scopes and other attributes of its function.
//
// CHECK-LABEL: @attributes
// CHECK:         vm.invoke_tvm_op @neg
// CHECK:       relay.prim_func @neg(%p: tensor<4xf32>) -> tensor<4xf32>
// CHECK-SAME:    relay.attrs = {hash = 7 : i64}
// CHECK-SAME:    target = "cuda"
// CHECK-SAME:    scopes = ["global", "texture"]
func.func @attributes(%x: tensor<4xf32>, %s: !memory.storage) -> tensor<4xf32> {
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @neg(%p: tensor<4xf32> {relay.device = #relay.device<?, scope = "global">}) -> (tensor<4xf32> {relay.device = #relay.device<?, scope = "texture">}) attributes {relay.attrs = {Primitive = 1 : i64, target = "cuda", hash = 7 : i64}} {
  %n = relay.negative %p : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}

// -----

// A function that no call of a kernel names stays a function.
//
// CHECK-LABEL: func.func @called
// CHECK:       func.func @f
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @f(%p: tensor<4xf32>) -> tensor<4xf32> {
  func.return %p : tensor<4xf32>
}
