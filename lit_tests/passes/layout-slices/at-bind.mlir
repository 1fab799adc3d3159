// RUN: xrelay-opt --split-input-file -p 'layout-slices{dynamic=at-bind}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p 'layout-slices{dynamic=at-bind},layout-slices' %s | filecheck %s

// A pack of dynamic sizes is left to the machine, and a second run does not change that.
//
// CHECK-LABEL: func.func @left_to_the_machine
// CHECK:         %[[PACK:.*]] = memory.pack at_bind align 64
// CHECK-NEXT:    = memory.slice %[[PACK]] [0, 2) %n
// CHECK-NEXT:    = memory.slice %[[PACK]] [1, 3) 64
// CHECK-NEXT:    = memory.total %[[PACK]]
// CHECK-NEXT:    memory.alloc_storage %{{.*}} align 64
func.func @left_to_the_machine(%n: i64) {
  %pack = memory.pack align 64 : !memory.pack
  %offset_0 = memory.slice %pack [0, 2) %n
  %offset_1 = memory.slice %pack [1, 3) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  "test.op"(%offset_0, %offset_1) : (i64, i64) -> ()
  func.return
}

// -----

// Static sizes are planned now.
//
// CHECK-LABEL: func.func @static_sizes
// CHECK:         memory.alloc_storage 64 align 64
func.func @static_sizes() {
  %pack = memory.pack align 64 : !memory.pack
  %offsets_0 = memory.slice %pack [0, 1) 64
  %offsets_1 = memory.slice %pack [1, 2) 64
  %total = memory.total %pack
  %s = memory.alloc_storage %total align 64 : !memory.storage
  func.return
}

// -----

// The size of a workspace is arithmetic, as the callers must compute it.
//
// CHECK-LABEL: func.func @workspace
// CHECK-NOT:     at_bind
func.func @workspace(%n: i64, %w: !memory.storage) {
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %offset = memory.slice %pack [0, 1) %n
  %total = memory.total %pack
  "test.op"(%total, %offset) : (i64, i64) -> ()
  func.return
}
