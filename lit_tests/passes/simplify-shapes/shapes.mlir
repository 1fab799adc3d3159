// RUN: xrelay-opt --split-input-file -p simplify-shapes %s | filecheck %s

// A static dim is a constant.
//
// CHECK-LABEL: @static_dim
// CHECK-NOT:     vm.shape_of
// CHECK:         %[[C:.*]] = arith.constant 10 : i64
// CHECK-NEXT:    "test.op"(%[[C]])
func.func @static_dim(%x: tensor<?x10xf32>) {
  %s = vm.shape_of %x : (tensor<?x10xf32>) -> tensor<2xi64>
  %i = arith.constant 1 : index
  %d = tensor.extract %s[%i] : tensor<2xi64>
  "test.op"(%d) : (i64) -> ()
  func.return
}

// -----

// Dims of parameters are read once, at the start of the function.
//
// CHECK-LABEL: @read_once
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[S:.*]] = vm.shape_of %x
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]][%[[C0]]]
// CHECK-NEXT:    "test.op"() {first}
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      "test.op"(%[[N]])
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      "test.op"(%[[N]])
func.func @read_once(%x: tensor<?xf32>, %c: tensor<i1>) {
  "test.op"() {first} : () -> ()
  relay.if %c : tensor<i1> -> () {
    %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
    %i = arith.constant 0 : index
    %d = tensor.extract %s[%i] : tensor<1xi64>
    "test.op"(%d) : (i64) -> ()
    relay.yield
  } else {
    %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
    %i = arith.constant 0 : index
    %d = tensor.extract %s[%i] : tensor<1xi64>
    "test.op"(%d) : (i64) -> ()
    relay.yield
  }
  func.return
}

// -----

// The shape of a kernel's result is the shape it was allocated with.
//
// CHECK-LABEL: @allocated
// CHECK:         %[[R:.*]] = vm.invoke_tvm_op
// CHECK-NEXT:    "test.op"(%[[R]], %n)
func.func @allocated(%x: tensor<?xf32>, %s: !memory.storage, %n: i64) {
  %d = tensor.from_elements %n : tensor<1xi64>
  %t = memory.alloc_tensor %s[0] shape %d : tensor<1xi64> -> tensor<?xf32>
  %r = vm.invoke_tvm_op @f ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %q = vm.shape_of %r : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %m = tensor.extract %q[%i] : tensor<1xi64>
  "test.op"(%r, %m) : (tensor<?xf32>, i64) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.nn.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// The shape of a copy is that of its destination, and of a view that of its shape operand.
//
// CHECK-LABEL: @copied_and_viewed
// CHECK:         "test.op"(%n, %n)
func.func @copied_and_viewed(%x: tensor<?xf32>, %s: !memory.storage, %n: i64) {
  %d = tensor.from_elements %n : tensor<1xi64>
  %t = memory.alloc_tensor %s[0] shape %d : tensor<1xi64> -> tensor<?xf32>
  %r = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  %c2 = arith.constant 2 : i64
  %e = tensor.from_elements %c2, %n : tensor<2xi64>
  %v = vm.reshape_tensor %x shape %e : (tensor<?xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  %p = vm.shape_of %r : (tensor<?xf32>) -> tensor<1xi64>
  %q = vm.shape_of %v : (tensor<2x?xf32>) -> tensor<2xi64>
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %a = tensor.extract %p[%i] : tensor<1xi64>
  %b = tensor.extract %q[%j] : tensor<2xi64>
  "test.op"(%a, %b) : (i64, i64) -> ()
  func.return
}

// -----

// A shape that is used as a whole is made of its sizes; equal shapes are one tensor.
//
// CHECK-LABEL: @whole
// CHECK:         %[[S:.*]] = tensor.from_elements %x_dim0, %{{.*}} : tensor<2xi64>
// CHECK-NEXT:    "test.op"(%[[S]], %[[S]])
func.func @whole(%x: tensor<?x4xf32>) {
  %s = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<2xi64>
  %c4 = arith.constant 4 : i64
  %t = tensor.from_elements %n, %c4 : tensor<2xi64>
  "test.op"(%s, %t) : (tensor<2xi64>, tensor<2xi64>) -> ()
  func.return
}

// -----

// An element of a constant is a constant, also of a copied one.
//
// CHECK-LABEL: @constant_element
// CHECK:         %[[C:.*]] = arith.constant 5 : i64
// CHECK:         "test.op"(%[[C]], %[[C]])
func.func @constant_element(%s: !memory.storage) {
  %a = relay.constant dense<[3, 5]> : tensor<2xi64>
  %t = memory.alloc_tensor %s[0] : tensor<2xi64>
  %b = memory.copy ins(%a : tensor<2xi64>) outs(%t : tensor<2xi64>) -> tensor<2xi64>
  %i = arith.constant 1 : index
  %x = tensor.extract %a[%i] : tensor<2xi64>
  %y = tensor.extract %b[%i] : tensor<2xi64>
  "test.op"(%x, %y) : (i64, i64) -> ()
  func.return
}

// -----

// An element of a tensor of unknown contents is read once.
//
// CHECK-LABEL: @data
// CHECK:         %[[A:.*]] = tensor.extract %x
// CHECK-NEXT:    "test.op"(%[[A]], %[[A]])
func.func @data(%x: tensor<2xi64>) {
  %i = arith.constant 1 : index
  %j = arith.constant 1 : index
  %a = tensor.extract %x[%i] : tensor<2xi64>
  %b = tensor.extract %x[%j] : tensor<2xi64>
  "test.op"(%a, %b) : (i64, i64) -> ()
  func.return
}

// -----

// The dims of an unknown result, such as that of a call, are read right after it.
//
// CHECK-LABEL: @called
// CHECK:         %[[Y:.*]] = func.call @g
// CHECK-NEXT:    %[[S:.*]] = vm.shape_of %[[Y]]
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]]
// CHECK-NEXT:    "test.op"() {later}
// CHECK-NEXT:    "test.op"(%[[N]], %[[N]])
func.func @called(%x: tensor<?xf32>) {
  %y = func.call @g(%x) : (tensor<?xf32>) -> tensor<?xf32>
  "test.op"() {later} : () -> ()
  %s = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  %t = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %m = tensor.extract %t[%i] : tensor<1xi64>
  "test.op"(%n, %m) : (i64, i64) -> ()
  func.return
}
func.func @g(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}

