// RUN: xrelay-opt %s -p 'vm{memory=none}' --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=NONE
// RUN: xrelay-opt %s -p 'vm{memory=coalesce}' --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=COALESCE
// RUN: xrelay-opt %s -p 'vm{memory=plan}' --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=PLAN
// RUN: xrelay-opt %s -p vm --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=PLAN
// RUN: xrelay-opt %s -p 'vm{entries=f}' --dump-pass-pipeline -o %t.out 2>&1 | filecheck %s --check-prefix=ENTRIES
// RUN: xrelay-opt %s -p 'cse,vm{memory=none}' --print-ir-after='vm{memory=none}' -o %t.out 2>&1 | filecheck %s --check-prefix=DUMPS
// RUN: not xrelay-opt %s -p 'cse,vm{reorder peak=12XB}' 2>&1 | filecheck %s --check-prefix=VALUE

// A pipeline has options like a pass; those of its passes are in what it stands for.
//
// NONE:      verify-stage{stage="manifest"},manifest-lifetimes,verify-stage{stage="memory-planned"},expand-packs,verify-stage{stage="expanded"}
// COALESCE:  coalesce-storage,layout-slices{strategy="auto" dynamic="symbolic" peak=""},manifest-lifetimes,verify-memory-plan,
// PLAN:      verify-stage{stage="manifest"},forward-copies,reuse-in-place,join-tensors{{.*}},plan-memory{{.*}},verify-stage{stage="memory-planned"}
// ENTRIES:   remove-unused-functions{entries="f"},
// ENTRIES:   plan-memory{{.*}}entries="f"{{.*}},verify-stage{stage="memory-planned"}
// DUMPS-NOT: IR Dump After cse
// DUMPS:     IR Dump After manifest-lifetimes

// A value that a pass of it cannot use is an error at the option.
//
// VALUE:       pipeline:1:16: error: peak must be bytes, such as 256KiB, but is '12XB'
// VALUE-NEXT:  cse,vm{reorder peak=12XB}
// VALUE-NEXT:                 ^^^^
func.func @f(%a: tensor<f32>) -> tensor<f32> {
  func.return %a : tensor<f32>
}
