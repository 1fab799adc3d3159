// RUN: xrelay-opt --verify-diagnostics --split-input-file --remarks -p pack-buffers %s | filecheck %s

// What may be used elsewhere is left alone.
//
// CHECK-LABEL: @is_returned
// CHECK-NEXT:    memref.alloc
func.func @is_returned() -> memref<4xf32> {
  // expected-remark @below {{memref.alloc is left alone: returned}}
  %a = memref.alloc() : memref<4xf32>
  func.return %a : memref<4xf32>
}

// -----

func.func private @unknown(memref<4xf32>)
// CHECK-LABEL: @is_passed_to_an_unknown_function
// CHECK-NEXT:    memref.alloc
func.func @is_passed_to_an_unknown_function() {
  // expected-remark @below {{memref.alloc is left alone: captured by @unknown}}
  %a = memref.alloc() : memref<4xf32>
  func.call @unknown(%a) : (memref<4xf32>) -> ()
  func.return
}

// -----

// A function that says so does not keep its parameter.
//
"func.func"() <{sym_name = "known", sym_visibility = "private",
                function_type = (memref<4xf32>) -> (), arg_attrs = [{llvm.nocapture}]}> ({}) : () -> ()
// CHECK-LABEL: @is_passed_to_a_function_that_does_not_keep_it
// CHECK:         memory.buffer
func.func @is_passed_to_a_function_that_does_not_keep_it() {
  %a = memref.alloc() : memref<4xf32>
  func.call @known(%a) : (memref<4xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: @is_used_by_an_unknown_op
// CHECK-NEXT:    memref.alloc
func.func @is_used_by_an_unknown_op() {
  // expected-remark @below {{left alone: an operand of test.op, whose effects are not known}}
  %a = memref.alloc() : memref<4xf32>
  "test.op"(%a) : (memref<4xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: @is_moved
// CHECK-NEXT:    memref.alloc
func.func @is_moved() {
  // expected-remark @below {{left alone: an operand of memref.realloc, which may move it (mlir-opt --expand-realloc copies it instead)}}
  %a = memref.alloc() : memref<4xf32>
  %b = memref.realloc %a : memref<4xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  func.return
}

// -----

// CHECK-LABEL: @has_an_address
// CHECK-NEXT:    memref.alloc
func.func @has_an_address() {
  // expected-remark @below {{left alone: an operand of memref.extract_aligned_pointer_as_index, whose result is its address}}
  %a = memref.alloc() : memref<4xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  "test.op"(%p) : (index) -> ()
  func.return
}

// -----

// CHECK-LABEL: @is_stored
// CHECK-NEXT:    memref.alloc
func.func @is_stored(%x: memref<memref<4xf32>>) {
  // expected-remark @below {{left alone: may be stored by memref.store}}
  %a = memref.alloc() : memref<4xf32>
  memref.store %a, %x[] : memref<memref<4xf32>>
  func.return
}

// -----

// A buffer of one turn of a loop is in use in the next one, which has another buffer.
//
// CHECK-LABEL: @is_carried
// CHECK:         memref.alloc
func.func @is_carried(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (memref<4xf32>) {
    // expected-remark @below {{left alone: carried to the next turn of a loop}}
    %a = memref.alloc() : memref<4xf32>
    memref.copy %y, %a : memref<4xf32> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  func.return
}

// -----

// CHECK-LABEL: @is_freed_with_other_memory
// CHECK:         memref.alloc
// CHECK:         memref.dealloc
func.func @is_freed_with_other_memory(%x: memref<4xf32>, %b: i1) {
  // expected-remark @below {{left alone: freed where it may be other memory}}
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %c = arith.select %b, %a, %x : memref<4xf32>
  memref.dealloc %c : memref<4xf32>
  func.return
}

// -----

// CHECK-LABEL: @has_elements_of_unknown_size
// CHECK-NEXT:    memref.alloc
func.func @has_elements_of_unknown_size() {
  // expected-remark @below {{left alone: the bytes of memref<4xmemref<2xf32>> are not known}}
  %a = memref.alloc() : memref<4xmemref<2xf32>>
  func.return
}

// -----

// Stack memory stays where it is, unless `alloca=true`.
//
// CHECK-LABEL: @is_on_the_stack
// CHECK-NEXT:    memref.alloca
func.func @is_on_the_stack(%x: memref<4xf32>) {
  %a = memref.alloca() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  func.return
}

// -----

func.func @is_too_large(%x: memref<3000000000000000000xf32>) {
  // expected-error @below {{memref<3000000000000000000xf32> needs 12000000000000000000 bytes, but at most 9223372036854775807 fit}}
  %a = memref.alloc() : memref<3000000000000000000xf32>
  memref.copy %x, %a : memref<3000000000000000000xf32> to memref<3000000000000000000xf32>
  func.return
}
