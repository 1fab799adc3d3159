// RUN: xrelay-opt --split-input-file -p lambda-lift %s | filecheck %s

// A recursive closure calls its function, and passes on what it captures.
//
// CHECK-LABEL: @itself(
// CHECK-NEXT:    func.call @itself_f(%k, %x)
// CHECK:       @itself_f(%k: tensor<i32>, %a: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:    %[[B:.*]] = relay.multiply %a, %k
// CHECK-NEXT:    func.call @itself_f(%k, %[[B]])
func.func @itself(%x: tensor<i32>, %k: tensor<i32>) -> tensor<i32> {
  %f = relay.fn rec(%self) (%a: tensor<i32>) -> tensor<i32> {
    %b = relay.multiply %a, %k : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c = relay.call %self(%b) : (tensor<i32>) -> tensor<i32>
    relay.yield %c : tensor<i32>
  }
  %r = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// -----

// A recursive closure as a value is made again inside.
//
// CHECK-LABEL: @itself_as_a_value(
// CHECK:       @itself_as_a_value_f(%k: tensor<i32>, %a: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:    %self = relay.closure @itself_as_a_value_f(%k) : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
// CHECK-NEXT:    "test.op"(%self, %a, %k)
func.func @itself_as_a_value(%k: tensor<i32>) -> ((tensor<i32>) -> tensor<i32>) {
  %f = relay.fn rec(%self) (%a: tensor<i32>) -> tensor<i32> {
    %c = "test.op"(%self, %a, %k) : ((tensor<i32>) -> tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.yield %c : tensor<i32>
  }
  func.return %f : (tensor<i32>) -> tensor<i32>
}

// -----

// Mutually recursive closures call each other's functions; the inner one captures what the outer
// one does.
//
// CHECK-LABEL: @mutual(
// CHECK-NEXT:    func.call @mutual_even(%k, %n)
// CHECK:       @mutual_even(%k: tensor<i32>, %a: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:    %[[M:.*]] = relay.subtract %a, %k
// CHECK-NEXT:    func.call @mutual_odd(%k, %[[M]])
// CHECK:       @mutual_odd(%k: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:    func.call @mutual_even(%k, %b)
func.func @mutual(%n: tensor<i32>, %k: tensor<i32>) -> tensor<i32> {
  %even = relay.fn rec(%even_1) (%a: tensor<i32>) -> tensor<i32> {
    %odd = relay.fn (%b: tensor<i32>) -> tensor<i32> {
      %0 = relay.call %even_1(%b) : (tensor<i32>) -> tensor<i32>
      relay.yield %0 : tensor<i32>
    }
    %m = relay.subtract %a, %k : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %0 = relay.call %odd(%m) : (tensor<i32>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }
  %r = relay.call %even(%n) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// -----

// Recursion through an outer closure passes through the closures between them, and each captures
// what the calls in it need.
//
// CHECK-LABEL: @through_outer(
// CHECK-NEXT:    func.call @through_outer_f(%k, %x)
// CHECK:       @through_outer_f(%k: tensor<i32>, %a: tensor<i32>)
// CHECK-NEXT:    func.call @through_outer_g(%k, %a, %a)
// CHECK:       @through_outer_g(%k: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>)
// CHECK-NEXT:    func.call @through_outer_h(%k, %a, %b)
// CHECK:       @through_outer_h(%k: tensor<i32>, %a: tensor<i32>, %c: tensor<i32>)
// CHECK-NEXT:    %[[S:.*]] = relay.add %c, %k
// CHECK-NEXT:    %[[T:.*]] = func.call @through_outer_f(%k, %[[S]])
// CHECK-NEXT:    func.call @through_outer_g(%k, %a, %[[T]])
func.func @through_outer(%x: tensor<i32>, %k: tensor<i32>) -> tensor<i32> {
  %f = relay.fn rec(%f1) (%a: tensor<i32>) -> tensor<i32> {
    %g = relay.fn rec(%g1) (%b: tensor<i32>) -> tensor<i32> {
      %h = relay.fn (%c: tensor<i32>) -> tensor<i32> {
        %0 = relay.add %c, %k : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %1 = relay.call %f1(%0) : (tensor<i32>) -> tensor<i32>
        %2 = relay.call %g1(%1) : (tensor<i32>) -> tensor<i32>
        %3 = relay.add %2, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
        relay.yield %3 : tensor<i32>
      }
      %0 = relay.call %h(%b) : (tensor<i32>) -> tensor<i32>
      relay.yield %0 : tensor<i32>
    }
    %0 = relay.call %g(%a) : (tensor<i32>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }
  %r = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// -----

// A name that a closure does not use, `rec` or not, leaves nothing behind.
//
// CHECK-LABEL: @not_recursive_after_all(
// CHECK-NEXT:    relay.global @not_recursive_after_all_f
// CHECK:       @not_recursive_after_all_f(%a: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:    func.return %a
func.func @not_recursive_after_all() -> ((tensor<i32>) -> tensor<i32>) {
  %f = relay.fn rec(%self) (%a: tensor<i32>) -> tensor<i32> {
    relay.yield %a : tensor<i32>
  }
  func.return %f : (tensor<i32>) -> tensor<i32>
}
