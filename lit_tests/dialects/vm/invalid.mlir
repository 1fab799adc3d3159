// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Each rule of kernel calls, shapes and views has its message, with both sides.

func.func @outs_without_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{vm.invoke_tvm_op needs one result for each of its 2 outs, but has 1}}
  %y = vm.invoke_tvm_op @f outs(%x, %x : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @result_of_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{result 0 is tensor<4xi32>, but outs 0 is tensor<4xf32>}}
  %y = vm.invoke_tvm_op @f outs(%x : tensor<4xf32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @outs_with_contents(%x: tensor<4xf32>) {
  %full = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{outs 0 must be defined by memory.alloc_tensor or be a block argument, but is defined by relay.nn.relu}}
  %y = vm.invoke_tvm_op @f outs(%full : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @no_kernel(%x: tensor<4xf32>) {
  // expected-error@+1 {{@f is not defined in the module}}
  %y = vm.invoke_tvm_op @f outs(%x : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @calls_a_function(%x: tensor<4xf32>) {
  // expected-error@+1 {{vm.invoke_tvm_op calls kernels, but @calls_a_function is a func.func}}
  %y = vm.invoke_tvm_op @calls_a_function outs(%x : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @too_few_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{@f expects 1 arguments, but got 0}}
  %y = vm.invoke_tvm_op @f outs(%x : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @too_many_results(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{@f returns 1 results, but got 2}}
  %r:2 = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @argument_of_another_type(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{argument 0 of @f must be tensor<4xf32>, but is tensor<5xf32>}}
  %r = vm.invoke_tvm_op @f ins(%y : tensor<5xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @result_that_the_kernel_lacks(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{result 0 of @f must be tensor<4xf32>, but is tensor<5xf32>}}
  %r = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%y : tensor<5xf32>) -> tensor<5xf32>
  func.return
}
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @flag_missing(%x: tensor<2xi64>, %out: tensor<2xi64>) {
  // expected-error@+1 {{is_input needs a 0 or 1 for each of 1 operands, but is ()}}
  %y = vm.shape_func @f ins(%x : tensor<2xi64>) outs(%out : tensor<2xi64>) {is_input = array<i64>} -> tensor<2xi64>
  func.return
}

// -----

func.func @flag_of_3(%x: tensor<2xi64>, %out: tensor<2xi64>) {
  // expected-error@+1 {{is_input needs a 0 or 1 for each of 1 operands, but is (3,)}}
  %y = vm.shape_func @f ins(%x : tensor<2xi64>) outs(%out : tensor<2xi64>) {is_input = array<i64: 3>} -> tensor<2xi64>
  func.return
}

// -----

func.func @shape_of_another_rank(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{the shape of tensor<?x4xf32> is a tensor<2xi64>, but is declared as tensor<3xi64>}}
  %y = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<3xi64>
  func.return
}

// -----

func.func @shape_in_i32(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{the shape of tensor<?x4xf32> is a tensor<2xi64>, but is declared as tensor<2xi32>}}
  %y = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi32>
  func.return
}

// -----

func.func @view_of_other_elements(%x: tensor<4xf32>) {
  // expected-error@+1 {{a view keeps its element type, but goes from tensor<4xf32> to tensor<4xi32>}}
  %y = vm.reshape_tensor %x : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @view_of_more(%x: tensor<4xf32>) {
  // expected-error@+1 {{a view keeps its elements, but tensor<4xf32> has 4 and tensor<2x3xf32> has 6}}
  %y = vm.reshape_tensor %x : (tensor<4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @view_of_unknown_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{a view of dynamic shape, tensor<?xf32>, needs a shape operand}}
  %y = vm.reshape_tensor %x : (tensor<4xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @view_by_floats(%x: tensor<4xf32>, %s: tensor<1xf32>) {
  // expected-error@+1 {{the shape must be a tensor<1xi64>, but is tensor<1xf32>}}
  %y = vm.reshape_tensor %x shape %s : (tensor<4xf32>, tensor<1xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @view_elsewhere(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{a view is where its data is, but goes from tensor<4xf32, #relay.device<cpu:0>> to tensor<2x2xf32, #relay.device<cuda:0>>}}
  %y = vm.reshape_tensor %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<2x2xf32, #relay.device<cuda:0>>
  func.return
}

// -----

func.func @rows_that_are_not_there(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{tensor<4x2xf32> has no rows of shape [3, 2] from 2 on}}
  %y = vm.slice_tensor %x[2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @rows_before_the_first(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{tensor<4x2xf32> has no rows of shape [3, 2] from -1 on}}
  %y = vm.slice_tensor %x[-1] : (tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @parts_of_rows(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{rows of tensor<4x2xf32> cannot be tensor<4x1xf32>}}
  %y = vm.slice_tensor %x[0] : (tensor<4x2xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @rows_of_no_axis(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{rows of tensor<4x2xf32> cannot be tensor<4x2xf32>}}
  %y = vm.slice_tensor %x[0] axis 2 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return
}

// -----

func.func @rows_that_are_apart(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{dims before axis 1 must be 1, but rows are of tensor<4x2xf32>}}
  %y = vm.slice_tensor %x[0] axis 1 : (tensor<4x2xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @rows_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{rows of tensor<f32> cannot be tensor<f32>}}
  %y = vm.slice_tensor %x[0] : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @rows_of_other_elements(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{a view keeps its element type, but goes from tensor<4x2xf32> to tensor<2x2xi32>}}
  %y = vm.slice_tensor %x[0] : (tensor<4x2xf32>) -> tensor<2x2xi32>
  func.return
}

// -----

func.func @rows_of_unknown_number(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{tensor<?x2xf32> has a dynamic dim and needs a shape operand}}
  %y = vm.slice_tensor %x[0] : (tensor<4x2xf32>) -> tensor<?x2xf32>
  func.return
}

// -----

func.func @two_types(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected a function type of 1 operands and a result}}
  %y = vm.slice_tensor %x[0] : tensor<4x2xf32>
  func.return
}

// -----

func.func @parts_of_too_many_elements(%x: tensor<4x2xf32>, %y: tensor<?xf32>) {
  // expected-error@+1 {{the parts have 16 elements, but tensor<15xf32> has 15}}
  %z = vm.join_tensors %x, %y, %x : (tensor<4x2xf32>, tensor<?xf32>, tensor<4x2xf32>) -> tensor<15xf32>
  func.return
}

// -----

func.func @parts_of_too_few_elements(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{the parts have 8 elements, but tensor<9xf32> has 9}}
  %z = vm.join_tensors %x : (tensor<4x2xf32>) -> tensor<9xf32>
  func.return
}

// -----

func.func @parts_of_other_elements(%x: tensor<4x2xf32>, %y: tensor<4x2xi32>) {
  // expected-error@+1 {{a view keeps its element type, but goes from tensor<4x2xi32> to tensor<8x2xf32>}}
  %z = vm.join_tensors %x, %y : (tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<8x2xf32>
  func.return
}

// -----

func.func @parts_of_unknown_number(%x: tensor<?xf32>) {
  // expected-error@+1 {{tensor<?xf32> has a dynamic dim and needs a shape operand}}
  %z = vm.join_tensors %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @no_parts() {
  // expected-error@+1 {{a join has at least one part}}
  %z = "vm.join_tensors"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> tensor<0xf32>
  func.return
}

// -----

func.func @turns_outside_of_a_loop(%x: tensor<4xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{has turns, but is not in a loop}}
  %y = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) {turns = array<i64: 1, 2>} -> tensor<4xf32>
  func.return
}
