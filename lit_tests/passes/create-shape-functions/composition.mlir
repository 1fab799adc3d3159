// RUN: xrelay-opt --split-input-file -p create-shape-functions %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p create-shape-functions,create-shape-functions %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p create-shape-functions --print-debuginfo %s | filecheck %s --check-prefix=LOC

// The rules of a kernel's operators are composed in order; equal sizes are computed once, and a dim
// that only the declared type knows is required.
//
// CHECK-LABEL: relay.prim_func @composed
// CHECK:       relay.shape_func @shape_func_concatenate_concatenate(%a_shape: tensor<1xi64>) -> tensor<1xi64> {
// CHECK:         %[[A:.*]] = tensor.extract %a_shape[%i0]
// CHECK:         %[[AA:.*]] = arith.addi %[[A]], %[[A]]
// CHECK:         %[[AAAA:.*]] = arith.addi %[[AA]], %[[AA]]
// CHECK:         tensor.from_elements %[[AAAA]]
relay.prim_func @composed(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.concatenate %a, %a {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = relay.concatenate %0, %0 {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.yield %1 : tensor<?xf32>
}

// -----

// CHECK-LABEL: relay.prim_func @declared
// CHECK:         %[[A:.*]] = tensor.extract %a_shape[%i1]
// CHECK:         relay.require eq %[[A]], %c3, "relay.exp of tensor<{2}x{0}xf32>: dim 1 of result 0 is {0}, but is declared as {1}"(%{{.*}})
// CHECK:         tensor.from_elements %{{.*}}, %c3
relay.prim_func @declared(%a: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %0 = relay.exp %a : (tensor<?x?xf32>) -> tensor<?x3xf32>
  relay.yield %0 : tensor<?x3xf32>
}

// -----

// Constants in the kernel are known, sizes or not.
//
// CHECK-LABEL: relay.prim_func @constants
// CHECK:       relay.shape_func @shape_func_arange(%n: tensor<f32>) -> tensor<1xi64> {
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %n[] : tensor<f32>
// CHECK-DAG:     %[[A:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-DAG:     %[[B:.*]] = arith.constant 2.000000e+00 : f64
// CHECK:         relay.measure "arange_length"(%[[A]], %[[N]], %[[B]]) : (f64, f32, f64) -> i64
relay.prim_func @constants(%n: tensor<f32>) -> tensor<?xf32> {
  %a = relay.constant dense<0.5> : tensor<f32>
  %b = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.arange %a, %n, %b {dtype = f32} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}

// -----

// Equal shape functions are shared, also with one that the module has; a kernel keeps its own.
//
// CHECK-LABEL: relay.prim_func @exp
// CHECK-SAME:    shape_func = @mine
// CHECK:       relay.prim_func @tanh
// CHECK-SAME:    shape_func = @mine
// CHECK:       relay.prim_func @own
// CHECK-SAME:    shape_func = @other
// CHECK:       relay.prim_func @matrix
// CHECK-SAME:    shape_func = @shape_func_exp
// CHECK:       relay.shape_func @mine
// CHECK:       relay.shape_func @other
// CHECK:       relay.shape_func @shape_func_exp(%x_shape: tensor<2xi64>)
// CHECK-NOT:   relay.shape_func
// CHECK:       {{^}}// -----
relay.prim_func @exp(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.prim_func @tanh(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.tanh %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.prim_func @own(%x: tensor<?xf32>) -> tensor<?xf32> attributes {shape_func = @other, shape_inputs = array<i64: 2>} {
  %0 = relay.tanh %x : (tensor<?xf32>) -> tensor<?xf32>
  relay.yield %0 : tensor<?xf32>
}
relay.prim_func @matrix(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = relay.exp %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  relay.yield %0 : tensor<?x?xf32>
}
relay.shape_func @mine(%s: tensor<1xi64>) -> tensor<1xi64> {
  relay.yield %s : tensor<1xi64>
}
relay.shape_func @other(%s: tensor<1xi64>) -> tensor<1xi64> {
  %i0 = arith.constant 0 : index
  %n = tensor.extract %s[%i0] : tensor<1xi64>
  %t = tensor.from_elements %n : tensor<1xi64>
  relay.yield %t : tensor<1xi64>
}

// -----

// A check is at the operator that makes it, the function where its kernel is.
//
// LOC-LABEL: relay.prim_func @locations
// LOC:         relay.require broadcast {{.*}} loc("m.py":8:3)
// LOC:       } loc("m.py":7:1)
relay.prim_func @locations(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %a : (tensor<?xf32>) -> tensor<?xf32> loc("m.py":7:3)
  %1 = relay.add %0, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc("m.py":8:3)
  relay.yield %1 : tensor<?xf32>
} loc("m.py":7:1)
