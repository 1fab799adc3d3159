// RUN: xrelay-opt %s -p cse,dce,cse --print-ir-before=dce -o %t.out 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: xrelay-opt %s -p cse,dce,cse --print-ir-after=dce -o %t.out 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: xrelay-opt %s -p cse,dce,cse --print-ir-before-all -o %t.out 2>&1 | filecheck %s --check-prefix=BEFOREALL
// RUN: xrelay-opt %s -p cse,dce,cse --print-ir-after-all -o %t.out 2>&1 | filecheck %s --check-prefix=AFTERALL
// RUN: xrelay-opt %s -p cse,dce,cse --print-ir-after-change -o %t.out 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: xrelay-opt %s -p cse,dce,cse --print-ir-after-all 2>/dev/null | filecheck %s --check-prefix=STDOUT

// Dumps go to stderr, under a heading that names the pass.
//
// BEFORE-NOT:     IR Dump Before cse
// BEFORE:         // -----// IR Dump Before dce //----- //
// BEFORE-NEXT:    builtin.module
// BEFORE:         "test.op"(%{{.*}}, %{{.*}})
// BEFORE-NOT:     IR Dump
//
// AFTER:          // -----// IR Dump After dce //----- //
// AFTER-NOT:      arith.constant 2
// AFTER-NOT:      IR Dump
//
// BEFOREALL:      IR Dump Before cse
// BEFOREALL:      IR Dump Before dce
// BEFOREALL:      IR Dump Before cse
//
// AFTERALL:       IR Dump After cse
// AFTERALL:       IR Dump After dce
// AFTERALL:       IR Dump After cse
//
// CHANGE:         IR Dump After cse
// CHANGE:         IR Dump After dce
// CHANGE-NOT:     IR Dump
//
// STDOUT-NOT:     IR Dump
// STDOUT:         builtin.module
func.func @f() {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  %unused = "test.pureop"() : () -> i32
  %unused2 = "test.pureop"(%unused) : (i32) -> i32
  "test.op"(%a, %b) : (i32, i32) -> ()
  func.return
}
