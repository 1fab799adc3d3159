// RUN: xrelay-opt --verify-diagnostics --split-input-file -p lower-to-bytecode %s

// An op without an instruction is an error.

func.func @operator(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{test.op has no instruction; lower it first, or use xrelay-run --evaluate}}
  %y = "test.op"(%x) : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

// expected-error@+1 {{a value of type tensor<4xf32> has no device; run plan-devices first}}
func.func @unplanned(%x: tensor<4xf32>) {
  func.return
}

// -----

// expected-error@+1 {{@declared has no body}}
func.func private @declared()

// -----

// expected-error@+1 {{@blocks must be one block, but has 2: branch with relay.if, and loop with calls}}
func.func @blocks() {
  cf.br ^next
^next:
  func.return
}

// -----

// expected-error@+1 {{the machine has no values of type i64}}
func.func @integer(%n: i64) {
  func.return
}

// -----

// Scalars are integers of up to 64 bits.

func.func @wide(%x: tensor<1xi64, #relay.device<cpu:0>>) {
  %zero = arith.constant 0 : index
  %n = tensor.extract %x[%zero] : tensor<1xi64, #relay.device<cpu:0>>
  // expected-error@+1 {{the machine has no scalars of type i128}}
  %w = arith.extsi %n : i64 to i128
  func.return
}

// -----

func.func @bit(%x: tensor<1xi1, #relay.device<cpu:0>>) {
  %zero = arith.constant 0 : index
  %b = tensor.extract %x[%zero] : tensor<1xi1, #relay.device<cpu:0>>
  // expected-error@+1 {{arith.addi has no instruction for i1}}
  %s = arith.addi %b, %b : i1
  func.return
}

// -----

func.func @vector(%x: tensor<1xi64, #relay.device<cpu:0>>) {
  %zero = arith.constant 0 : index
  %n = tensor.extract %x[%zero] : tensor<1xi64, #relay.device<cpu:0>>
  // expected-error@+1 {{tensor.from_elements has an instruction for scalars and vectors of i64 only, not tensor<1x1xi64>}}
  %s = tensor.from_elements %n : tensor<1x1xi64>
  func.return
}

// -----

func.func @count(%x: tensor<1xi64, #relay.device<cpu:0>>) {
  %zero = arith.constant 0 : index
  %n = tensor.extract %x[%zero] : tensor<1xi64, #relay.device<cpu:0>>
  // expected-error@+1 {{1 elements do not make a value of type tensor<0x1xi64>}}
  %s = tensor.from_elements %n : tensor<0x1xi64>
  func.return
}
