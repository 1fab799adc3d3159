// RUN: xrelay-opt -p lower-to-bytecode %s | filecheck %s

// A pack that is left to the machine is an instruction, and bounds of dims go with the function.
//
// CHECK-LABEL: bytecode.func @left_to_the_machine
// CHECK-SAME:    bounds {n = [1 : i64, 2048 : i64]}
// CHECK:         bytecode.pack [[TOTAL:r.*]], ([[A:r.*]], [[B:r.*]]) align 64 lifetimes [0, 2, 1, 3] sizes ([[N:r.*]], 64) arms [0, 4, 0, 1, 4, 1]
// CHECK-NEXT:    bytecode.alloc_storage {{r.*}}, [[TOTAL]] align 64
// CHECK-NEXT:    bytecode.alloc_tensor_reg {{r.*}}[[[A]]]
// CHECK-NEXT:    bytecode.alloc_tensor {{r.*}}[[[B]]]
func.func @left_to_the_machine(%x: tensor<?xi8, #relay.device<cpu:0>> {relay.dims = ["n"]}) attributes {relay.dim_bounds = {n = [1, 2048]}} {
  %shape = vm.shape_of %x : (tensor<?xi8, #relay.device<cpu:0>>) -> tensor<1xi64, #relay.device<cpu:0>>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %shape[%i0] : tensor<1xi64, #relay.device<cpu:0>>
  %pack = memory.pack at_bind align 64 : !memory.pack
  %a = memory.slice %pack [0, 2) %n in (4:0)
  %b = memory.slice %pack [1, 3) 64 in (4:1)
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage<#relay.device<cpu:0>>
  %t = memory.alloc_tensor %s[%a] shape %shape : tensor<1xi64, #relay.device<cpu:0>> -> tensor<?xi8, #relay.device<cpu:0>>
  %u = memory.alloc_tensor %s[%b] : tensor<64xi8, #relay.device<cpu:0>>
  func.return
}
