// RUN: xrelay-opt --split-input-file -p 'plan-devices{default=cuda:0}' %s | filecheck %s

// Without a word about devices everything is on the default one.
//
// CHECK-LABEL: @plain
// CHECK-SAME:      (%a: tensor<5x7xf32, #cuda0>, %b: tensor<5x7xf32, #cuda0>) -> tensor<5x7xf32, #cuda0>
// CHECK-NEXT:    %[[S:.*]] = relay.add %a, %b : {{.*}} -> tensor<5x7xf32, #cuda0>
// CHECK-NEXT:    func.return %[[S]] : tensor<5x7xf32, #cuda0>
func.func @plain(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %0 : tensor<5x7xf32>
}

// -----

// A hint puts its operand and what that is computed from there, and copies to where it is used.
//
// CHECK-LABEL: @left_add_on_cpu
// CHECK-SAME:      (%a: {{[^%]*}}#cpu0>, %b: {{[^%]*}}#cpu0>, %c: {{[^%]*}}#cuda0>, %d: {{[^%]*}}#cuda0>)
// CHECK-NEXT:    %[[A:.*]] = relay.add %a, %b
// CHECK-NEXT:    %[[B:.*]] = relay.device_copy %[[A]] : tensor<5x7xf32, #cpu0> to tensor<5x7xf32, #cuda0>
// CHECK-NEXT:    %[[C:.*]] = relay.add %c, %d
// CHECK-NEXT:    %[[D:.*]] = relay.subtract %[[B]], %[[C]]
// CHECK-NEXT:    func.return %[[D]]
func.func @left_add_on_cpu(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = relay.on_device %0, #relay.device<cpu:0> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = relay.subtract %1, %2 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %3 : tensor<5x7xf32>
}

// -----