// -----

// The dims of the result of an if are those that both branches yield, if they agree.
//
// CHECK-LABEL: @joined
// CHECK:         %[[N:.*]] = tensor.extract %x_shape
// CHECK:         %[[Y:.*]] = relay.if
// CHECK:         "test.op"(%[[N]])
func.func @joined(%x: tensor<?xf32>, %c: tensor<i1>, %s: !memory.storage) {
  %y = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    relay.yield %x : tensor<?xf32>
  } else {
    %d = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
    %t = memory.alloc_tensor %s[0] shape %d : tensor<1xi64> -> tensor<?xf32>
    %r = vm.invoke_tvm_op @f ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
    relay.yield %r : tensor<?xf32>
  }
  %q = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %m = tensor.extract %q[%i] : tensor<1xi64>
  "test.op"(%m) : (i64) -> ()
  func.return
}
relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.nn.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// If they do not agree, the dims of the result are read.
//
// CHECK-LABEL: @not_joined
// CHECK:         %[[Y:.*]] = relay.if
// CHECK:         %[[S:.*]] = vm.shape_of %[[Y]]
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]]
// CHECK-NEXT:    "test.op"(%[[N]])
func.func @not_joined(%x: tensor<?xf32>, %z: tensor<?xf32>, %c: tensor<i1>) {
  %y = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    relay.yield %x : tensor<?xf32>
  } else {
    relay.yield %z : tensor<?xf32>
  }
  %q = vm.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %m = tensor.extract %q[%i] : tensor<1xi64>
  "test.op"(%m) : (i64) -> ()
  func.return
}

// -----

// A size computed in one branch is not used in the other.
//
// CHECK-LABEL: @not_shared_between_branches
// CHECK:         relay.if
// CHECK:           arith.muli
// CHECK:           arith.muli
func.func @not_shared_between_branches(%c: tensor<i1>, %n: i64) {
  relay.if %c : tensor<i1> -> () {
    %a = arith.muli %n, %n : i64
    "test.op"(%a) : (i64) -> ()
    relay.yield
  } else {
    %b = arith.muli %n, %n : i64
    "test.op"(%b) : (i64) -> ()
    relay.yield
  }
  func.return
}

// -----

// A closure does not capture sizes: it reads the dims of the tensors that it captures.
//
// CHECK-LABEL: @closure
// CHECK:         vm.shape_of %x
// CHECK:         relay.fn
// CHECK:           %[[S:.*]] = vm.shape_of %x
// CHECK-NEXT:      %[[N:.*]] = tensor.extract %[[S]]
// CHECK-NEXT:      "test.op"(%[[N]])
func.func @closure(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %i = arith.constant 0 : index
  %n = tensor.extract %s[%i] : tensor<1xi64>
  "test.op"(%n) : (i64) -> ()
  %f = relay.fn () -> tensor<?xf32> {
    %t = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
    %j = arith.constant 0 : index
    %m = tensor.extract %t[%j] : tensor<1xi64>
    "test.op"(%m) : (i64) -> ()
    relay.yield %x : tensor<?xf32>
  }
  "test.op"(%f) : (() -> tensor<?xf32>) -> ()
  func.return
}

// -----

// What computes a size that nothing uses is removed, with the storages for it.
//
// CHECK-LABEL: @unused
// CHECK-NEXT:    func.return
func.func @unused(%x: tensor<?xf32>, %n: i64) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %a = arith.muli %n, %n : i64
  %b = tensor.from_elements %a : tensor<1xi64>
  %t = memory.alloc_storage %a align 64 : !memory.storage
  func.return
}

// -----

// Dims of one name are one size.
//
// CHECK-LABEL: @named
// CHECK:         vm.shape_of %x
// CHECK-NOT:     vm.shape_of %y
// CHECK:         "test.op"(%n, %n)
func.func @named(%x: tensor<?xf32> {relay.dims = ["n"]}, %y: tensor<4x?xf32> {relay.dims = [4, "n"]}) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %t = vm.shape_of %y : (tensor<4x?xf32>) -> tensor<2xi64>
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  %a = tensor.extract %s[%i] : tensor<1xi64>
  %b = tensor.extract %t[%j] : tensor<2xi64>
  "test.op"(%a, %b) : (i64, i64) -> ()
  func.return
}
