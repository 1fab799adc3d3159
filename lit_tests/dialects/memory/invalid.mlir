// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// Each rule of storage, tensors and copies has its message, with the number and its bound.

func.func @alignment_of_48() {
  // expected-error@+1 {{alignment must be a power of two, but is 48}}
  %s = memory.alloc_storage 64 align 48 : !memory.storage
  func.return
}

// -----

func.func @alignment_of_0() {
  // expected-error@+1 {{alignment must be a power of two, but is 0}}
  %s = memory.alloc_storage 64 align 0 : !memory.storage
  func.return
}

// -----

func.func @negative_size() {
  // expected-error@+1 {{the size must be at least 0, but is -64}}
  %s = memory.alloc_storage -64 align 64 : !memory.storage
  func.return
}

// -----

func.func @no_size() {
  // expected-error@+1 {{the size is missing: give an attribute or an operand}}
  %s = "memory.alloc_storage"() <{alignment = 64 : i64}> : () -> !memory.storage
  func.return
}

// -----

func.func @two_sizes(%n: i64) {
  // expected-error@+1 {{the size must be an attribute or an operand, but both are given}}
  %s = "memory.alloc_storage"(%n) <{size = 4 : i64, alignment = 64 : i64}> : (i64) -> !memory.storage
  func.return
}

// -----

func.func @no_device(%s: !memory.storage) {
  // expected-error@+1 {{expected a #relay.device, but got 3 : i64}}
  "test.op"() : () -> !memory.storage<3>
  func.return
}

// -----

func.func @on_no_device() {
  // expected-error@+1 {{expected a #relay.device, but got "cuda:0"}}
  %s = memory.alloc_storage 8 align 64 on "cuda:0" : !memory.storage
  func.return
}

// -----

func.func @on_two_devices() {
  // expected-error@+1 {{the storage is annotated with cpu:0, but its type has cuda:0}}
  %s = memory.alloc_storage 8 align 64 on #relay.device<cpu:0> : !memory.storage<#relay.device<cuda:0>>
  func.return
}

// -----

func.func @no_offset(%s: !memory.storage) {
  // expected-error@+1 {{the offset is missing: give an attribute or an operand}}
  %t = "memory.alloc_tensor"(%s) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!memory.storage) -> tensor<4xf32>
  func.return
}

// -----

func.func @offset_between_elements() {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  // expected-error@+1 {{the offset must be a multiple of the element size, 4, but is 6}}
  %t = memory.alloc_tensor %s[6] : tensor<4xf32>
  func.return
}

// -----

func.func @negative_offset() {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  // expected-error@+1 {{the offset must be a multiple of the element size, 1, but is -1}}
  %t = memory.alloc_tensor %s[-1] : tensor<4xi1>
  func.return
}

// -----

func.func @behind_the_end() {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[48] : tensor<4xf32>
  // expected-error@+1 {{a tensor of 16 bytes at offset 52 does not fit in a storage of 64 bytes}}
  %u = memory.alloc_tensor %s[52] : tensor<4xf32>
  func.return
}

// -----