// A hint on both sides holds what uses it there too; where nothing moves nothing is copied.
//
// CHECK-LABEL: @both_sides
// CHECK-SAME:      (%a: {{[^%]*}}#cpu0>, %b: {{[^%]*}}#cpu0>) -> tensor<4xf32, #cpu0>
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a
// CHECK-NEXT:    relay.add %[[A]], %b
// CHECK-NOT:     relay.device_copy
func.func @both_sides(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.on_device %0, #relay.device<cpu:0> {constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.add %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// A hint on the default device is dropped.
//
// CHECK-LABEL: @hint_on_the_default
// CHECK-NEXT:    %[[A:.*]] = relay.exp %a
// CHECK-NEXT:    relay.tanh %[[A]]
// CHECK-NEXT:    func.return
func.func @hint_on_the_default(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.on_device %0, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// A free hint joins its two sides where it can, and copies where it cannot.
//
// CHECK-LABEL: @free_hints
// CHECK-SAME:      (%a: {{[^%]*}}#cpu0>, %b: {{[^%]*}}#cpu0>)
// CHECK-NEXT:    relay.device_copy %b : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
// CHECK-NEXT:    func.return %a, %{{.*}}
func.func @free_hints(%a: tensor<4xf32>, %b: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}, tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  %0 = relay.on_device %a, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.on_device %b, #relay.device<?> {constrain_body = false} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A copy that is there already says where both of its sides are.
//
// CHECK-LABEL: @copy
// CHECK-SAME:      (%a: tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda1>
// CHECK-NEXT:    relay.exp %a
// CHECK-NEXT:    relay.device_copy
// CHECK-NEXT:    relay.tanh {{.*}} -> tensor<4xf32, #cuda1>
func.func @copy(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32, #relay.device<cpu:0>>
  %1 = relay.device_copy %0 : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:1>>
  %2 = relay.tanh %1 : (tensor<4xf32, #relay.device<cuda:1>>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// A partial device is completed: by the default where it is of its type, else by number 0.
//
// CHECK-LABEL: @partial
// CHECK-SAME:      (%a: tensor<4xf32, #cpu0>, %b: tensor<4xf32, #cuda0_texture>)
func.func @partial(%a: tensor<4xf32> {relay.device = #relay.device<cpu>}, %b: tensor<4xf32> {relay.device = #relay.device<?, scope = "texture">}) {
  func.return
}

// -----

// Project, then copy: only the fields that are used move.
//
// CHECK-LABEL: @tuple_get_item
// CHECK-SAME:      (%x: tensor<3x3x4xf32, #cpu0>) -> tensor<1x3x4xf32, #cuda0>
// CHECK-NEXT:    %{{.*}} = relay.split %x
// CHECK-NEXT:    %[[T:.*]] = relay.tuple
// CHECK-NEXT:    %[[I:.*]] = relay.tuple_get_item %[[T]][0]
// CHECK-NEXT:    %[[C:.*]] = relay.device_copy %[[I]] : tensor<1x3x4xf32, #cpu0> to tensor<1x3x4xf32, #cuda0>
// CHECK-NEXT:    %[[J:.*]] = relay.tuple_get_item %[[T]][1]
// CHECK-NEXT:    %[[D:.*]] = relay.device_copy %[[J]]
// CHECK-NEXT:    relay.subtract %[[C]], %[[D]]
// CHECK-NOT:     relay.device_copy
func.func @tuple_get_item(%x: tensor<3x3x4xf32>) -> tensor<1x3x4xf32> {
  %s:3 = relay.split %x {indices_or_sections = 3} : (tensor<3x3x4xf32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
  %t = relay.tuple %s#0, %s#1, %s#2 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>
  %h = relay.on_device %t, #relay.device<cpu:0> : (tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>) -> tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>
  %a = relay.tuple_get_item %h[0] : (tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>) -> tensor<1x3x4xf32>
  %b = relay.tuple_get_item %h[1] : (tuple<tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>>) -> tensor<1x3x4xf32>
  %c = relay.subtract %a, %b : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %d = relay.on_device %c, #relay.device<cuda:0> : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return %d : tensor<1x3x4xf32>
}

// -----

// A constant is on the device of its use, and cloned when it is used on several.
//
// CHECK-LABEL: @constants
// CHECK-DAG:     %[[A:.*]] = relay.constant dense<1.000000e+00> : tensor<4xf32> on #cpu0
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<1.000000e+00> : tensor<4xf32> on #cuda0
// CHECK-DAG:     %[[P:.*]] = relay.param "w" : tensor<4xf32, #cuda0>
// CHECK-NOT:     relay.constant
// CHECK:         relay.add %x, %[[A]]
// CHECK:         relay.add %{{.*}}, %[[B]]
// CHECK-NEXT:    relay.add %{{.*}}, %[[P]]
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %p = relay.param "w" : tensor<4xf32>
  %0 = relay.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.on_device %0, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.add %1, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.add %2, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// -----

// A constant that one return or call uses twice may be on two devices.
//
// CHECK-LABEL: @returned_twice
// CHECK-DAG:     %[[A:.*]] = relay.constant {{.*}} on #cpu0
// CHECK-DAG:     %[[B:.*]] = relay.constant {{.*}} on #cuda0
// CHECK:         func.return %[[A]], %[[B]]
func.func @returned_twice() -> (tensor<4xf32> {relay.device = #relay.device<cpu:0>}, tensor<4xf32> {relay.device = #relay.device<cuda:0>}) {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  func.return %c, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// Shapes are on the host, whatever the default is.
//
// CHECK-LABEL: @shapes
// CHECK:         vm.shape_of %x : (tensor<?xf32, #cuda0>) -> tensor<1xi64, #cpu0>
func.func @shapes(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  func.return
}

// -----

// The bodies of primitives that are there already are not visited.
//
// CHECK-LABEL: @primitives
// CHECK-SAME:      (%x: tensor<4xf32, #cuda0>)
// CHECK-NEXT:    relay.primitive(%a = %x : tensor<4xf32, #cuda0>) -> (tensor<4xf32, #cuda0>)
func.func @primitives(%x: tensor<4xf32, #relay.device<cuda:0>>) {
  %0 = relay.primitive(%a = %x : tensor<4xf32, #relay.device<cuda:0>>) -> (tensor<4xf32, #relay.device<cuda:0>>) {
    %1 = relay.exp %a : (tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cuda:0>>
    relay.yield %1 : tensor<4xf32, #relay.device<cuda:0>>
  }
  func.return
}

// -----

// A constant that nobody uses is nowhere, and goes.
//
// CHECK-LABEL: @unused_constants
// CHECK-NEXT:    func.return
func.func @unused_constants() {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %p = relay.param "w" : tensor<4xf32>
  func.return
}
