// RUN: xrelay-opt --verify-diagnostics --split-input-file -p 'verify-stage{stage=planned}' %s

// At `planned` types are complete, values have devices, and no hints are left.

func.func @fine(%x: tensor<4xf32, #relay.device<cpu:0>>, %n: i64) {
  %y = relay.exp %x : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  %z = relay.primitive(%a = %x : tensor<4xf32, #relay.device<cpu:0>>) -> (tensor<4xf32, #relay.device<cpu:0>>) {
    %c = relay.constant dense<1.0> : tensor<f32>
    %0 = relay.exp %a : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
    relay.yield %0 : tensor<4xf32, #relay.device<cpu:0>>
  }
  func.return
}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  relay.yield %a : tensor<4xf32>
}

// -----

func.func @incomplete(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{relay.exp is left at stage planned: its type is incomplete: infer-types should have filled it in}}
  %y = relay.exp %x : (tensor<4xf32, #relay.device<cpu:0>>) -> !relay.incomplete
  func.return
}

// -----

func.func @hint(%x: tensor<4xf32, #relay.device<cpu:0>>) {
  // expected-error@+1 {{relay.on_device is left at stage planned: plan-devices should have turned it into a copy or removed it}}
  %y = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32, #relay.device<cpu:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

// expected-error@+1 {{func.func is left at stage planned: it has a value of type tensor<4xf32>: plan-devices should have given it a device}}
func.func @parameter(%x: tensor<4xf32>) {
  func.return
}

// -----

func.func @in_a_tuple() {
  // expected-error@+1 {{test.op is left at stage planned: it has a value of type tuple<tensor<4xf32, #relay.device<cpu:0>>, tensor<f32>>: plan-devices should have given it a device}}
  "test.op"() : () -> tuple<tensor<4xf32, #relay.device<cpu:0>>, tensor<f32>>
  func.return
}

// -----

func.func @in_a_branch(%c: tensor<i1, #relay.device<cpu:0>>) {
  relay.if %c : tensor<i1, #relay.device<cpu:0>> {
    // expected-error@+1 {{relay.constant is left at stage planned: it has a value of type tensor<f32>}}
    %k = relay.constant dense<1.0> : tensor<f32>
    relay.yield
  } else {
  }
  func.return
}

// -----

func.func @storage() {
  // expected-error@+1 {{memory.alloc_storage is left at stage planned: it has a value of type !memory.storage}}
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  func.return
}

// -----

// The operands of an operator must be on one device.

func.func @meeting(%x: tensor<4xf32, #relay.device<cpu:0>>, %y: tensor<4xf32, #relay.device<cuda:0>>) {
  // expected-error@+1 {{relay.add is left at stage planned: operands and results of relay.add share a device, but there are cpu:0 and cuda:0: plan-devices should have copied between them}}
  %z = relay.add %x, %y : (tensor<4xf32, #relay.device<cpu:0>>, tensor<4xf32, #relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

// The values that a branch yields are on the device of the result.

func.func @branches(%c: tensor<i1, #relay.device<cpu:0>>, %x: tensor<4xf32, #relay.device<cpu:0>>, %y: tensor<4xf32, #relay.device<cuda:0>>) {
  // expected-error@+1 {{condition, branches and result of relay.if share a device, but there are cpu:0 and cuda:0}}
  %r = relay.if %c : tensor<i1, #relay.device<cpu:0>> -> (tensor<4xf32, #relay.device<cpu:0>>) {
    relay.yield %x : tensor<4xf32, #relay.device<cpu:0>>
  } else {
    relay.yield %y : tensor<4xf32, #relay.device<cuda:0>>
  }
  func.return
}