func.func @other_device(%s: !memory.storage<#relay.device<cuda:0>>) {
  // expected-error@+1 {{the tensor is tensor<4xf32, #relay.device<cpu:0>>, but its storage is !memory.storage<#relay.device<cuda:0>>}}
  %t = "memory.alloc_tensor"(%s) <{offset = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!memory.storage<#relay.device<cuda:0>>) -> tensor<4xf32, #relay.device<cpu:0>>
  func.return
}

// -----

func.func @dynamic_without_shape(%s: !memory.storage) {
  // expected-error@+1 {{tensor<?xf32> has a dynamic dim and needs a shape operand}}
  %t = memory.alloc_tensor %s[0] : tensor<?xf32>
  func.return
}

// -----

func.func @static_with_shape(%s: !memory.storage, %dims: tensor<1xi64>) {
  // expected-error@+1 {{tensor<4xf32> is static and takes no shape operand}}
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<4xf32>
  func.return
}

// -----

func.func @shape_of_floats(%s: !memory.storage, %dims: tensor<1xf32>) {
  // expected-error@+1 {{the shape must be a tensor<1xi64>, but is tensor<1xf32>}}
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xf32> -> tensor<?xf32>
  func.return
}

// -----

func.func @shape_of_another_rank(%s: !memory.storage, %dims: tensor<1xi64>) {
  // expected-error@+1 {{the shape must be a tensor<2xi64>, but is tensor<1xi64>}}
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64> -> tensor<?x4xf32>
  func.return
}

// -----

func.func @elements_without_size(%s: !memory.storage) {
  // expected-error@+1 {{elements of type complex<f32> have no size}}
  %t = memory.alloc_tensor %s[0] : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @read_before_written() {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  // expected-error@+1 {{an allocated tensor has no contents to read: test.op must use the result of the op that writes it}}
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  "test.op"(%t) : (tensor<4xf32>) -> ()
  func.return
}

// -----

func.func @read_as_ins(%out: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  // expected-error@+1 {{an allocated tensor has no contents to read: memory.copy must use the result of the op that writes it}}
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%t : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @copy_changes_type(%x: tensor<4xf32>, %out: tensor<4xi32>) {
  // expected-error@+1 {{a copy keeps shape and element type, but goes from tensor<4xf32> to tensor<4xi32>}}
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%out : tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @result_is_no_outs(%x: tensor<4xf32>, %out: tensor<4xf32>) {
  // expected-error@+1 {{result 0 is tensor<5xf32>, but outs 0 is tensor<4xf32>}}
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @outs_with_contents(%x: tensor<4xf32>) {
  %full = "test.op"() : () -> tensor<4xf32>
  // expected-error@+1 {{outs 0 must be defined by memory.alloc_tensor or be a block argument, but is defined by test.op}}
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%full : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @written_twice(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  // expected-error@+1 {{an allocated tensor is written once, but memory.copy writes it again}}
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = memory.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @two_outs_in_one_tensor(%x: tensor<4xf32>) {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  // expected-error@+1 {{an allocated tensor is written once, but vm.invoke_tvm_op writes it again}}
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %y, %z = vm.invoke_tvm_op @f ins(%x : tensor<4xf32>) outs(%t, %t : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @pack_aligned_to_48() {
  // expected-error@+1 {{alignment must be a power of two, but is 48}}
  %p = memory.pack align 48 : !memory.pack
  func.return
}

// -----

func.func @lifetime_without_a_moment() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{the lifetime of a slice must start at 0 or later and end after its start, each interval after the one before, but one is [2, 2)}}
  %a = memory.slice %p [2, 2) 64
  func.return
}

// -----

func.func @lifetime_before_0() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{the lifetime of a slice must start at 0 or later and end after its start, each interval after the one before, but one is [-1, 2)}}
  %a = memory.slice %p [-1, 2) 64
  func.return
}

// -----

func.func @intervals_that_touch() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{each interval after the one before, but one is [2, 3)}}
  %a = memory.slice %p [0, 2) [2, 3) 64
  func.return
}

// -----

func.func @slice_of_negative_size() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{the size of a slice must be at least 0, but is -64}}
  %a = memory.slice %p [0, 1) -64
  func.return
}

// -----

func.func @slice_aligned_more_than_its_pack() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{a slice must be aligned to at most the 64 bytes of its pack, but is to 128}}
  %a = memory.slice %p [0, 1) 64 align 128
  func.return
}

// -----

func.func @slice_at_negative_offset() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{the offset of a slice must be at least 0, but is -64}}
  %a = memory.slice %p [0, 1) 64 at -64
  func.return
}

// -----

func.func @two_arms_of_one_branch() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{a slice can be in one arm of a branch only}}
  %a = memory.slice %p [0, 1) 64 in (0:0, 0:1)
  func.return
}

// -----

func.func @arm_without_a_branch() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{arms must be pairs of a branch and an arm}}
  %a = "memory.slice"(%p) <{lifetime = array<i64: 0, 1>, static_size = 64 : i64, in_arms = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0>}> : (!memory.pack) -> i64
  func.return
}

// -----

func.func @stop_missing() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{a lifetime is pairs of a start and a stop}}
  %a = "memory.slice"(%p) <{lifetime = array<i64: 0>, static_size = 64 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0>}> : (!memory.pack) -> i64
  func.return
}

// -----

func.func @size_missing() {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{the size is missing: give an attribute or an operand}}
  %a = "memory.slice"(%p) <{lifetime = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0>}> : (!memory.pack) -> i64
  func.return
}

// -----

