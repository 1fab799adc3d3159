// RUN: xrelay-opt --disable-verify --verify-diagnostics --split-input-file -p make-kernels %s

// A kernel is not a function.
func.func @two_kinds(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{@f is called as a kernel here, but used as a function elsewhere}}
  %y = relay.call_lowered @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{used as a function here}}
  %z = func.call @f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
func.func @f(%p: tensor<4xf32>) -> tensor<4xf32> {
  func.return %p : tensor<4xf32>
}

// -----

// A kernel has one type: unknown dims are not known ones.
func.func @other_type(%x: tensor<?xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{argument 0 of the kernel @f must be of type tensor<4xf32>, but is of type tensor<?xf32>: a kernel has exactly one type}}
  %y = relay.call_lowered @f(%x) : (tensor<?xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @f(%p: tensor<4xf32>) -> tensor<4xf32> {
  func.return %p : tensor<4xf32>
}

// -----

// It takes as many tensors as its parameters have.
func.func @other_count(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{kernel @f has 2 tensor arguments, but the call has 1}}
  %y = relay.call_lowered @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @f(%p: tensor<4xf32>, %q: tensor<4xf32>) -> tensor<4xf32> {
  func.return %p : tensor<4xf32>
}

// -----

// Parameters are made of tensors.
func.func @parameter(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.call_lowered @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @f(%p: tuple<!relay.ref<tensor<4xf32>>>, %q: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{a kernel accepts and returns tensors only, but parameter %p.0 is of type !relay.ref<tensor<4xf32>>}}
  func.return %q : tensor<4xf32>
}

// -----

// And so are results.
func.func @result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.call_lowered @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @f(%q: tensor<4xf32>) -> !relay.ref<tensor<4xf32>> {
  %r = relay.ref_create %q : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  // expected-error@+1 {{a kernel accepts and returns tensors only, but its result is of type !relay.ref<tensor<4xf32>>}}
  func.return %r : !relay.ref<tensor<4xf32>>
}

// -----

// A kernel runs on the device of its caller.
func.func @device(%x: tensor<4xf32>, %s: !memory.storage) -> tensor<4xf32> {
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// expected-error@+1 {{@f is a kernel, which runs on the device of its caller: its virtual_devices may only have a memory scope}}
func.func @f(%p: tensor<4xf32> {relay.device = #relay.device<cuda:0>}) -> tensor<4xf32> {
  func.return %p : tensor<4xf32>
}
