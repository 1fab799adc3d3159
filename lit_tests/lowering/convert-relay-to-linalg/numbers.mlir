// RUN: xrelay-opt --split-input-file -p convert-relay-to-linalg %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p convert-relay-to-linalg,convert-memory-to-memref %s | mlir-opt --split-input-file -o /dev/null

// A divisor of 0, or of -1 under the least integer, is replaced before the division.
//
// CHECK-LABEL: @divides_integers
// CHECK:         ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %{{.*}}: i8):
// CHECK:           %[[ZERO:.*]] = arith.cmpi eq, %[[Y]]
// CHECK:           %[[LEAST:.*]] = arith.cmpi eq, %[[X]], %{{.*}} : i8
// CHECK:           %[[MINUS:.*]] = arith.cmpi eq, %[[Y]]
// CHECK:           %[[OVERFLOW:.*]] = arith.andi %[[LEAST]], %[[MINUS]]
// CHECK:           %[[UNSAFE:.*]] = arith.ori %[[ZERO]], %[[OVERFLOW]]
// CHECK:           %[[DIVISOR:.*]] = arith.select %[[UNSAFE]]
// CHECK:           arith.divsi %[[X]], %[[DIVISOR]]
relay.prim_func @divides_integers(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %0 = relay.divide %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  relay.yield %0 : tensor<4xi8>
}

// -----

// Only floats in the range of the integer type are converted.
//
// CHECK-LABEL: @casts_floats
// CHECK:           arith.cmpf oge
// CHECK:           arith.cmpf olt
// CHECK:           %[[FITS:.*]] = arith.andi
// CHECK:           %[[SAFE:.*]] = arith.select %[[FITS]]
// CHECK:           %[[INSIDE:.*]] = arith.fptosi %[[SAFE]] : f32 to i32
// CHECK:           arith.select %[[FITS]], %[[INSIDE]]
relay.prim_func @casts_floats(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = relay.cast %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  relay.yield %0 : tensor<4xi32>
}

// -----

// The transcendental functions of f16 are computed in f32, and rounded once.
//
// CHECK-LABEL: @widens
// CHECK:           %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[W]] : f32
// CHECK-NEXT:      arith.truncf %[[E]] : f32 to f16
relay.prim_func @widens(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = relay.exp %x : (tensor<4xf16>) -> tensor<4xf16>
  relay.yield %0 : tensor<4xf16>
}

// -----

// A remainder of floats is an op that xDSL lacks.
//
// CHECK-LABEL: @takes_a_remainder
// CHECK:           arith.remf %{{.*}}, %{{.*}} : f32
relay.prim_func @takes_a_remainder(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.mod %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// An integer power is a loop over the bits of the exponent.
//
// CHECK-LABEL: @raises
// CHECK:           scf.for
// CHECK:             arith.muli
// CHECK:             arith.shrui
// CHECK:             scf.yield
relay.prim_func @raises(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = relay.power %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  relay.yield %0 : tensor<4xi32>
}

// -----

// A selection compares nothing and converts nothing.
//
// CHECK-LABEL: @selects
// CHECK:         ^bb0(%[[C:.*]]: i1, %[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[R:.*]] = arith.select %[[C]], %[[X]], %[[Y]] : f32
// CHECK-NEXT:      linalg.yield %[[R]]
relay.prim_func @selects(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  %0 = relay.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