func.func @size_twice(%n: i64) {
  %p = memory.pack align 64 : !memory.pack
  // expected-error@+1 {{the size must be an attribute or an operand, but both are given}}
  %a = "memory.slice"(%p, %n) <{lifetime = array<i64: 0, 1>, static_size = 64 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (!memory.pack, i64) -> i64
  func.return
}

// -----

func.func @size_of_slice_over_others() {
  %p = memory.pack align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  // expected-error@+1 {{a slice over others is as large as they are: it has no size}}
  %w = "memory.slice"(%p, %a, %a) <{lifetime = array<i64: 0, 1>, static_size = 64 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 2, 0>}> : (!memory.pack, i64, i64) -> i64
  func.return
}

// -----

func.func @over_one_slice() {
  %p = memory.pack align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  // expected-error@+1 {{a slice is over a first slice to a last one}}
  %w = "memory.slice"(%p, %a) <{lifetime = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 0>}> : (!memory.pack, i64) -> i64
  func.return
}

// -----

func.func @order_of_a_pack_without_one() {
  // expected-error@+1 {{slice 1 lies on others, but the pack is not ordered}}
  %p = memory.pack align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64 on (%a)
  func.return
}

// -----

func.func @operands_of_two_orders() {
  // expected-error@+1 {{slice 1 lies on operands, but there are several orders}}
  %p = memory.pack smallest of 2 align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64 on (%a)
  func.return
}

// -----

func.func @three_lists_of_two_orders() {
  // expected-error@+1 {{slice 1 has 3 lists of numbers, but the pack has 2 orders}}
  %p = memory.pack smallest of 2 align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64 on (0) or () or ()
  func.return
}

// -----

func.func @a_number_in_one_order() {
  // expected-error@+1 {{slice 1 has 1 lists of numbers, but the pack has 1 orders}}
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64 on (0)
  func.return
}

// -----

func.func @a_cycle_in_the_second_order() {
  // expected-error@+1 {{slice 0 lies on itself, through others}}
  %p = memory.pack smallest of 2 align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64 on () or (1)
  %b = memory.slice %p [0, 1) 64 on () or (0)
  func.return
}

// -----

func.func @interlocked_pieces() {
  // expected-error@+1 {{slice 0 lies on itself, through others}}
  %p = memory.pack smallest of 2 align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64 beside %a on (3) or ()
  %c = memory.slice %p [0, 1) 64 on (0) or ()
  %d = memory.slice %p [0, 1) 64 beside %c
  func.return
}

// -----

func.func @a_number_out_of_range() {
  // expected-error@+1 {{slice 0 lies on slice 7, but there are 1}}
  %p = memory.pack smallest of 2 align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64 on (7) or ()
  func.return
}

// -----

func.func @no_order() {
  // expected-error@+1 {{a pack has at least 1 order, but this has 0}}
  %p = memory.pack smallest of 0 align 64 : !memory.pack
  func.return
}

// -----

func.func @on_a_slice_of_another_pack() {
  %q = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %q [0, 1) 64
  // expected-error@+1 {{a slice lies on, beside or over slices of its own pack only}}
  %p = memory.pack ordered align 64 : !memory.pack
  %b = memory.slice %p [0, 1) 64 on (%a)
  func.return
}

// -----

func.func @over_slices_apart() {
  // expected-error@+1 {{slice 2 lies over slices that are not side by side}}
  %p = memory.pack align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64
  %w = memory.slice %p [1, 2) over %a to %b
  func.return
}

// -----

func.func @a_fixed_offset_of_unknown_size(%n: i64) {
  // expected-error@+1 {{slice 0 is at a fixed offset, so its size must be static}}
  %p = memory.pack align 64 : !memory.pack
  %a = memory.slice %p [0, 1) %n at 0
  func.return
}

// -----

func.func @on_another_pool() {
  // expected-error@+1 {{slice 1 lies on slice 0 of another pool}}
  %p = memory.pack ordered align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64 pool 1 on (%a)
  func.return
}

// -----

func.func @a_piece_at_bind() {
  // expected-error@+1 {{slices of a pack at_bind have a lifetime of one interval, and no place}}
  %p = memory.pack at_bind align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  %b = memory.slice %p [0, 1) 64 beside %a
  func.return
}

// -----

func.func @at_bind_without_a_total() {
  // expected-error@+1 {{a pack at_bind has a memory.total}}
  %p = memory.pack at_bind align 64 : !memory.pack
  %a = memory.slice %p [0, 1) 64
  func.return
}

// -----

func.func @at_bind_in_a_workspace(%w: !memory.storage) {
  // expected-error@+1 {{the offsets in a workspace cannot be chosen at_bind}}
  %p = memory.pack at_bind align 64 within %w : !memory.storage -> !memory.pack
  func.return
}

// -----

func.func @a_total_before_a_slice() {
  // expected-error@+1 {{the total of a pack must be after its slices}}
  %p = memory.pack align 64 : !memory.pack
  %total = memory.total %p
  %a = memory.slice %p [0, 1) 64
  func.return
}

// -----

func.func @a_slice_in_another_block(%c: tensor<i1>) {
  // expected-error@+1 {{memory.slice must be in the block of its pack}}
  %p = memory.pack align 64 : !memory.pack
  relay.if %c : tensor<i1> {
    %a = memory.slice %p [0, 1) 64
    relay.yield
  } else {
    relay.yield
  }
  func.return
}

// -----

func.func @a_pack_elsewhere() {
  // expected-error@+1 {{only its slices and totals name a pack, but test.op does}}
  %p = memory.pack align 64 : !memory.pack
  "test.op"(%p) : (!memory.pack) -> ()
  func.return
}

// -----

func.func @slice_too_large() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-error@+1 {{a slice of 128 bytes at offset 64 does not fit in a storage of 128 bytes}}
  %w = memory.slice_storage %s[64] size 128 align 64 : !memory.storage
  func.return
}

