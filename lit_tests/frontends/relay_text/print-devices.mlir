// RUN: xrelay-opt -t relay-text %s | filecheck %s --check-prefix=HINTS
// RUN: xrelay-opt -p "plan-devices{default=cuda:0 host=cpu:0}" -t relay-text %s | filecheck %s --check-prefix=PLANNED

// Before planning: annotations, and hints. One that constrains its operand only is no let, which
// would be read as a fixed one.
//
// HINTS:      def @main(%a {virtual_device=meta[VirtualDevice][0]}: Tensor[(5, 7), float32], %b: Tensor[(5, 7), float32], %c: Tensor[(5, 7), float32], %d: Tensor[(5, 7), float32], virtual_device=meta[VirtualDevice][1]) -> Tensor[(5, 7), float32] {
// HINTS-NEXT:   %0 = add(%a, %b);
// HINTS-NEXT:   %1 = on_device(%0, virtual_device=meta[VirtualDevice][0]);
// HINTS-NEXT:   %2 = add(%c, %d);
// HINTS-NEXT:   %3 = subtract(%2, %1);
// HINTS-NEXT:   on_device(%3, virtual_device=meta[VirtualDevice][1], constrain_result=True)
// HINTS-NEXT: }

// After: each value is where a reader thinks that it is, or says so.
//
// PLANNED:      def @main(%a {virtual_device=meta[VirtualDevice][0]}: Tensor[(5, 7), float32], %b {virtual_device=meta[VirtualDevice][0]}: Tensor[(5, 7), float32], %c {virtual_device=meta[VirtualDevice][1]}: Tensor[(5, 7), float32], %d {virtual_device=meta[VirtualDevice][1]}: Tensor[(5, 7), float32], virtual_device=meta[VirtualDevice][1]) -> Tensor[(5, 7), float32] {
// PLANNED-NEXT:   %[[A:[0-9]+]] = add(%a, %b);
// PLANNED-NEXT:   %[[B:[0-9]+]] = on_device(%[[A]], virtual_device=meta[VirtualDevice][0], constrain_result=True);
// PLANNED-NEXT:   %[[L:[0-9]+]] = device_copy(%[[B]], src_virtual_device=meta[VirtualDevice][0], dst_virtual_device=meta[VirtualDevice][1]);
// PLANNED-NEXT:   %[[C:[0-9]+]] = add(%c, %d);
// PLANNED-NEXT:   subtract(%[[C]], %[[L]])
func.func @main(%a: tensor<5x7xf32> {relay.device = #relay.device<cpu:0>}, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> (tensor<5x7xf32> {relay.device = #relay.device<cuda:0>}) {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %l = relay.on_device %0, #relay.device<cpu:0> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %r = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = relay.subtract %r, %l : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = relay.on_device %2, #relay.device<cuda:0> {constrain_result = true} : (tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %3 : tensor<5x7xf32>
}

// A let that is elsewhere than its block is fixed where it is; variables say where they are.
//
// PLANNED:      def @lets(
// PLANNED:        %[[E:[0-9]+]] = exp(%x);
// PLANNED-NEXT:   let %u = on_device(%[[E]], virtual_device=meta[VirtualDevice][0], constrain_result=True);
// PLANNED-NEXT:   %[[A:[0-9]+]] = exp(%x);
// PLANNED-NEXT:   let %b = @lets(%y, %y);
// PLANNED-NEXT:   %[[F:[0-9]+]] = on_device(%[[A]], virtual_device=meta[VirtualDevice][0], constrain_result=True);
// PLANNED-NEXT:   %[[C:[0-9]+]] = device_copy(%[[F]], src_virtual_device=meta[VirtualDevice][0], dst_virtual_device=meta[VirtualDevice][1]);
// PLANNED-NEXT:   add(%b, %[[C]])
func.func @lets(%x: tensor<4xf32> {relay.device = #relay.device<cpu:0>}, %y: tensor<4xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<4xf32> {
  %u = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @lets(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// Closures and branches say and know where they are.
//
// PLANNED:      def @nested(
// PLANNED:        let %f = fn (%p {virtual_device=meta[VirtualDevice][0]}: Tensor[(4), float32], virtual_device=meta[VirtualDevice][1]) -> Tensor[(4), float32] {
// PLANNED-NEXT:     %[[A:[0-9]+]] = exp(%p);
// PLANNED-NEXT:     %[[B:[0-9]+]] = on_device(%[[A]], virtual_device=meta[VirtualDevice][0], constrain_result=True);
// PLANNED-NEXT:     %[[C:[0-9]+]] = device_copy(%[[B]], src_virtual_device=meta[VirtualDevice][0], dst_virtual_device=meta[VirtualDevice][1]);
// PLANNED-NEXT:     negative(%[[C]])
// PLANNED-NEXT:   };
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> {
    %a = relay.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    %b = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %c = relay.negative %b : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %c : tensor<4xf32>
  }
  %r = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
