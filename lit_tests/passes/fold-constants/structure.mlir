// RUN: xrelay-opt --split-input-file -p fold-constants %s | filecheck %s

// A branch on a constant is replaced by the branch taken, whose ops fold further.
//
// CHECK-LABEL: @constant_branch
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.relu %x
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    func.return %[[Y]], %[[C]]
func.func @constant_branch(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %a = relay.constant dense<1> : tensor<i64>
  %c = relay.equal %a, %a : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r:2 = relay.if %c : tensor<i1> -> (tensor<4xf32>, tensor<f32>) {
    %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    %k = relay.constant dense<-2.0> : tensor<f32>
    %l = relay.abs %k : (tensor<f32>) -> tensor<f32>
    relay.yield %y, %l : tensor<4xf32>, tensor<f32>
  } else {
    %k = relay.constant dense<-3.0> : tensor<f32>
    relay.yield %x, %k : tensor<4xf32>, tensor<f32>
  }
  func.return %r#0, %r#1 : tensor<4xf32>, tensor<f32>
}

// -----

// Branches in the branch taken are replaced too; a false condition takes the second region.
//
// CHECK-LABEL: @nested_branches
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.relu %x
// CHECK-NEXT:    func.return %[[Y]]
func.func @nested_branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = relay.constant dense<true> : tensor<i1>
  %f = relay.logical_not %t : (tensor<i1>) -> tensor<i1>
  %r = relay.if %t : tensor<i1> -> (tensor<4xf32>) {
    %s = relay.if %f : tensor<i1> -> (tensor<4xf32>) {
      relay.yield %x : tensor<4xf32>
    } else {
      %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %y : tensor<4xf32>
    }
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// A branch on an unknown value stays; constants in it fold.
//
// CHECK-LABEL: @unknown_branch
// CHECK-NEXT:    relay.if %c : tensor<i1> -> (tensor<f32>) {
// CHECK-NEXT:      relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:      relay.yield
func.func @unknown_branch(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = relay.if %c : tensor<i1> -> (tensor<f32>) {
    %k = relay.constant dense<-2.0> : tensor<f32>
    %l = relay.abs %k : (tensor<f32>) -> tensor<f32>
    relay.yield %l : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// -----

// A projection of a `relay.tuple` is replaced by the field; a tuple left unused is removed.
//
// CHECK-LABEL: @projections
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[0.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    func.return %[[C]], %x
func.func @projections(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %a = relay.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %t = relay.tuple %x, %a : (tensor<4xf32>, tensor<2xf32>) -> tuple<tensor<4xf32>, tensor<2xf32>>
  %n = relay.tuple %t : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tuple<tuple<tensor<4xf32>, tensor<2xf32>>>
  %u = relay.tuple_get_item %n[0] : (tuple<tuple<tensor<4xf32>, tensor<2xf32>>>) -> tuple<tensor<4xf32>, tensor<2xf32>>
  %b = relay.tuple_get_item %u[1] : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %c = relay.nn.relu %b : (tensor<2xf32>) -> tensor<2xf32>
  %y = relay.tuple_get_item %u[0] : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<4xf32>
  func.return %c, %y : tensor<2xf32>, tensor<4xf32>
}

// -----

// Unused constants are removed; other dead code stays.
//
// CHECK-LABEL: @unused
// CHECK-NEXT:    relay.nn.relu %x
// CHECK-NEXT:    func.return
func.func @unused(%x: tensor<4xf32>) {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
