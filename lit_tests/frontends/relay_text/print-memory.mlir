// RUN: xrelay-opt -t relay-text %s | filecheck %s
// RUN: xrelay-opt -t relay-text %s | xrelay-opt -f relay -t relay-text | filecheck %s

// CHECK: #[version = "0.0.5"]

// What a kernel has written goes by the name of what it was written into.
//
// CHECK:      def @written(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
// CHECK-NEXT:   let %s = memory.alloc_storage(16i64, meta[relay.Constant][0], 64i64, virtual_device=meta[VirtualDevice][0]);
// CHECK-NEXT:   let %t = memory.alloc_tensor(%s, 0i64, meta[relay.Constant][0], const_shape=meta[relay.Constant][0], assert_shape=[]);
// CHECK-NEXT:   let %_ = vm.invoke_tvm_op(@neg, (%x,), (%t,));
// CHECK-NEXT:   let %z = exp(%t);
// CHECK-NEXT:   let %_ = memory.kill(%t);
// CHECK-NEXT:   %z
func.func @written(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 16 align 64 on #relay.device<cuda:0> : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  memory.kill %t : tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// Sizes and offsets that are not static are the tensors whose elements they are.
//
// CHECK:      def @dynamic(%s: Storage[], %n: int64, %x: Tensor[(?, 2), float64]) -> (Storage[], Tensor[(?, 2), float64]) {
// CHECK-NEXT:   %[[N:[0-9]+]] = add(%n, %n);
// CHECK-NEXT:   let %r = memory.alloc_storage(%[[N]], meta[relay.Constant][1], 128i64);
// CHECK-NEXT:   %[[D:[0-9]+]] = vm.shape_of(%x, dtype="int64");
// CHECK-NEXT:   let %t = memory.alloc_tensor(%s, %n, %[[D]], dtype="float64", assert_shape=[?, 2]);
// CHECK-NEXT:   let %_ = vm.invoke_tvm_op(@id, (%x,), (%t,));
// CHECK-NEXT:   %[[V:[0-9]+]] = vm.reshape_tensor(%t, %[[D]], newshape=[?, 2]);
// CHECK-NEXT:   (%r, %[[V]])
func.func @dynamic(%s: !memory.storage, %n: tensor<i64>, %x: tensor<?x2xf64>) -> tuple<!memory.storage, tensor<?x2xf64>> {
  %m = relay.add %n, %n : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %bytes = tensor.extract %m[] : tensor<i64>
  %r = memory.alloc_storage %bytes align 128 : !memory.storage
  %dims = vm.shape_of %x : (tensor<?x2xf64>) -> tensor<2xi64>
  %at = tensor.extract %n[] : tensor<i64>
  %t = memory.alloc_tensor %s[%at] shape %dims : tensor<2xi64> -> tensor<?x2xf64>
  %y = vm.invoke_tvm_op @id ins(%x : tensor<?x2xf64>) outs(%t : tensor<?x2xf64>) -> tensor<?x2xf64>
  %v = vm.reshape_tensor %y shape %dims : (tensor<?x2xf64>, tensor<2xi64>) -> tensor<?x2xf64>
  %p = relay.tuple %r, %v : (!memory.storage, tensor<?x2xf64>) -> tuple<!memory.storage, tensor<?x2xf64>>
  func.return %p : tuple<!memory.storage, tensor<?x2xf64>>
}

// A storage has the shape of its only static tensor. A size that is used twice is written in both places.
//
// CHECK:      def @shared(%n: int64) -> (Storage[], Storage[]) {
// CHECK-NEXT:   let %r = memory.alloc_storage(%n, meta[relay.Constant][1], 64i64);
// CHECK-NEXT:   let %s = memory.alloc_storage(%n, meta[relay.Constant][1], 64i64);
// CHECK-NEXT:   (%r, %s)
func.func @shared(%n: tensor<i64>) -> tuple<!memory.storage, !memory.storage> {
  %bytes = tensor.extract %n[] : tensor<i64>
  %r = memory.alloc_storage %bytes align 64 : !memory.storage
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %p = relay.tuple %r, %s : (!memory.storage, !memory.storage) -> tuple<!memory.storage, !memory.storage>
  func.return %p : tuple<!memory.storage, !memory.storage>
}

// Several tensors written, of which one is read, and a shape function.
//
// CHECK:      def @several(%x: Tensor[(2), int64], %a: Tensor[(2), int64], %b: Tensor[(2), int64], %c: Tensor[(2), int64], %d: Tensor[(2), int64]) -> (Tensor[(2), int64], Tensor[(2), int64]) {
// CHECK-NEXT:   let %_ = vm.invoke_tvm_op(@two, (%x, %x), (%a, %b));
// CHECK-NEXT:   let %_ = vm.shape_func(@two, (%x, %b), (%c, %d), is_input=[0, 1]);
// CHECK-NEXT:   (%c, %b)
func.func @several(%x: tensor<2xi64>, %a: tensor<2xi64>, %b: tensor<2xi64>, %c: tensor<2xi64>, %d: tensor<2xi64>) -> tuple<tensor<2xi64>, tensor<2xi64>> {
  %0, %1 = vm.invoke_tvm_op @two ins(%x, %x : tensor<2xi64>, tensor<2xi64>) outs(%a, %b : tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>, tensor<2xi64>
  %2, %3 = vm.shape_func @two ins(%x, %1 : tensor<2xi64>, tensor<2xi64>) outs(%c, %d : tensor<2xi64>, tensor<2xi64>) {is_input = array<i64: 0, 1>} -> tensor<2xi64>, tensor<2xi64>
  %4 = relay.tuple %2, %1 : (tensor<2xi64>, tensor<2xi64>) -> tuple<tensor<2xi64>, tensor<2xi64>>
  func.return %4 : tuple<tensor<2xi64>, tensor<2xi64>>
}

// Lowered calls are values like those of operators; a kernel is a function with `Primitive`.
//
// CHECK:      def @lowered(%x: Tensor[(2), int64]) -> (Tensor[(2), int64], Tensor[(2), int64]) {
// CHECK-NEXT:   %[[A:[0-9]+]] = call_lowered(@view, (%x,), metadata={"relay_attrs"={__dict__={"relay.reshape_only"=1}}});
// CHECK-NEXT:   call_lowered(@two, (%x, %[[A]]))
// CHECK:      def @two(%p: Tensor[(2), int64], %q: Tensor[(2), int64], Primitive=1, target="llvm -mcpu=core2", hash="abc") -> (Tensor[(2), int64], Tensor[(2), int64]) {
// CHECK-NEXT:   %[[B:[0-9]+]] = add(%p, %q);
// CHECK-NEXT:   (%[[B]], %p)
// CHECK:      def @view(%p: Tensor[(2), int64], Primitive=1) -> Tensor[(2), int64] {
// CHECK-NEXT:   reshape(%p, newshape=[2])
// CHECK:      def @neg(
// CHECK:      def @id(
// CHECK:      extern type Storage
func.func @lowered(%x: tensor<2xi64>) -> tuple<tensor<2xi64>, tensor<2xi64>> {
  %a = relay.call_lowered @view(%x) {reshape_only} : (tensor<2xi64>) -> tensor<2xi64>
  %b, %c = relay.call_lowered @two(%x, %a) : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  %d = relay.tuple %b, %c : (tensor<2xi64>, tensor<2xi64>) -> tuple<tensor<2xi64>, tensor<2xi64>>
  func.return %d : tuple<tensor<2xi64>, tensor<2xi64>>
}
relay.prim_func @two(%p: tensor<2xi64>, %q: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) attributes {relay.attrs = {hash = "abc"}, target = "llvm -mcpu=core2"} {
  %s = relay.add %p, %q : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  relay.yield %s, %p : tensor<2xi64>, tensor<2xi64>
}
relay.prim_func @view(%p: tensor<2xi64>) -> tensor<2xi64> {
  %v = relay.reshape %p {newshape = array<i64: 2>} : (tensor<2xi64>) -> tensor<2xi64>
  relay.yield %v : tensor<2xi64>
}
relay.prim_func @neg(%p: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative %p : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %n : tensor<4xf32>
}
relay.prim_func @id(%p: tensor<?x2xf64>) -> tensor<?x2xf64> {
  relay.yield %p : tensor<?x2xf64>
}
