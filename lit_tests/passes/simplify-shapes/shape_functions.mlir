// RUN: xrelay-opt --split-input-file -p simplify-shapes %s | filecheck %s

// A shape function is inlined, and the tensor that it wrote is removed. What is left of the seed's
// form of a broadcast is a check and arithmetic on one dim.
//
// CHECK-LABEL: @broadcast_add
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[S:.*]] = vm.shape_of %x : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]][%[[C0]]]
// CHECK-NEXT:    %[[Q:.*]] = vm.shape_of %y : (tensor<?x2xf32, #cuda0>) -> tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[M:.*]] = tensor.extract %[[Q]][%[[C0]]]
// CHECK-NEXT:    %[[C1:.*]] = arith.constant 1 : i64
// CHECK-NEXT:    %[[C2:.*]] = arith.constant 2 : i64
// CHECK-NEXT:    %[[C8:.*]] = arith.constant 8 : i64
// CHECK-NEXT:    relay.require broadcast %[[N]], %[[M]], "relay.add: {0} and {1}"
// CHECK-NEXT:    %[[E:.*]] = arith.cmpi eq, %[[N]], %[[C1]]
// CHECK-NEXT:    %[[D:.*]] = arith.select %[[E]], %[[M]], %[[N]]
// CHECK-NEXT:    %[[SHAPE:.*]] = tensor.from_elements %[[D]], %[[C2]] : tensor<2xi64, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = arith.muli %[[D]], %[[C8]]
// CHECK-NEXT:    %[[ST:.*]] = memory.alloc_storage %[[B]] align 64 : !memory.storage<#cuda0>
// CHECK-NEXT:    %[[T:.*]] = memory.alloc_tensor %[[ST]][0] shape %[[SHAPE]]
// CHECK-NEXT:    %[[R:.*]] = vm.invoke_tvm_op @fused_add ins(%x, %y : {{.*}}) outs(%[[T]] :
// CHECK-NEXT:    func.return %[[R]]
// CHECK-NOT:     shape_func
func.func @broadcast_add(%x: tensor<?x2xf32, #relay.device<cuda:0>>, %y: tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<?x2xf32, #relay.device<cuda:0>> {
  %a = vm.shape_of %x : (tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<2xi64, #relay.device<cpu:0>>
  %b = vm.shape_of %y : (tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<2xi64, #relay.device<cpu:0>>
  %so = memory.alloc_storage 16 align 64 : !memory.storage<#relay.device<cpu:0>>
  %to = memory.alloc_tensor %so[0] : tensor<2xi64, #relay.device<cpu:0>>
  %shape = vm.shape_func @shape_func_add ins(%a, %b : tensor<2xi64, #relay.device<cpu:0>>, tensor<2xi64, #relay.device<cpu:0>>) outs(%to : tensor<2xi64, #relay.device<cpu:0>>) {is_input = array<i64: 0, 0>} -> tensor<2xi64, #relay.device<cpu:0>>
  %c0 = arith.constant 0 : index
  %d0 = tensor.extract %shape[%c0] : tensor<2xi64, #relay.device<cpu:0>>
  %c1 = arith.constant 1 : index
  %d1 = tensor.extract %shape[%c1] : tensor<2xi64, #relay.device<cpu:0>>
  %n = arith.muli %d0, %d1 : i64
  %c4 = arith.constant 4 : i64
  %size = arith.muli %n, %c4 : i64
  %s = memory.alloc_storage %size align 64 : !memory.storage<#relay.device<cuda:0>>
  %t = memory.alloc_tensor %s[0] shape %shape : tensor<2xi64, #relay.device<cpu:0>> -> tensor<?x2xf32, #relay.device<cuda:0>>
  %r = vm.invoke_tvm_op @fused_add ins(%x, %y : tensor<?x2xf32, #relay.device<cuda:0>>, tensor<?x2xf32, #relay.device<cuda:0>>) outs(%t : tensor<?x2xf32, #relay.device<cuda:0>>) -> tensor<?x2xf32, #relay.device<cuda:0>>
  func.return %r : tensor<?x2xf32, #relay.device<cuda:0>>
}
relay.prim_func @fused_add(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {shape_func = @shape_func_add, shape_inputs = array<i64: 2, 2>} {
  %0 = relay.add %a, %b : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  relay.yield %0 : tensor<?x2xf32>
}
relay.shape_func @shape_func_add(%a: tensor<2xi64>, %b: tensor<2xi64>) -> tensor<2xi64> {
  %i = arith.constant 0 : index
  %n = tensor.extract %a[%i] : tensor<2xi64>
  %m = tensor.extract %b[%i] : tensor<2xi64>
  relay.require broadcast %n, %m, "relay.add: {0} and {1}"
  %c1 = arith.constant 1 : i64
  %is_one = arith.cmpi eq, %n, %c1 : i64
  %d = arith.select %is_one, %m, %n : i64
  %c2 = arith.constant 2 : i64
  %r = tensor.from_elements %d, %c2 : tensor<2xi64>
  relay.yield %r : tensor<2xi64>
}

// -----

// A shape that depends on data reads the copy of the data on the host.
//
// CHECK-LABEL: @data_dependent
// CHECK:         %[[COPY:.*]] = memory.copy ins(%stop :
// CHECK-NEXT:    %[[E:.*]] = tensor.extract %[[COPY]][]
// CHECK-NEXT:    %[[N:.*]] = arith.extsi %[[E]] : i32 to i64
// CHECK-NEXT:    relay.require at_least %[[N]],
// CHECK-NEXT:    %[[SHAPE:.*]] = tensor.from_elements %[[N]] : tensor<1xi64, #cpu0>
// CHECK-NEXT:    %[[B:.*]] = arith.muli %[[N]], %
// CHECK-NEXT:    "test.op"(%[[SHAPE]], %[[B]])
func.func @data_dependent(%stop: tensor<i32, #relay.device<cuda:0>>) {
  %s = memory.alloc_storage 4 align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[0] : tensor<i32, #relay.device<cpu:0>>
  %in = memory.copy ins(%stop : tensor<i32, #relay.device<cuda:0>>) outs(%t : tensor<i32, #relay.device<cpu:0>>) -> tensor<i32, #relay.device<cpu:0>>
  %so = memory.alloc_storage 8 align 64 : !memory.storage<#relay.device<cpu:0>>
  %to = memory.alloc_tensor %so[0] : tensor<1xi64, #relay.device<cpu:0>>
  %shape = vm.shape_func @shape_func_arange ins(%in : tensor<i32, #relay.device<cpu:0>>) outs(%to : tensor<1xi64, #relay.device<cpu:0>>) {is_input = array<i64: 1>} -> tensor<1xi64, #relay.device<cpu:0>>
  %c0 = arith.constant 0 : index
  %n = tensor.extract %shape[%c0] : tensor<1xi64, #relay.device<cpu:0>>
  %c4 = arith.constant 4 : i64
  %size = arith.muli %n, %c4 : i64
  "test.op"(%shape, %size) : (tensor<1xi64, #relay.device<cpu:0>>, i64) -> ()
  func.return
}
relay.shape_func @shape_func_arange(%stop: tensor<i32>) -> tensor<1xi64> {
  %e = tensor.extract %stop[] : tensor<i32>
  %n = arith.extsi %e : i32 to i64
  %c0 = arith.constant 0 : i64
  relay.require at_least %n, %c0, "arange has {0} elements"
  %r = tensor.from_elements %n : tensor<1xi64>
  relay.yield %r : tensor<1xi64>
}

// -----

// A check is made once for the calls of one shape function on equal shapes.
//
// CHECK-LABEL: @called_twice
// CHECK:         relay.require
// CHECK-NOT:     relay.require
// CHECK:         "test.op"(%[[S:.*]], %[[S]])
func.func @called_twice(%x: tensor<?xf32>, %t: tensor<1xi64>, %u: tensor<1xi64>) {
  %a = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %p = vm.shape_func @f ins(%a : tensor<1xi64>) outs(%t : tensor<1xi64>) {is_input = array<i64: 0>} -> tensor<1xi64>
  %b = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %q = vm.shape_func @f ins(%b : tensor<1xi64>) outs(%u : tensor<1xi64>) {is_input = array<i64: 0>} -> tensor<1xi64>
  "test.op"(%p, %q) : (tensor<1xi64>, tensor<1xi64>) -> ()
  func.return
}
relay.shape_func @f(%a: tensor<1xi64>) -> tensor<1xi64> {
  %i = arith.constant 0 : index
  %n = tensor.extract %a[%i] : tensor<1xi64>
  %c2 = arith.constant 2 : i64
  relay.require divisible %n, %c2, "{0} is odd"
  %m = arith.floordivsi %n, %c2 : i64
  %r = tensor.from_elements %m : tensor<1xi64>
  relay.yield %r : tensor<1xi64>
}

// -----

// A constant shape becomes a constant on the host.
//
// CHECK-LABEL: @constant_shape
// CHECK:         %[[S:.*]] = relay.constant dense<[2, 3]> : tensor<2xi64> on #cpu0
// CHECK:         "test.op"(%[[S]])
func.func @constant_shape(%t: tensor<2xi64, #relay.device<cpu:0>>) {
  %s = vm.shape_func @f outs(%t : tensor<2xi64, #relay.device<cpu:0>>) {is_input = array<i64>} -> tensor<2xi64, #relay.device<cpu:0>>
  "test.op"(%s) : (tensor<2xi64, #relay.device<cpu:0>>) -> ()
  func.return
}
relay.shape_func @f() -> tensor<2xi64> {
  %s = arith.constant dense<[2, 3]> : tensor<2xi64>
  relay.yield %s : tensor<2xi64>
}
