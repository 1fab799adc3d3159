// RUN: xrelay-opt --split-input-file %s | filecheck %s
// RUN: xrelay-opt --split-input-file %s | xrelay-opt --split-input-file | filecheck %s
// RUN: xrelay-opt --split-input-file --print-op-generic %s | filecheck %s --check-prefix=GENERIC
// RUN: xrelay-opt --split-input-file --print-local-scope %s | filecheck %s --check-prefix=FULL
// RUN: xrelay-opt --split-input-file -p cse --print-ir-after-all -o %t.out %s 2>&1 | filecheck %s --check-prefix=DUMP

// Devices are abbreviated by aliases, in the order in which the text first uses them.
//
// CHECK:      {{^}}#cuda0 = #relay.device<cuda:0>
// CHECK-NEXT: {{^}}#cpu0 = #relay.device<cpu:0>
// CHECK-NEXT: {{^}}builtin.module
// CHECK:        @order(tensor<4xf32, #cuda0>, tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda0>
//
// GENERIC:      {{^}}#cuda0 = #relay.device<cuda:0>
// GENERIC-NEXT: {{^}}#cpu0 = #relay.device<cpu:0>
// GENERIC-NEXT: {{^}}"builtin.module"
// GENERIC:        tensor<4xf32, #cuda0>
//
// FULL-NOT:   = #relay.device
// FULL:       tensor<4xf32, #relay.device<cuda:0>>
//
// DUMP:      IR Dump After cse
// DUMP-NEXT: {{^}}#cuda0 = #relay.device<cuda:0>
// DUMP-NEXT: {{^}}#cpu0 = #relay.device<cpu:0>
// DUMP-NEXT: {{^}}builtin.module
#unused = #relay.device<cpu:7>
#second = #relay.device<cpu:0>
func.func private @order(
  tensor<4xf32, #relay.device<cuda:0>>, tensor<4xf32, #second>
) -> tensor<4xf32, #relay.device<cuda:0>>

// -----

// Each part of the input has aliases of its own, for the devices that are in it.
//
// CHECK:      // -----
// CHECK-NEXT: {{^}}#cpu0 = #relay.device<cpu:0>
// CHECK-NEXT: {{^}}builtin.module
//
// DUMP:      IR Dump After cse
// DUMP-NEXT: {{^}}#cpu0 = #relay.device<cpu:0>
// DUMP-NEXT: {{^}}builtin.module
func.func private @part(tensor<4xf32, #relay.device<cpu:0>>)

// -----

// A part without devices has none.
//
// CHECK:      // -----
// CHECK-NEXT: {{^}}builtin.module
func.func private @no_device(tensor<4xf32>)

// -----

// The alias of a device that leaves fields open has only those that are set; `?` is a device.
//
// CHECK:      {{^}}#cuda = #relay.device<cuda>
// CHECK-NEXT: {{^}}#device1 = #relay.device<?:1>
// CHECK-NEXT: {{^}}#device = #relay.device<?>
func.func private @partial(
  tensor<4xf32, #relay.device<cuda>>,
  tensor<4xf32, #relay.device<?:1>>,
  tensor<4xf32, #relay.device<?>>
)

// -----

// Targets and scopes are part of the alias, the first word of each.
//
// CHECK:      {{^}}#cpu0_llvm = #relay.device<cpu:0, target = "llvm -mcpu=core2">
// CHECK-NEXT: {{^}}#cpu0_llvm_global_texture = #relay.device<cpu:0, target = "llvm", scope = "global.texture">
// CHECK-NEXT: {{^}}#cpu0_local = #relay.device<cpu:0, scope = "local">
func.func private @target_and_scope(
  tensor<4xf32, #relay.device<cpu:0, target = "llvm -mcpu=core2">>,
  tensor<4xf32, #relay.device<cpu:0, target = "llvm", scope = "global.texture">>,
  tensor<4xf32, #relay.device<cpu:0, scope = "local">>
)

// -----

// Devices whose aliases would be the same are numbered.
//
// CHECK:      {{^}}#cuda0 = #relay.device<cuda:0>
// CHECK-NEXT: {{^}}#cuda0_1 = #relay.device<cuda0>
// CHECK-NEXT: {{^}}#cuda0_1_1 = #relay.device<cuda0_1>
// CHECK-NEXT: {{^}}#cuda0_2 = #relay.device<cuda0, target = "">
// CHECK:      @numbered(tensor<4xf32, #cuda0>, tensor<4xf32, #cuda0_1>, tensor<4xf32, #cuda0_1_1>, tensor<4xf32, #cuda0_2>)
func.func private @numbered(
  tensor<4xf32, #relay.device<cuda:0>>,
  tensor<4xf32, #relay.device<cuda0>>,
  tensor<4xf32, #relay.device<cuda0_1>>,
  tensor<4xf32, #relay.device<cuda0, target = "">>
)

// -----

// What an alias cannot have is an underscore.
//
// CHECK:      {{^}}#a_b_c0_d_e = #relay.device<a.b$c:0, target = "d<e \E2\98\83">
// CHECK-NEXT: {{^}}#a_b_c0___ = #relay.device<a.b$c:0, scope = "\E2\98\83>">
func.func private @characters(
  tensor<4xf32, #relay.device<a.b$c:0, target = "d<e ☃">>,
  tensor<4xf32, #relay.device<a.b$c:0, scope = "☃>">>
)
