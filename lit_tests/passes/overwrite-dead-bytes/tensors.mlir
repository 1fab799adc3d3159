// RUN: xrelay-opt --split-input-file -p overwrite-dead-bytes,verify-memory-plan %s | filecheck %s

// The bytes of a tensor are overwritten before it is written, and after its kill.
//
// CHECK-LABEL: @before_and_after
// CHECK:         %[[U:.*]] = memory.alloc_tensor %s[0] : tensor<4xf32>
// CHECK-NEXT:    %[[V:.*]] = vm.invoke_tvm_op @overwrite outs(%[[U]] : tensor<4xf32>)
// CHECK-NEXT:    memory.kill %[[V]]
// CHECK-NEXT:    %t = memory.alloc_tensor
// CHECK-NEXT:    %y = memory.copy
// CHECK-NEXT:    "test.op"(%y)
// CHECK-NEXT:    memory.kill %y
// CHECK-NEXT:    %[[W:.*]] = memory.alloc_tensor %s[0] : tensor<4xf32>
// CHECK-NEXT:    %[[X:.*]] = vm.invoke_tvm_op @overwrite outs(%[[W]] : tensor<4xf32>)
// CHECK-NEXT:    memory.kill %[[X]]
// CHECK-NEXT:    func.return
// CHECK:       relay.prim_func @overwrite() -> tensor<4xf32> {
// CHECK-NEXT:    relay.constant dense<"0xFFFFFFFF"> : tensor<f32>
// CHECK-NEXT:    relay.full
func.func @before_and_after(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%y) : (tensor<4xf32>) -> ()
  memory.kill %y : tensor<4xf32>
  func.return
}

// -----

// A tensor that is written over an operand is not overwritten before: the operand is alive.
//
// CHECK-LABEL: @in_place
// CHECK:         vm.invoke_tvm_op @overwrite
// CHECK:         %y = memory.copy
// CHECK-NEXT:    %u = memory.alloc_tensor
// CHECK-NEXT:    %z = vm.invoke_tvm_op @negative
func.func @in_place(%x: tensor<4xi1>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xi1>
  %y = memory.copy ins(%x : tensor<4xi1>) outs(%t : tensor<4xi1>) -> tensor<4xi1>
  %u = memory.alloc_tensor %s[0] : tensor<4xi1>
  %z = vm.invoke_tvm_op @negative ins(%y : tensor<4xi1>) outs(%u : tensor<4xi1>) -> tensor<4xi1>
  "test.op"(%z) : (tensor<4xi1>) -> ()
  func.return
}
relay.prim_func @negative(%a: tensor<4xi1>) -> tensor<4xi1> {
  %b = relay.logical_not %a : (tensor<4xi1>) -> tensor<4xi1>
  relay.yield %b : tensor<4xi1>
}

// -----

// A tensor of dynamic shape is overwritten by a kernel that gets its shape.
//
// CHECK-LABEL: @dynamic
// CHECK:         vm.invoke_tvm_op @overwrite ins(%n : tensor<1xi64>) outs(%{{.*}} : tensor<?xf32>)
// CHECK:       relay.prim_func @overwrite(%{{.*}}: tensor<1xi64>) -> tensor<?xf32> {
// CHECK:         relay.dyn.full
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %n = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %d = tensor.extract %n[%c0] : tensor<1xi64>
  %bytes = arith.muli %d, %c4 : i64
  %s = memory.alloc_storage %bytes align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] shape %n : tensor<1xi64> -> tensor<?xf32>
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// One that outlives its shape is overwritten before it is written only.
//
// CHECK-LABEL: @outlives_its_shape
// CHECK:         memory.kill %n :
// CHECK-NEXT:    %[[W:.*]] = memory.alloc_tensor %s[0] : tensor<1xi64>
// CHECK:         "test.op"(%y)
// CHECK-NEXT:    memory.kill %y
// CHECK-NEXT:    func.return
func.func @outlives_its_shape(%x: tensor<?xf32>, %given: tensor<1xi64>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %r = memory.alloc_tensor %s[0] : tensor<1xi64>
  %n = memory.copy ins(%given : tensor<1xi64>) outs(%r : tensor<1xi64>) -> tensor<1xi64>
  %d = tensor.extract %n[%c0] : tensor<1xi64>
  %bytes = arith.muli %d, %c4 : i64
  %u = memory.alloc_storage %bytes align 64 : !memory.storage
  %t = memory.alloc_tensor %u[0] shape %n : tensor<1xi64> -> tensor<?xf32>
  memory.kill %n : tensor<1xi64>
  %y = memory.copy ins(%x : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%y) : (tensor<?xf32>) -> ()
  memory.kill %y : tensor<?xf32>
  func.return
}
