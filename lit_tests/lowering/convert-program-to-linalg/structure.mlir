// RUN: xrelay-opt --split-input-file -p convert-program-to-linalg,verify-stage{stage=linalg} %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-program-to-linalg %s | mlir-opt --split-input-file -o %t

// A branch on an integer of any width tests whether it is 0.
//
// CHECK-LABEL: @branch
// CHECK:         %[[C:.*]] = tensor.extract %c[] : tensor<i64>
// CHECK:         %[[Z:.*]] = arith.constant 0 : i64
// CHECK:         %[[B:.*]] = arith.cmpi ne, %[[C]], %[[Z]] : i64
// CHECK:         %[[R:.*]] = scf.if %[[B]] -> (tensor<2xf32>) {
// CHECK-NEXT:      scf.yield %x : tensor<2xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %y : tensor<2xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
func.func @branch(%c: tensor<i64>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = relay.if %c : tensor<i64> -> (tensor<2xf32>) {
    relay.yield %x : tensor<2xf32>
  } else {
    relay.yield %y : tensor<2xf32>
  }
  func.return %r : tensor<2xf32>
}

// -----

// A branch on a bool is one on the bool, nested too; one without results yields none.
//
// CHECK-LABEL: @nested_branches
// CHECK:         %[[C:.*]] = tensor.extract %c[] : tensor<i1>
// CHECK-NEXT:    scf.if %[[C]] -> (tensor<2xf32>) {
// CHECK:           %[[D:.*]] = tensor.extract %d[] : tensor<i1>
// CHECK-NEXT:      %{{.*}} = scf.if %[[D]] -> (tensor<2xf32>) {
// CHECK:         scf.if %{{.*}} {
// CHECK-NEXT:    } else {
// CHECK-NEXT:    }
func.func @nested_branches(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<2xf32>) {
    %s = relay.if %d : tensor<i1> -> (tensor<2xf32>) {
      %0 = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>
      relay.yield %0 : tensor<2xf32>
    } else {
      relay.yield %x : tensor<2xf32>
    }
    relay.yield %s : tensor<2xf32>
  } else {
    relay.yield %x : tensor<2xf32>
  }
  relay.if %c : tensor<i1> {
    relay.yield
  } else {
    relay.yield
  }
  func.return %r : tensor<2xf32>
}

// -----

// Values that know more dims than a branch returns are cast.
//
// CHECK-LABEL: @dims_of_branches
// CHECK:         scf.if %{{.*}} -> (tensor<?xf32>)
// CHECK:           %[[X:.*]] = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
// CHECK:           scf.yield %[[X]]
func.func @dims_of_branches(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    relay.yield %x : tensor<2xf32>
  } else {
    relay.yield %y : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}

// -----

// Functions, private and recursive ones too, and functions that are only declared.
//
// CHECK-LABEL: @functions
// CHECK:         %[[A:.*]], %[[B:.*]] = func.call @pair(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK:         func.return %[[B]]
func.func @functions(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0, %1 = func.call @pair(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return %1 : tensor<2xf32>
}
// CHECK:         func.func private @pair(%{{.*}}: tensor<2xf32>)
// CHECK:           func.call @outside
// CHECK:           func.call @pair
func.func private @pair(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = func.call @outside(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1, %2 = func.call @pair(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return %2, %1 : tensor<2xf32>, tensor<2xf32>
}
// CHECK:         func.func private @outside(tensor<2xf32>) -> tensor<2xf32>
func.func private @outside(tensor<2xf32>) -> tensor<2xf32>

// -----

// A call that knows more dims than its function: arguments are cast, results are checked.
//
// CHECK-LABEL: @dims_of_calls
// CHECK:         %[[X:.*]] = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
// CHECK:         %[[Y:.*]] = func.call @f(%[[X]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[Y]]
// CHECK:         %[[E:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : index
// CHECK:         cf.assert %[[E]], "dim 0 of the result of @f must be 2"
// CHECK:         tensor.cast %[[Y]] : tensor<?xf32> to tensor<2xf32>
func.func @dims_of_calls(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.invoke @f<[]>(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}

// -----

// Integers are signless everywhere, and keep their bits; devices go.
//
// CHECK-LABEL: @types
// CHECK-SAME:    (%x: tensor<2xi8>, %y: tensor<2xf32>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xf32>) {
// CHECK:         %[[C:.*]] = arith.constant dense<[1, -1]> : tensor<2xi8>
// CHECK:         func.return %x, %[[C]], %y
func.func @types(%x: tensor<2xui8>, %y: tensor<2xf32, #relay.device<cuda:0>> {relay.device = #relay.device<cuda:0>}) -> (tensor<2xui8>, tensor<2xui8>, tensor<2xf32, #relay.device<cpu:0>>) {
  %c = relay.constant dense<[1, 255]> : tensor<2xui8>
  %0 = relay.device_copy %y : tensor<2xf32, #relay.device<cuda:0>> to tensor<2xf32, #relay.device<cpu:0>>
  func.return %x, %c, %0 : tensor<2xui8>, tensor<2xui8>, tensor<2xf32, #relay.device<cpu:0>>
}

// -----

// Weights are resources; names of parameters and results stay.
//
// CHECK-LABEL: @names
// CHECK-SAME:    (%x: tensor<2xf32> {relay.name = "x.1"}) -> (tensor<2xf32> {relay.name = "y"}, tensor<2xf32>)
// CHECK:         arith.constant dense_resource<"conv/w"> : tensor<2xf32>
// CHECK:         arith.constant dense_resource<b> : tensor<2xf32>
func.func @names(%x: tensor<2xf32> {relay.name = "x.1"}) -> (tensor<2xf32> {relay.name = "y"}, tensor<2xf32>) {
  %w = relay.param "conv/w" : tensor<2xf32>
  %b = relay.param "b" : tensor<2xf32>
  func.return %w, %b : tensor<2xf32>, tensor<2xf32>
}