// -----

func.func @slice_not_aligned() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-error@+1 {{the offset must be a multiple of the alignment, 64, but is 32}}
  %w = memory.slice_storage %s[32] size 8 align 64 : !memory.storage
  func.return
}

// -----

func.func @slice_before_the_start() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-error@+1 {{the offset must be a multiple of the alignment, 64, but is -64}}
  %w = memory.slice_storage %s[-64] size 8 align 64 : !memory.storage
  func.return
}

// -----

func.func @slice_more_aligned() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-error@+1 {{the alignment must be at most that of the storage, 64, but is 128}}
  %w = memory.slice_storage %s[0] size 8 align 128 : !memory.storage
  func.return
}

// -----

func.func @slice_alignment() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-error@+1 {{alignment must be a power of two, but is 3}}
  %w = memory.slice_storage %s[0] size 8 align 3 : !memory.storage
  func.return
}

// -----

func.func @slice_of_negative_size() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-error@+1 {{the size must be at least 0, but is -8}}
  %w = memory.slice_storage %s[0] size -8 align 64 : !memory.storage
  func.return
}

// -----

func.func @slice_elsewhere() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  // expected-error@+1 {{the slice is !memory.storage<#relay.device<cpu:0>>, but its storage is !memory.storage}}
  %w = "memory.slice_storage"(%s) <{offset = 0 : i64, size = 8 : i64, alignment = 64 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!memory.storage) -> !memory.storage<#relay.device<cpu:0>>
  func.return
}

// -----

func.func @tensor_in_a_slice() {
  %s = memory.alloc_storage 128 align 64 : !memory.storage
  %w = memory.slice_storage %s[64] size 8 align 64 : !memory.storage
  // expected-error@+1 {{a tensor of 16 bytes at offset 0 does not fit in a storage of 8 bytes}}
  %t = memory.alloc_tensor %w[0] : tensor<4xf32>
  func.return
}

// -----

func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>}) {
  func.return
}
func.func @workspace_of_nothing(%s: tensor<2xi64>) {
  // expected-error@+1 {{@g must be a function, but is not defined in the module}}
  %n = memory.workspace_size @g[1]
  func.return
}

// -----

func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>}) {
  func.return
}
func.func @workspace_out_of_range(%s: tensor<2xi64>) {
  // expected-error@+1 {{parameter 2 of @f is out of range [0, 2)}}
  %n = memory.workspace_size @f[2]
  func.return
}

// -----

func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>}) {
  func.return
}
func.func @workspace_that_is_a_tensor(%s: tensor<2xi64>) {
  // expected-error@+1 {{parameter 0 of @f must be a !memory.storage with attribute memory.workspace}}
  %n = memory.workspace_size @f[0]
  func.return
}

// -----

func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>}) {
  func.return
}
func.func @workspace_without_shapes(%s: tensor<2xi64>) {
  // expected-error@+1 {{workspace 1 of @f depends on the shapes of 1 parameters, of 1 values, but got 0}}
  %n = memory.workspace_size @f[1]
  func.return
}

// -----

func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 0>}) {
  func.return
}
func.func @workspace_of_another_rank(%s: tensor<3xi64>) {
  // expected-error@+1 {{the shape must be a tensor<2xi64>, but is tensor<3xi64>}}
  %n = memory.workspace_size @f[1](%s : tensor<3xi64>)
  func.return
}

// -----

func.func private @f(%x: tensor<?x4xf32>, %w: !memory.storage {memory.workspace = array<i64: 1>}) {
  func.return
}
func.func @workspace_of_a_storage(%s: tensor<2xi64>) {
  // expected-error@+1 {{memory.workspace must list tensors or memrefs among the 2 parameters of @f, but has 1}}
  %n = memory.workspace_size @f[1](%s : tensor<2xi64>)
  func.return
}
