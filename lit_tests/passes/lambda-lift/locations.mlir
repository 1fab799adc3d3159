// RUN: xrelay-opt --print-debuginfo -p lambda-lift %s | filecheck %s

// A function is where the closure is, and its parameters are where the values are.
//
// CHECK:       %f = relay.closure @main_f(%x) : {{.*}} loc("a.relay":2:3)
// CHECK:       func.func private @main_f(%x: tensor<f32> loc("a.relay":1:2), %a: tensor<f32> loc("a.relay":2:9))
// CHECK-NEXT:    relay.add %x, %a : {{.*}} loc("a.relay":3:5)
// CHECK-NEXT:    func.return {{.*}} loc("a.relay":4:5)
// CHECK-NEXT:  } loc("a.relay":2:3)
func.func @main(%x: tensor<f32> loc("a.relay":1:2)) -> ((tensor<f32>) -> tensor<f32>) {
  %f = relay.fn (%a: tensor<f32> loc("a.relay":2:9)) -> tensor<f32> {
    %0 = relay.add %x, %a : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("a.relay":3:5)
    relay.yield %0 : tensor<f32> loc("a.relay":4:5)
  } loc("a.relay":2:3)
  func.return %f : (tensor<f32>) -> tensor<f32>
}
