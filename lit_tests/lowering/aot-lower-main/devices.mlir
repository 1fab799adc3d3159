// RUN: xrelay-opt -p 'aot-lower-main{prefix=net device-contexts=cuda:0}' %s | filecheck %s
// RUN: not xrelay-opt -p 'aot-lower-main{device-contexts=npu:0}' %s 2>&1 | filecheck %s --check-prefix=LOST

// Each device has a workspace. One with a context is active in the whole body, and open around
// calls that use its memory.
//
// CHECK-LABEL: func.func public @net_main_flat
// CHECK-SAME:    %workspace: memref<?xi8> {xrelay.workspace = "cpu:0"
// CHECK-SAME:    %workspace_cuda: memref<?xi8, "cuda:0"> {xrelay.workspace = "cuda:0"
// CHECK-SAME:    %device_context_cuda: !llvm.ptr {xrelay.device_context = "cuda:0"}
// CHECK-NEXT:    func.call @net_device_cuda_0_activate(%device_context_cuda)
// CHECK:         func.call @k(%x)
// CHECK:         func.call @net_device_cuda_0_open(%device_context_cuda)
// CHECK-NEXT:    func.call @k
// CHECK-NEXT:    func.call @net_device_cuda_0_close(%device_context_cuda)
// CHECK:         func.call @net_device_cuda_0_deactivate(%device_context_cuda)
// CHECK-NEXT:    func.return
// CHECK:       func.func private @net_device_cuda_0_activate(!llvm.ptr) -> ()
// LOST:        error: the program has no device 'npu:0'; it has: cpu:0, cuda:0
builtin.module attributes {xrelay.devices = ["cpu:0", "cuda:0"]} {
  func.func private @k(memref<4xf32>) -> ()
  func.func @main(%x: memref<4xf32>, %w: memref<?xi8, "cuda:0"> {memory.workspace = array<i64>, memory.alignment = 64 : i64, memory.size = 16 : i64}) attributes {xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "float32", shape = [4 : i64]}}], results = []}}} {
    %c0 = arith.constant 0 : index
    %t = memref.view %w[%c0][] : memref<?xi8, "cuda:0"> to memref<4xf32, "cuda:0">
    func.call @k(%x) : (memref<4xf32>) -> ()
    %u = "memref.memory_space_cast"(%t) : (memref<4xf32, "cuda:0">) -> memref<4xf32>
    func.call @k(%u) : (memref<4xf32>) -> ()
    func.return
  }
}
