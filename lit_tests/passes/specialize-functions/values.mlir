// RUN: xrelay-opt --split-input-file -p specialize-functions %s | filecheck %s

// A call that passes a closure calls a copy, which gets what the closure captured.
//
// CHECK-LABEL: @passes_closure
// CHECK-SAME:    (%[[K:.*]]: tensor<f32>, %[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    func.call @twice_1(%[[K]], %[[X]]) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
func.func @passes_closure(%k: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.closure @scale(%k) : (tensor<f32>) -> ((tensor<2xf32>) -> tensor<2xf32>)
  %0 = func.call @twice(%f, %x) : ((tensor<2xf32>) -> tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// CHECK:       func.func private @twice_1(%[[C:.*]]: tensor<f32>, %[[Y:.*]]: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %[[A:.*]] = func.call @scale(%[[C]], %[[Y]])
// CHECK-NEXT:    %[[B:.*]] = func.call @scale(%[[C]], %[[A]])
// CHECK-NEXT:    func.return %[[B]]
// CHECK-NOT:   @twice(
func.func @twice(%f: (tensor<2xf32>) -> tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.call %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.call %f(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
func.func private @scale(%k: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.multiply %x, %k : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A function that returns a closure returns what it captured.
//
// CHECK-LABEL: @gets_closure
// CHECK-NEXT:    %[[K:.*]] = func.call @make_1(%{{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    func.call @scale(%[[K]], %{{.*}})
func.func @gets_closure(%k: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %f = func.call @make(%k) : (tensor<f32>) -> ((tensor<2xf32>) -> tensor<2xf32>)
  %0 = relay.call %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// CHECK:       func.func private @make_1(%[[C:.*]]: tensor<f32>) -> tensor<f32> {
// CHECK:         func.return %{{.*}} : tensor<f32>
func.func private @make(%k: tensor<f32>) -> ((tensor<2xf32>) -> tensor<2xf32>) {
  %0 = relay.exp %k : (tensor<f32>) -> tensor<f32>
  %f = relay.closure @scale(%0) : (tensor<f32>) -> ((tensor<2xf32>) -> tensor<2xf32>)
  func.return %f : (tensor<2xf32>) -> tensor<2xf32>
}
func.func private @scale(%k: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.multiply %x, %k : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A recursive function that passes its function on needs one copy; equal calls share it.
//
// CHECK-LABEL: @recursive
// CHECK:         func.call @repeat_1
// CHECK:         func.call @repeat_1
func.func @recursive(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.global @step : (tensor<2xf32>) -> tensor<2xf32>
  %0 = func.call @repeat(%f, %c, %x) : ((tensor<2xf32>) -> tensor<2xf32>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @repeat(%f, %c, %0) : ((tensor<2xf32>) -> tensor<2xf32>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
// CHECK:       func.func private @repeat_1(%{{.*}}: tensor<i1>, %{{.*}}: tensor<2xf32>)
// CHECK:         func.call @step
// CHECK:         func.call @repeat_1
// CHECK-NOT:   @repeat_2
func.func private @repeat(%f: (tensor<2xf32>) -> tensor<2xf32>, %c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<2xf32>) {
    %0 = relay.call %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = func.call @repeat(%f, %c, %0) : ((tensor<2xf32>) -> tensor<2xf32>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  } else {
    relay.yield %x : tensor<2xf32>
  }
  func.return %r : tensor<2xf32>
}
func.func private @step(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A generic function is copied for each choice of types.
//
// CHECK-LABEL: @generic
// CHECK:         func.call @same_1(%{{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK:         func.call @same_2(%{{.*}}) : (tensor<2xi1>) -> tensor<2xi1>
func.func @generic(%x: tensor<f32>, %y: tensor<2xi1>) -> (tensor<f32>, tensor<2xi1>) {
  %0 = relay.invoke @same<[tensor<f32>]>(%x) : (tensor<f32>) -> tensor<f32>
  %1 = relay.invoke @same<[tensor<2xi1>]>(%y) : (tensor<2xi1>) -> tensor<2xi1>
  func.return %0, %1 : tensor<f32>, tensor<2xi1>
}
// CHECK-NOT:   @same(
func.func @same(%x: !relay.type_var<A>) -> !relay.type_var<A> attributes {relay.type_params = ["A"]} {
  func.return %x : !relay.type_var<A>
}

// -----

// A function that is chosen at run time stays a value.
//
// CHECK-LABEL: @chosen
// CHECK:         relay.if
// CHECK:         relay.call
func.func @chosen(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.if %c : tensor<i1> -> ((tensor<2xf32>) -> tensor<2xf32>) {
    %g = relay.global @one : (tensor<2xf32>) -> tensor<2xf32>
    relay.yield %g : (tensor<2xf32>) -> tensor<2xf32>
  } else {
    %h = relay.global @other : (tensor<2xf32>) -> tensor<2xf32>
    relay.yield %h : (tensor<2xf32>) -> tensor<2xf32>
  }
  %0 = relay.call %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @one(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}

// -----

// A direct call of a known function converts values whose types differ in their dims.
//
// CHECK-LABEL: @dims_differ
// CHECK-NEXT:    %[[X:.*]] = relay.reshape %{{.*}} : (tensor<3xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %[[Y:.*]] = func.call @identity(%[[X]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    relay.reshape %[[Y]] {{.*}} : (tensor<?xf32>) -> tensor<3xf32>
func.func @dims_differ(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.invoke @identity(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
func.func private @identity(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}
