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

// Floats are clamped to the bounds of the integer type, in the order of x86's maximum and minimum;
// those above an upper bound that is not a float are replaced after the conversion, as NaN is.
//
// CHECK-LABEL: @casts_floats
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: i32):
// CHECK:           %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[LOW:.*]] : f32
// CHECK-NEXT:      %[[X1:.*]] = arith.select %[[ABOVE]], %[[X]], %[[LOW]]
// CHECK:           %[[BELOW:.*]] = arith.cmpf olt, %[[X1]], %[[HIGH:.*]] : f32
// CHECK-NEXT:      %[[X2:.*]] = arith.select %[[BELOW]], %[[X1]], %[[HIGH]]
// CHECK-NEXT:      %[[I:.*]] = arith.fptosi %[[X2]] : f32 to i32
// CHECK:           %[[OVER:.*]] = arith.cmpf oge, %[[X]]
// CHECK:           %[[I1:.*]] = arith.select %[[OVER]], %{{.*}}, %[[I]]
// CHECK:           %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK:           %[[I2:.*]] = arith.select %[[NAN]], %{{.*}}, %[[I1]]
// CHECK-NEXT:      linalg.yield %[[I2]]
relay.prim_func @casts_floats(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = relay.cast %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  relay.yield %0 : tensor<4xi32>
}

// -----

// Clipped numbers are not clamped again, whatever moves or rounds them in between; NaN may be left.
//
// CHECK-LABEL: @casts_clipped_floats
// CHECK:         linalg.yield
// CHECK:         linalg.yield
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: i8):
// CHECK-NEXT:      %[[I:.*]] = arith.fptosi %[[X]] : f32 to i32
// CHECK-NEXT:      %[[B:.*]] = arith.trunci %[[I]] : i32 to i8
// CHECK-NEXT:      %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK:           arith.select %[[NAN]], %{{.*}}, %[[B]]
relay.prim_func @casts_clipped_floats(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = relay.clip %x {a_min = -128.0, a_max = 127.0} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.round %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.cast %1 {dtype = i8} : (tensor<4xf32>) -> tensor<4xi8>
  relay.yield %2 : tensor<4xi8>
}

// -----

// The maximum with 0 removes NaN, too.
//
// CHECK-LABEL: @casts_clipped_floats_to_unsigned_integers
// CHECK:         linalg.yield
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: i8):
// CHECK:           %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[ZERO:.*]] : f32
// CHECK-NEXT:      %[[X1:.*]] = arith.select %[[ABOVE]], %[[X]], %[[ZERO]]
// CHECK-NEXT:      %[[I:.*]] = arith.fptosi %[[X1]] : f32 to i32
// CHECK-NEXT:      %[[B:.*]] = arith.trunci %[[I]] : i32 to i8
// CHECK-NEXT:      linalg.yield %[[B]]
relay.prim_func @casts_clipped_floats_to_unsigned_integers(%x: tensor<4xf32>) -> tensor<4xui8> {
  %0 = relay.clip %x {a_min = 0.0, a_max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.cast %0 {dtype = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  relay.yield %1 : tensor<4xui8>
}

// -----

// A range that reaches beyond the type is clamped.
//
// CHECK-LABEL: @casts_floats_clipped_too_wide
// CHECK:         linalg.yield
// CHECK:           arith.cmpf olt
// CHECK-NEXT:      arith.select
// CHECK-NEXT:      arith.fptosi
relay.prim_func @casts_floats_clipped_too_wide(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = relay.clip %x {a_min = -128.0, a_max = 128.0} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.cast %0 {dtype = i8} : (tensor<4xf32>) -> tensor<4xi8>
  relay.yield %1 : tensor<4xi8>
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

// -----

// Elements that only move are as small as they were.
//
// CHECK-LABEL: @moved
// CHECK:         %[[I:.*]] = arith.fptosi %{{.*}} : f32 to i32
// CHECK-NEXT:    arith.trunci %[[I]] : i32 to i8
relay.prim_func @moved(%x: tensor<2x3xf32>) -> tensor<3x2xi8> {
  %0 = relay.clip %x {a_min = -128.0, a_max = 127.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = relay.cast %1 {dtype = i8} : (tensor<3x2xf32>) -> tensor<3x2xi8>
  relay.yield %2 : tensor<3x2xi8>
}
