// RUN: not xrelay-opt -p 'plan-devices{default=""}' %s 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: not xrelay-opt -p 'plan-devices{default=cpu:x}' %s 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: not xrelay-opt -p 'plan-devices{host="?:1"}' %s 2>&1 | filecheck %s --check-prefix=HOST
// RUN: not xrelay-opt -p 'plan-devices{targets="llvm"}' %s 2>&1 | filecheck %s --check-prefix=TARGETS
// RUN: xrelay-opt -p 'plan-devices{default=cuda host=cpu:1}' %s | filecheck %s

// Devices in options have a type; number 0 may be left away.
//
// EMPTY:  error: default must be a device like cpu:0, but is ""
// NUMBER: error: default must be a device like cpu:0, but is "cpu:x"
// HOST:   error: host must be a device like cpu:0, but is "?:1"
// TARGETS: error: targets must be like cpu=llvm, but one is "llvm"
// CHECK:  func.func @f(%x: tensor<?xf32, #cuda0>)
// CHECK:  -> tensor<1xi64, #cpu1>
func.func @f(%x: tensor<?xf32>) {
  %s = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  func.return
}
