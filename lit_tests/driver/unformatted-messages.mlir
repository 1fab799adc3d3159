// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Messages that xDSL does not format have values, not placeholders.

// expected-error@+1 {{Expected suffix identifier after %}}
func.func @f(%x: i32, % : i32) {
  func.return
}

// -----

// expected-error@+1 {{Expected suffix identifier after #}}
#

// -----

%0 = "test.op"() : () -> !riscv.reg
// expected-error@+1 {{incorrect length for input_widths. Expected 1, found 2.}}
%1 = "riscv.parallel_mov"(%0) {input_widths = array<i32: 32, 32>} : (!riscv.reg) -> !riscv.reg
