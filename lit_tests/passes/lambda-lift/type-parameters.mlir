// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// A closure with type parameters is a generic function; calls of its instances call that.
//
// CHECK-LABEL: func.func @called(%x: tensor<4xf32>, %n: tensor<i32>)
// CHECK-NEXT:    relay.invoke @called_pair<[tensor<4xf32>]>(%n, %x)
// CHECK-NEXT:    relay.invoke @called_pair<[tensor<i32>]>(%n, %n)
// CHECK:       func.func @called_pair(%n: tensor<i32>, %a: !relay.type_var<A>) -> tuple<!relay.type_var<A>, tensor<i32>>
// CHECK-SAME:      {relay.type_params = ["A"]}
// CHECK-NEXT:    relay.tuple %a, %n
func.func @called(%x: tensor<4xf32>, %n: tensor<i32>) -> (tuple<tensor<4xf32>, tensor<i32>>, tuple<tensor<i32>, tensor<i32>>) {
  %pair = relay.fn (%a: !relay.type_var<A>) -> tuple<!relay.type_var<A>, tensor<i32>> attributes {type_params = ["A"]} {
    %t = relay.tuple %a, %n : (!relay.type_var<A>, tensor<i32>) -> tuple<!relay.type_var<A>, tensor<i32>>
    relay.yield %t : tuple<!relay.type_var<A>, tensor<i32>>
  }
  %f = relay.instantiate %pair<[tensor<4xf32>]> : ((!relay.type_var<A>) -> tuple<!relay.type_var<A>, tensor<i32>>) -> ((tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>)
  %g = relay.instantiate %pair<[tensor<i32>]> : ((!relay.type_var<A>) -> tuple<!relay.type_var<A>, tensor<i32>>) -> ((tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>)
  %0 = relay.call %f(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>
  %1 = relay.call %g(%n) : (tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
  func.return %0, %1 : tuple<tensor<4xf32>, tensor<i32>>, tuple<tensor<i32>, tensor<i32>>
}

// -----

// An instance that is a value, of a closure that calls itself at another type.
//
// CHECK-LABEL: func.func @value(
// CHECK-NEXT:    relay.global @value_deep<[tensor<i32>]> : (tensor<i32>) -> tensor<i32>
// CHECK:       func.func @value_deep(%a: !relay.type_var<A>) -> tensor<i32>
// CHECK-NEXT:    %[[T:.*]] = relay.tuple %a, %a
// CHECK-NEXT:    relay.invoke @value_deep<[tuple<!relay.type_var<A>, !relay.type_var<A>>]>(%[[T]])
func.func @value() -> ((tensor<i32>) -> tensor<i32>) {
  %deep = relay.fn rec(%self) (%a: !relay.type_var<A>) -> tensor<i32> attributes {type_params = ["A"]} {
    %t = relay.tuple %a, %a : (!relay.type_var<A>, !relay.type_var<A>) -> tuple<!relay.type_var<A>, !relay.type_var<A>>
    %f = relay.instantiate %self<[tuple<!relay.type_var<A>, !relay.type_var<A>>]> : ((!relay.type_var<A>) -> tensor<i32>) -> ((tuple<!relay.type_var<A>, !relay.type_var<A>>) -> tensor<i32>)
    %r = relay.call %f(%t) : (tuple<!relay.type_var<A>, !relay.type_var<A>>) -> tensor<i32>
    relay.yield %r : tensor<i32>
  }
  %g = relay.instantiate %deep<[tensor<i32>]> : ((!relay.type_var<A>) -> tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
  func.return %g : (tensor<i32>) -> tensor<i32>
}
