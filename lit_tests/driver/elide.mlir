// RUN: xrelay-opt %s --mlir-elide-elementsattrs-if-larger=4 | filecheck %s
// RUN: xrelay-opt %s -p cse --print-ir-after-all --elide-elementsattrs-if-larger=4 -o %t.out 2>&1 | filecheck %s

// Constants with more elements than the bound are printed without them; splats are short.
//
// CHECK: "test.op"() {value = dense<[1, 2, 3, 4]> : tensor<4xi32>}
// CHECK: "test.op"() {value = dense_resource<__elided__> : tensor<5xi32>}
// CHECK: "test.op"() {value = dense<7> : tensor<5xi32>}
"test.op"() {value = dense<[1, 2, 3, 4]> : tensor<4xi32>} : () -> ()
"test.op"() {value = dense<[1, 2, 3, 4, 5]> : tensor<5xi32>} : () -> ()
"test.op"() {value = dense<7> : tensor<5xi32>} : () -> ()
