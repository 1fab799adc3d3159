// RUN: xrelay-opt -p 'remove-unused-functions{entries=main}' %s | filecheck %s
// RUN: xrelay-opt -p 'remove-unused-functions{entries=main,other}' %s | filecheck %s --check-prefix=BOTH
// RUN: not xrelay-opt -p 'remove-unused-functions{entries=nowhere}' %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not xrelay-opt -p 'remove-unused-functions{entries=Opt}' %s 2>&1 | filecheck %s --check-prefix=DATA

// With entries only these are used from outside, whether public or private.
//
// CHECK-NOT:     @other
// CHECK:         func.func private @main()
// CHECK:         func.func @helper()
// BOTH:          func.func @other()
// BOTH:          func.func private @main()
// UNKNOWN:       error: @nowhere, of the option entries, is not defined in the module
// DATA:          error: @Opt, of the option entries, is a relay.type_data, not a function
relay.type_data @Opt [@Some(tensor<4xf32>)]
func.func @other() {
  func.return
}
func.func private @main() {
  func.call @helper() : () -> ()
  func.return
}
func.func @helper() {
  func.return
}
