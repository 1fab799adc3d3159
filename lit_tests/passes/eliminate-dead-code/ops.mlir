// RUN: xrelay-opt --split-input-file -p eliminate-dead-code %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p eliminate-dead-code,eliminate-dead-code %s | filecheck %s
// RUN: xrelay-opt --split-input-file -p dce %s | filecheck %s

// An unused op without effects goes, with what only it used.
//
// CHECK-LABEL: @pure(
// CHECK-NEXT:    func.return
func.func @pure(%x: tensor<4xf32>, %t: tuple<tensor<4xf32>>) {
  %c = relay.constant dense<1.0> : tensor<f32>
  %w = relay.param "w" : tensor<4xf32>
  %0 = relay.add %w, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.tuple %1 : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  %3 = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  func.return
}

// -----

// An operator that is known by its name only stays: it may have effects.
//
// CHECK-LABEL: @opaque(
// CHECK-NEXT:    relay.call_opaque "nn.fancy"
func.func @opaque(%x: tensor<4xf32>) {
  %0 = relay.call_opaque "nn.fancy"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// An unused hint goes, and so does an unused copy.
//
// CHECK-LABEL: @devices(
// CHECK-NEXT:    func.return
func.func @devices(%x: tensor<4xf32>, %y: tensor<4xf32, #relay.device<cpu:0>>) {
  %0 = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.device_copy %y : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
  func.return
}

// -----

// Unused closures and function values go, whatever they would do when called.
//
// CHECK-LABEL: @closures(
// CHECK-NEXT:    func.return
func.func @closures(%x: tensor<4xf32>, %f: (tensor<4xf32>) -> tensor<4xf32>) {
  %0 = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %r = relay.call %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %1 = relay.global @identity : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.closure @identity(%x) : (tensor<4xf32>) -> (() -> tensor<4xf32>)
  func.return
}
func.func @identity(%a: tensor<4xf32>) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}

// -----

// Calls of unknown functions stay, and so do writes into references; unused references and reads go.
//
// CHECK-LABEL: @effects(
// CHECK-NEXT:    relay.call %f(%x)
// CHECK-NEXT:    relay.ref_write %r, %x
// CHECK-NEXT:    "test.op"
// CHECK-NEXT:    func.return
func.func @effects(%x: tensor<4xf32>, %f: (tensor<4xf32>) -> tensor<4xf32>, %r: !relay.ref<tensor<4xf32>>) {
  %0 = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.ref_write %r, %x : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
  %2 = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %3 = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  "test.op"() : () -> ()
  func.return
}

// -----

// A branch, match or kernel whose results are unused goes, if nothing in it has effects.
//
// CHECK-LABEL: @regions(
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.call %f(
// CHECK-NOT:     relay.match
// CHECK-NOT:     relay.primitive
// CHECK-NOT:     relay.call_lowered
// CHECK:         func.return
relay.type_data @Opt [@Some(tensor<4xf32>), @None()]
func.func @regions(%c: tensor<i1>, %x: tensor<4xf32>, %o: !relay.adt<@Opt, []>, %f: (tensor<4xf32>) -> tensor<4xf32>) {
  %0 = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %1 = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %2 = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %1 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %3 = relay.match %o : !relay.adt<@Opt, []> -> (tensor<4xf32>) {
    case @Opt::@Some(%a: tensor<4xf32>) {
      relay.yield %a : tensor<4xf32>
    }
    case _ {
      relay.yield %x : tensor<4xf32>
    }
  }
  %4 = relay.primitive(%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %5 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %5 : tensor<4xf32>
  }
  %6 = relay.call_lowered @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// Unused allocations go; a kernel's write into one is remove-dead-writes' work.
//
// CHECK-LABEL: @memory(
// CHECK-NEXT:    %s = memory.alloc_storage
// CHECK-NEXT:    %t = memory.alloc_tensor %s[0]
// CHECK-NEXT:    vm.invoke_tvm_op @kernel ins(%x : {{.*}}) outs(%t
// CHECK-NEXT:    func.return
func.func @memory(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = vm.invoke_tvm_op @kernel ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %v = vm.reshape_tensor %y : (tensor<4xf32>) -> tensor<2x2xf32>
  %d = vm.shape_of %y : (tensor<4xf32>) -> tensor<1xi64>
  %s1 = memory.alloc_storage 16 align 64 : !memory.storage
  %t1 = memory.alloc_tensor %s1[0] : tensor<4xf32>
  func.return
}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}

// -----

// Dead code in branches, closures and kernels goes, too, and functions stay.
//
// CHECK-LABEL: @inside(
// CHECK-NEXT:    relay.fn
// CHECK-NEXT:      relay.yield
// CHECK:         func.func private @unused(
// CHECK:         relay.prim_func @kernel(%a: tensor<4xf32>)
// CHECK-NEXT:      relay.yield %a
func.func @inside() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %a : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}
func.func private @unused() {
  func.return
}
relay.prim_func @kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %a : tensor<4xf32>
}
