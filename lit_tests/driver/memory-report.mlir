// RUN: xrelay-opt -p vm --memory-report %s -o %t.out --dump-pass-pipeline 2>&1 | filecheck %s
// RUN: xrelay-opt -p vm --memory-report=json --plan-dim n=3 %s 2>/dev/null | filecheck %s --check-prefix=STDOUT
// RUN: xrelay-run --memory-report --random-seed 0 --dim n=3 %s 2>&1 | filecheck %s --check-prefix=RAN
// RUN: not xrelay-opt --plan-dim n=3 %s 2>&1 | filecheck %s --check-prefix=ALONE

// The memory report is a step right before packs are expanded, on stderr.
//
// CHECK:       ,report-memory{format="text"},expand-packs
// CHECK:       memory of @main on cpu:0
// CHECK-NEXT:    sum of tensors     32*n
//
// STDOUT-NOT:  "functions"
// STDOUT:      bytecode.func
//
// RAN:         memory of @main on cpu:0, for n = 3
// RAN:         memory of this run of @main, with the functions that it calls
// RAN-NEXT:      device  peak of the run         planned        allocations  allocated
// RAN-NEXT:      cpu:0              96 B  96 B      96 B  96 B            1       96 B
//
// ALONE:       error: --plan-dim needs --memory-report, or a target that shows memory
func.func @main(%x: tensor<?x8xf32> {relay.dims = ["n", 8]}) -> tensor<?x8xf32> {
  %y = relay.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}
