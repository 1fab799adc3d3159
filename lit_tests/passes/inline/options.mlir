// RUN: xrelay-opt -p inline %s | filecheck %s --check-prefix=NONE
// RUN: xrelay-opt -p 'inline{max-ops=1}' %s | filecheck %s --check-prefix=SMALL
// RUN: xrelay-opt -p 'inline{once=true}' %s | filecheck %s --check-prefix=ONCE
// RUN: not xrelay-opt -p 'inline{max-ops=-1}' %s 2>&1 | filecheck %s --check-prefix=NEGATIVE

// Without options only marked functions are inlined; with `max-ops` small ones, too; with `once`
// private ones whose one use is a call.
//
// NONE-LABEL:  @main(
// NONE-NEXT:     func.call @small
// NONE-NEXT:     func.call @large
// NONE-NEXT:     func.call @used_twice
// NONE-NEXT:     func.call @used_twice
// NONE-NEXT:     func.call @also_a_value
// SMALL-LABEL: @main(
// SMALL-NEXT:    relay.exp
// SMALL-NEXT:    func.call @large
// SMALL-NEXT:    func.call @used_twice
// SMALL-NEXT:    func.call @used_twice
// SMALL-NEXT:    func.call @also_a_value
// ONCE-LABEL:  @main(
// ONCE-NEXT:     func.call @small
// ONCE-NEXT:     relay.exp
// ONCE-NEXT:     relay.exp
// ONCE-NEXT:     func.call @used_twice
// ONCE-NEXT:     func.call @used_twice
// ONCE-NEXT:     func.call @also_a_value
// ONCE:        func.func @small(
// ONCE-NOT:    func.func private @large(
// ONCE:        func.func private @used_twice(
// NEGATIVE:    error: max-ops must be at least 0, but is -1
func.func @main(%x: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %0 = func.call @small(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @large(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @used_twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = func.call @used_twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = func.call @also_a_value(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.global @also_a_value : (tensor<4xf32>) -> tensor<4xf32>
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}
func.func @small(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @large(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func private @used_twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func private @also_a_value(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
