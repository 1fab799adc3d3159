// RUN: xrelay-opt --split-input-file -p 'merge-tail-cycles,verify-stage{stage=memref}' %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p merge-tail-cycles,tail-calls-to-loops %s | mlir-opt --split-input-file -o /dev/null

// Parameters of one type are shared; a function passes an empty tensor for one that it has not.
//
// CHECK-LABEL: func.func private @f(%c: memref<i1>, %x: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT:    %[[F:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[UNREAD:.*]] = memref.alloc(%[[ZERO]]) {{.*}} : memref<?xi32>
// CHECK-NEXT:    %[[R:.*]] = func.call @f.cycle(%[[F]], %c, %x, %[[UNREAD]])
// CHECK-NEXT:    memref.dealloc %[[UNREAD]]
// CHECK-NEXT:    func.return %[[R]]
// CHECK-LABEL: func.func private @g(%x: memref<4xf32>, %s: memref<?xi32>, %c: memref<i1>) -> memref<4xf32> {
// CHECK-NEXT:    %[[G:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[R:.*]] = func.call @f.cycle(%[[G]], %c, %x, %s)
// CHECK-LABEL: func.func private @f.cycle(%which: index, %c: memref<i1>, %x: memref<4xf32>, %s: memref<?xi32>) -> memref<4xf32> {
// CHECK-NEXT:    %[[Z:.*]] = scf.index_switch %which -> memref<4xf32>
// CHECK-NEXT:    case 0 {
// CHECK:           %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:      func.call @f.cycle(%[[ONE]], %c, %x, %t)
// CHECK:         default {
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:      func.call @f.cycle(%[[ZERO]], %c, %x, %s)
// CHECK:         func.return %[[Z]]
func.func private @f(%c: memref<i1>, %x: memref<4xf32>) -> memref<4xf32> {
  %b = memref.load %c[] : memref<i1>
  %r = scf.if %b -> (memref<4xf32>) {
    %c8 = arith.constant 8 : index
    %t = memref.alloc(%c8) : memref<?xi32>
    %z = func.call @g(%x, %t, %c) : (memref<4xf32>, memref<?xi32>, memref<i1>) -> memref<4xf32>
    memref.dealloc %t : memref<?xi32>
    scf.yield %z : memref<4xf32>
  } else {
    %u = memref.alloc() : memref<4xf32>
    "memref.copy"(%x, %u) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %u : memref<4xf32>
  }
  func.return %r : memref<4xf32>
}
func.func private @g(%x: memref<4xf32>, %s: memref<?xi32>, %c: memref<i1>) -> memref<4xf32> {
  %z = func.call @f(%c, %x) : (memref<i1>, memref<4xf32>) -> memref<4xf32>
  func.return %z : memref<4xf32>
}
