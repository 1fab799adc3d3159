// RUN: xrelay-opt --verify-diagnostics --split-input-file -p verify-memory-plan %s

// Both branches may use the same bytes.

func.func @exclusive(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
    %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
    relay.yield %a : tensor<16xf32>
  } else {
    %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
    relay.yield %b : tensor<16xf32>
  }
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// What a branch overwrites is not read after it.

func.func @overwritten(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  relay.if %c : tensor<i1> {
    // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
    %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
    "test.op"(%b) : (tensor<16xf32>) -> ()
    relay.yield
  } else {
    relay.yield
  }
  // expected-note@+1 {{it is used here}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// The other branch may read it.

func.func @other(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  relay.if %c : tensor<i1> {
    %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
    "test.op"(%b) : (tensor<16xf32>) -> ()
    relay.yield
  } else {
    "test.op"(%a) : (tensor<16xf32>) -> ()
    relay.yield
  }
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A branch may kill what the other one yields.

func.func @handed_over(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
    relay.yield %a : tensor<16xf32>
  } else {
    memory.kill %a : tensor<16xf32>
    relay.yield %x : tensor<16xf32>
  }
  "test.op"(%r) : (tensor<16xf32>) -> ()
  memory.kill %r : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// The result of a choice is a name of what each branch yields.

func.func @result(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-note@+1 {{bytes [0, 64) are written here}}
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
    relay.yield %a : tensor<16xf32>
  } else {
    relay.yield %x : tensor<16xf32>
  }
  %u = memory.alloc_tensor %s[0] : tensor<16xf32>
  // expected-error@+1 {{vm.invoke_tvm_op writes bytes of a live tensor: bytes }}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  // expected-note@+1 {{it is used here}}
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A kill of the result ends them too.

func.func @kill(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
    relay.yield %a : tensor<16xf32>
  } else {
    relay.yield %x : tensor<16xf32>
  }
  // expected-note@+1 {{they are killed here}}
  memory.kill %r : tensor<16xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Bytes that a branch kills are not used after it.

func.func @killed_in_an_arm(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  relay.if %c : tensor<i1> {
    relay.yield
  } else {
    // expected-note@+1 {{they are killed here}}
    memory.kill %a : tensor<16xf32>
    relay.yield
  }
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%a) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Bytes that a branch kills are not killed after it.

func.func @twice(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  relay.if %c : tensor<i1> {
    // expected-note@+1 {{they are killed here before}}
    memory.kill %a : tensor<16xf32>
    relay.yield
  } else {
    relay.yield
  }
  // expected-error@+1 {{the bytes are killed twice}}
  memory.kill %a : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// A tensor is written once on a path, in each branch or after both.

func.func @once(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<16xf32>) {
    %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
    relay.yield %a : tensor<16xf32>
  } else {
    %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
    relay.yield %b : tensor<16xf32>
  }
  "test.op"(%r) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// It is not written in a branch and after it.

func.func @written_twice(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  relay.if %c : tensor<i1> {
    // expected-note@+1 {{it is written here}}
    %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
    relay.yield
  } else {
    relay.yield
  }
  // expected-error@+1 {{vm.invoke_tvm_op writes a tensor that is written before on this path}}
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Two results that swap values share no bytes.

func.func @swapped(%c: tensor<i1>, %x: tensor<16xf32>) {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %z = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<16xf32>
  %u = memory.alloc_tensor %z[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %b = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
  %r, %q = relay.if %c : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    relay.yield %a, %b : tensor<16xf32>, tensor<16xf32>
  } else {
    relay.yield %b, %a : tensor<16xf32>, tensor<16xf32>
  }
  memory.kill %r : tensor<16xf32>
  "test.op"(%q) : (tensor<16xf32>) -> ()
  memory.kill %q : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Nor do results of which an inner choice decides what they are.

func.func @decided_inside(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<16xf32>) {
  %sa = memory.alloc_storage 64 align 64 : !memory.storage
  %ta = memory.alloc_tensor %sa[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%ta : tensor<16xf32>) -> tensor<16xf32>
  %r, %q = relay.if %c : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    %k0 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k0, %a : tensor<16xf32>, tensor<16xf32>
  } else {
    %i = relay.if %d : tensor<i1> -> (tensor<16xf32>) {
      %k1 = relay.constant dense<0.5> : tensor<16xf32>
      relay.yield %k1 : tensor<16xf32>
    } else {
      relay.yield %a : tensor<16xf32>
    }
    %k2 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %i, %k2 : tensor<16xf32>, tensor<16xf32>
  }
  memory.kill %r : tensor<16xf32>
  "test.op"(%q) : (tensor<16xf32>) -> ()
  memory.kill %q : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Nor if a choice before decides it.

func.func @decided_before(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<16xf32>) {
  %sa = memory.alloc_storage 64 align 64 : !memory.storage
  %ta = memory.alloc_tensor %sa[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%ta : tensor<16xf32>) -> tensor<16xf32>
  %i = relay.if %d : tensor<i1> -> (tensor<16xf32>) {
    %k0 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k0 : tensor<16xf32>
  } else {
    relay.yield %a : tensor<16xf32>
  }
  "test.op"(%a) : (tensor<16xf32>) -> ()
  %r, %q = relay.if %c : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    %k1 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %i, %k1 : tensor<16xf32>, tensor<16xf32>
  } else {
    %k2 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k2, %a : tensor<16xf32>, tensor<16xf32>
  }
  memory.kill %r : tensor<16xf32>
  "test.op"(%q) : (tensor<16xf32>) -> ()
  memory.kill %q : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Nor if an inner choice kills the bytes, or yields them.

func.func @killed_inside(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<16xf32>) {
  %sa = memory.alloc_storage 64 align 64 : !memory.storage
  %ta = memory.alloc_tensor %sa[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%ta : tensor<16xf32>) -> tensor<16xf32>
  %r, %q = relay.if %c : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    %k0 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %a, %k0 : tensor<16xf32>, tensor<16xf32>
  } else {
    %i = relay.if %d : tensor<i1> -> (tensor<16xf32>) {
      relay.yield %a : tensor<16xf32>
    } else {
      memory.kill %a : tensor<16xf32>
      %k1 = relay.constant dense<0.5> : tensor<16xf32>
      relay.yield %k1 : tensor<16xf32>
    }
    %k2 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k2, %i : tensor<16xf32>, tensor<16xf32>
  }
  memory.kill %r : tensor<16xf32>
  "test.op"(%q) : (tensor<16xf32>) -> ()
  memory.kill %q : tensor<16xf32>
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// They may share them through the result of an inner choice, whatever the other region kills.

func.func @shared_through_inner(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<16xf32>) {
  %sa = memory.alloc_storage 64 align 64 : !memory.storage
  %ta = memory.alloc_tensor %sa[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%ta : tensor<16xf32>) -> tensor<16xf32>
  %r, %q = relay.if %c : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    %i = relay.if %d : tensor<i1> -> (tensor<16xf32>) {
      relay.yield %a : tensor<16xf32>
    } else {
      %k0 = relay.constant dense<0.5> : tensor<16xf32>
      relay.yield %k0 : tensor<16xf32>
    }
    relay.yield %a, %i : tensor<16xf32>, tensor<16xf32>
  } else {
    memory.kill %a : tensor<16xf32>
    %k1 = relay.constant dense<0.5> : tensor<16xf32>
    %k2 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k1, %k2 : tensor<16xf32>, tensor<16xf32>
  }
  // expected-note@+1 {{they are killed here}}
  memory.kill %r : tensor<16xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%q) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Or through the result of a choice before.

func.func @shared_through_earlier(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<16xf32>) {
  %sa = memory.alloc_storage 64 align 64 : !memory.storage
  %ta = memory.alloc_tensor %sa[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%ta : tensor<16xf32>) -> tensor<16xf32>
  %i = relay.if %d : tensor<i1> -> (tensor<16xf32>) {
    relay.yield %a : tensor<16xf32>
  } else {
    %k0 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k0 : tensor<16xf32>
  }
  %r, %q = relay.if %c : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    relay.yield %a, %i : tensor<16xf32>, tensor<16xf32>
  } else {
    memory.kill %a : tensor<16xf32>
    %k1 = relay.constant dense<0.5> : tensor<16xf32>
    %k2 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k1, %k2 : tensor<16xf32>, tensor<16xf32>
  }
  // expected-note@+1 {{they are killed here}}
  memory.kill %r : tensor<16xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%q) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}

// -----

// Or through two results of an inner choice.

func.func @shared_through_both(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<16xf32>) {
  %sa = memory.alloc_storage 64 align 64 : !memory.storage
  %ta = memory.alloc_tensor %sa[0] : tensor<16xf32>
  %a = vm.invoke_tvm_op @f ins(%x : tensor<16xf32>) outs(%ta : tensor<16xf32>) -> tensor<16xf32>
  %r, %q = relay.if %c : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
    %i, %j = relay.if %d : tensor<i1> -> (tensor<16xf32>, tensor<16xf32>) {
      relay.yield %a, %a : tensor<16xf32>, tensor<16xf32>
    } else {
      memory.kill %a : tensor<16xf32>
      %k0 = relay.constant dense<0.5> : tensor<16xf32>
      %k1 = relay.constant dense<0.5> : tensor<16xf32>
      relay.yield %k0, %k1 : tensor<16xf32>, tensor<16xf32>
    }
    relay.yield %i, %j : tensor<16xf32>, tensor<16xf32>
  } else {
    memory.kill %a : tensor<16xf32>
    %k2 = relay.constant dense<0.5> : tensor<16xf32>
    %k3 = relay.constant dense<0.5> : tensor<16xf32>
    relay.yield %k2, %k3 : tensor<16xf32>, tensor<16xf32>
  }
  // expected-note@+1 {{they are killed here}}
  memory.kill %r : tensor<16xf32>
  // expected-error@+1 {{test.op uses bytes that are killed before it}}
  "test.op"(%q) : (tensor<16xf32>) -> ()
  func.return
}

relay.prim_func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = relay.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  relay.yield %y : tensor<16xf32>
}
