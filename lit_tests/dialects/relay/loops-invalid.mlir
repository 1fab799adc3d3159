// RUN: xrelay-opt --split-input-file --verify-diagnostics %s

func.func @no_end(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{relay.loop needs a relay.end_loop after it in its block}}
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

func.func @no_start(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{relay.end_loop needs a relay.loop before it in its block}}
  %a = relay.end_loop %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

func.func @never(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{count must be at least 1, but is 0}}
  %a = relay.loop %x {count = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.end_loop %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

func.func @other_types(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{relay.loop and relay.end_loop have different types}}
  %a = relay.loop %x {count = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.end_loop %y : (tensor<2xf32>) -> tensor<2xf32>
  func.return %b : tensor<2xf32>
}

// -----

// Values of the last turn leave a loop through its end alone.
func.func @leaves(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{func.return uses a value of a loop that it does not return}}
  %c = relay.end_loop %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

// In the last of five turns, rows 2 + 3 * 4 and the one after it are read.
func.func @outside(%x: tensor<15x4xf32>) -> tensor<15x4xf32> {
  %a = relay.loop %x {count = 5 : i64} : (tensor<15x4xf32>) -> tensor<15x4xf32>
  // expected-error@+1 {{rows 2 to 16 along axis 0 are not in tensor<15x4xf32>}}
  %r = relay.read_rows %x {axis = 0 : i64, start = 2 : i64, step = 3 : i64} : (tensor<15x4xf32>) -> tensor<2x4xf32>
  %b = relay.end_loop %a : (tensor<15x4xf32>) -> tensor<15x4xf32>
  func.return %b : tensor<15x4xf32>
}

// -----

func.func @used_again(%x: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %a = relay.zeros {shape = array<i64: 4, 4>, dtype = f32} : tensor<4x4xf32>
  // expected-error@+1 {{relay.exp uses the target after it was written over}}
  %b = relay.write_rows %x, %a {axis = 0 : i64, count = 2 : i64, start = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.exp %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %c : tensor<4x4xf32>
}

// -----

func.func @of_the_caller(%x: tensor<2x4xf32>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{the target must be a tensor that an op computed}}
  %b = relay.write_rows %x, %a {axis = 0 : i64, count = 2 : i64, start = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %b : tensor<4x4xf32>
}

// -----

func.func @without_fill(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{rows that tensor<?x4xf32> does not have need a value to fill them with}}
  %r = relay.read_rows %x {axis = 0 : i64, start = 2 : i64} : (tensor<?x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// -----

func.func @other_fill(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %z = relay.constant dense<0> : tensor<i32>
  // expected-error@+1 {{an element of tensor<?x4xf32> cannot be tensor<i32>}}
  %r = relay.read_rows %x fill %z : tensor<i32> {axis = 0 : i64, start = 2 : i64} : (tensor<?x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// -----

func.func @other_width(%x: tensor<2x?xf32>, %z: tensor<f32>) -> tensor<1x4xf32> {
  // expected-error@+1 {{tensor<1x4xf32> cannot be rows of tensor<2x?xf32>}}
  %r = relay.read_rows %x {axis = 0 : i64, start = 1 : i64} : (tensor<2x?xf32>) -> tensor<1x4xf32>
  func.return %r : tensor<1x4xf32>
}

// -----

func.func @other_rank(%x: tensor<2x4xf32>, %z: tensor<f32>, %s: tensor<3xi64>) -> tensor<2x4xf32> {
  %y = relay.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{shape must be tensor<2xi64>, but is tensor<3xi64>}}
  %r = relay.fill_rows %y, %z, %s {axis = 0 : i64, start = 1 : i64} : (tensor<2x4xf32>, tensor<f32>, tensor<3xi64>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// -----

func.func @backwards(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{step must be at least 1, but is 0}}
  %a = relay.loop %x {step = 0 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relay.end_loop %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %b : tensor<?x4xf32>
}

// -----

func.func @other_rows(%x: tensor<8x4xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{tensor<2x3xf32> cannot be rows of tensor<8x4xf32>}}
  %r = relay.read_rows %x {axis = 0 : i64, start = 2 : i64} : (tensor<8x4xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// -----

// In the third turn, rows 4 and 5 of a ring of five are not beside each other.
func.func @across_the_end(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %a = relay.loop %x {count = 5 : i64} : (tensor<5x4xf32>) -> tensor<5x4xf32>
  // expected-error@+1 {{rows 0 to 6 along axis 0 are not in tensor<5x4xf32>}}
  %r = relay.read_rows %x {axis = 0 : i64, start = 0 : i64, step = 2 : i64, wraps} : (tensor<5x4xf32>) -> tensor<2x4xf32>
  %b = relay.end_loop %a : (tensor<5x4xf32>) -> tensor<5x4xf32>
  func.return %b : tensor<5x4xf32>
}

// -----

func.func @fill_of_open_rows(%x: tensor<?x4xf32>, %z: tensor<f32>, %s: tensor<2xi64>) -> tensor<?x4xf32> {
  %y = relay.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-error@+1 {{the number of rows of tensor<?x4xf32> must be known here}}
  %r = relay.fill_rows %y, %z, %s {axis = 0 : i64, start = 1 : i64} : (tensor<?x4xf32>, tensor<f32>, tensor<2xi64>) -> tensor<?x4xf32>
  func.return %r : tensor<?x4xf32>
}

// -----

func.func @write_of_open_rows(%x: tensor<?x4xf32>, %y: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %t = relay.exp %y : (tensor<9x4xf32>) -> tensor<9x4xf32>
  // expected-error@+1 {{the number of rows of tensor<?x4xf32> must be known here}}
  %r = relay.write_rows %x, %t {axis = 0 : i64, count = 8 : i64, source = 5 : i64, start = 0 : i64} : (tensor<?x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  func.return %r : tensor<9x4xf32>
}

// -----

func.func @ring_of_open_rows(%x: tensor<?x4xf32>, %z: tensor<f32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{the number of rows of tensor<?x4xf32> must be known here}}
  %r = relay.read_rows %x fill %z : tensor<f32> {axis = 0 : i64, start = 1 : i64, wraps} : (tensor<?x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// -----

func.func @without_end(%x: tensor<1x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = relay.loop %y : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-error@+1 {{rows move without end in a loop of an open number of turns}}
  %r = relay.read_rows %x {axis = 0 : i64, start = 0 : i64, step = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %b = relay.end_loop %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %b : tensor<?x4xf32>
}

// -----

func.func @far(%y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{start must be less than 2^31, but is -9223372036854775808}}
  %a = relay.loop %y {start = -9223372036854775808 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relay.end_loop %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %b : tensor<?x4xf32>
}

// -----

func.func @other_axis(%y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{axis must be 0 to 1, but is 7}}
  %a = relay.loop %y {axis = 7 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relay.end_loop %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %b : tensor<?x4xf32>
}

// -----

// Many turns are not looked at one by one.
func.func @endless(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %a = relay.loop %x {count = 4611686018427387904 : i64} : (tensor<9x4xf32>) -> tensor<9x4xf32>
  // expected-error@+1 {{rows 0 to 9223372036854775807 along axis 0 are not in tensor<9x4xf32>}}
  %r = relay.read_rows %x {axis = 0 : i64, start = 0 : i64, step = 2 : i64} : (tensor<9x4xf32>) -> tensor<1x4xf32>
  %b = relay.end_loop %a : (tensor<9x4xf32>) -> tensor<9x4xf32>
  func.return %b : tensor<9x4xf32>
}

// -----

func.func @far_fill(%x: tensor<2x4xf32>, %z: tensor<f32>, %s: tensor<2xi64>) -> tensor<2x4xf32> {
  %y = relay.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{start must be less than 2^31, but is 9223372036854775807}}
  %r = relay.fill_rows %y, %z, %s {axis = 0 : i64, start = 9223372036854775807 : i64} : (tensor<2x4xf32>, tensor<f32>, tensor<2xi64>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// -----

func.func @wraps_and_clips(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = relay.exp %y : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{rows that wrap are all there, and cannot be clipped or filled}}
  %r = relay.write_rows %x, %t {axis = 0 : i64, count = 2 : i64, start = 0 : i64, wraps, clips} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %r : tensor<8x4xf32>
}

// -----

func.func @wraps_and_fills(%x: tensor<8x4xf32>, %z: tensor<f32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{rows that wrap are all there, and cannot be clipped or filled}}
  %r = relay.read_rows %x fill %z : tensor<f32> {axis = 0 : i64, start = 0 : i64, wraps} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// -----

// Rows of what is copied are there: those of the target alone are clipped.
func.func @outside_of_data(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = relay.exp %y : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{rows 0 to 3 along axis 0 are not in tensor<2x4xf32>}}
  %r = relay.write_rows %x, %t {axis = 0 : i64, count = 3 : i64, start = -1 : i64, clips} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %r : tensor<8x4xf32>
}

// -----

func.func @not_clipped(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = relay.exp %y : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{rows -1 to 1 along axis 0 are not in tensor<8x4xf32>}}
  %r = relay.write_rows %x, %t {axis = 0 : i64, count = 2 : i64, start = -1 : i64} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %r : tensor<8x4xf32>
}

// -----

func.func @negative_count(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = relay.exp %y : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{rows 0 to -1 along axis 0 are not in tensor<2x4xf32>}}
  %r = relay.write_rows %x, %t {axis = 0 : i64, count = -1 : i64, start = 0 : i64, clips} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %r : tensor<8x4xf32>
}

// -----

func.func @far_clip(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = relay.exp %y : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{step must be less than 2^31, but is 4294967296}}
  %r = relay.write_rows %x, %t {axis = 0 : i64, count = 1 : i64, start = 0 : i64, step = 4294967296 : i64, clips} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %r : tensor<8x4xf32>
}

// -----

func.func @turns_no_turn(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are array<i64: 2, 2>}}
  %b = relay.exp %a {relay.turns = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_backward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are array<i64: 3, 1>}}
  %b = relay.exp %a {relay.turns = array<i64: 3, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_early(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are array<i64: -1, 2>}}
  %b = relay.exp %a {relay.turns = array<i64: -1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_late(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are array<i64: 1, 5>}}
  %b = relay.exp %a {relay.turns = array<i64: 1, 5>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_one_number(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are array<i64: 1>}}
  %b = relay.exp %a {relay.turns = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_other_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are array<i32: 1, 2>}}
  %b = relay.exp %a {relay.turns = array<i32: 1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_no_array(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are "all"}}
  %b = relay.exp %a {relay.turns = "all"} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'relay.exp' op has turns, but is not in a loop}}
  %b = relay.exp %a {relay.turns = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

func.func @turns_of_open_loop(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = relay.loop %x  : (tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop, but are array<i64: 5, 5>}}
  %b = relay.exp %a {relay.turns = array<i64: 5, 5>} : (tensor<?xf32>) -> tensor<?xf32>
  %c = relay.end_loop %b : (tensor<?xf32>) -> tensor<?xf32>
  func.return %c : tensor<?xf32>
}

// -----

func.func @turns_of_a_primitive(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has turns, but is not in a loop}}
  %b = relay.primitive(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {turns = array<i64: 0, 1>} {
    %0 = relay.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  func.return %b : tensor<4xf32>
}

// -----

func.func @turns_of_a_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.loop %x {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{turns must be [first, stop], 0 <= first < stop <= 4, but are array<i64: 0, 9>}}
  %b = relay.call_lowered @exp(%a) {turns = array<i64: 0, 9>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
