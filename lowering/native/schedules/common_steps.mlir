// The steps of schedules that are the same for all kernels: `scheduling` includes these sequences.

!op = !transform.any_op

module attributes {transform.with_named_sequence} {

// Generic ops in place of named ones, buffers of their own for padded images, and loops in place of
// generic ops without tiles. Returns the function, the handle of all later steps.
transform.named_sequence @prepare(%kernel: !op {transform.readonly}) -> !op {
  %given = transform.structured.match ops{["func.func"]} in %kernel : (!op) -> !op
  %func = transform.apply_registered_pass "linalg-generalize-named-ops" to %given : (!op) -> !op

  // Nothing else is a named op any more, so fills and copies are those of the padding. They stay
  // loops: the tools turn these into memset and memcpy.
  %pads = transform.structured.match ops{["tensor.pad"]} in %func : (!op) -> !op
  %padded, %of_pads = transform.structured.bufferize_to_allocation %pads
      {memory_space = 0, alloc_op = "memref.alloc", memcpy_op = "linalg.copy"} : !op
  %borders = transform.structured.match ops{["linalg.fill", "linalg.copy"]} in %func : (!op) -> !op
  %border_loops = transform.structured.convert_to_loops %borders : (!op) -> !op
  %untiled = transform.structured.match ops{["linalg.generic"]} attributes{xrelay.untiled} in %func
      : (!op) -> !op
  %untiled_loops = transform.structured.convert_to_loops %untiled : (!op) -> !op
  transform.yield %func : !op
}

// Squares are tiles of one loop now: they become vectors. What they leave at the ends of both dims
// stays loops.
transform.named_sequence @vectorize_squares(%func: !op {transform.readonly}) {
  transform.apply_patterns to %func {
    transform.apply_patterns.linalg.tiling_canonicalization
    transform.apply_patterns.canonicalization
  } : !op
  %squares = transform.structured.match ops{["linalg.generic"]}
      attributes{xrelay.transposing} in %func : (!op) -> !op
  transform.structured.vectorize %squares : !op
  transform.yield
}

// The op whose result the kernel stores. It is marked, so that its tiles are found.
transform.named_sequence @mark_root(%func: !op {transform.readonly}) -> !op {
  %store = transform.structured.match ops{["bufferization.materialize_in_destination"]} in %func
      : (!op) -> !op
  %root = transform.get_producer_of_operand %store[0] : (!op) -> !op
  transform.annotate %root "xrelay.root" : !op
  transform.yield %root : !op
}

// The reduction in its tiles. Sums that stay in memory between steps have the size of a tile, not
// that of the result.
transform.named_sequence @reduction_in_tiles(%func: !op {transform.readonly}) -> !op {
  transform.apply_patterns to %func {
    transform.apply_patterns.linalg.tiling_canonicalization
    transform.apply_patterns.tensor.fold_tensor_empty
    transform.apply_patterns.memref.resolve_ranked_shaped_type_result_dims
    transform.apply_patterns.canonicalization
  } : !op
  %tiles = transform.structured.match attributes{xrelay.reduction} in %func : (!op) -> !op
  transform.yield %tiles : !op
}

// The sizes of tiles are known, where they are whole.
transform.named_sequence @canonicalize_tiles(%loop: !op {transform.readonly}) {
  transform.apply_patterns to %loop {
    transform.apply_patterns.linalg.tiling_canonicalization
    transform.apply_patterns.canonicalization
  } : !op
  transform.yield
}

// Squares of an operand that is transposed become vectors.
transform.named_sequence @vectorize_panel(%loop: !op {transform.readonly}) {
  %squares = transform.structured.match attributes{xrelay.panel} in %loop : (!op) -> !op
  transform.structured.vectorize %squares : !op
  transform.yield
}

// Tiles become vectors, and sums values that the loops carry.
transform.named_sequence @vectorize_tiles(%func: !op {transform.readonly}) {
  transform.apply_patterns to %func {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.canonicalization
  } : !op
  %compute = transform.structured.match ops{["linalg.generic"]} in %func : (!op) -> !op
  transform.structured.vectorize %compute : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
  } : !op
  %loops = transform.structured.match ops{["scf.for"]} in %func : (!op) -> !op
  transform.loop.hoist_loop_invariant_subsets %loops : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } : !op
  transform.yield
}

// A loop that several others read is there once for each of them: they are merged. Not before their
// results are those of chunks: the memory of the kernel's result must not become that of another
// loop's, as the plan may have laid it over an operand.
transform.named_sequence @merge_tiles(%func: !op {transform.readonly}) {
  transform.apply_patterns to %func {
    transform.apply_patterns.linalg.tiling_canonicalization
    transform.apply_patterns.tensor.fold_tensor_empty
    transform.apply_patterns.memref.resolve_ranked_shaped_type_result_dims
    transform.apply_patterns.canonicalization
  } : !op
  transform.apply_cse to %func : !op
  transform.yield
}

// After bufferization: vectors of several dims become vectors of one, that is multiplications,
// additions, loads and stores.
//
// One step a group: all patterns in a single greedy rewrite can cycle without end.
transform.named_sequence @lower_vectors(%kernel: !op {transform.readonly}) {
  %func = transform.structured.match ops{["func.func"]} in %kernel : (!op) -> !op
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.drop_unit_dims_with_shape_cast
    transform.apply_patterns.vector.cast_away_vector_leading_one_dim
    transform.apply_patterns.canonicalization
  } : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.transfer_permutation_patterns
    transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerparallel"
  } : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.lower_broadcast
    transform.apply_patterns.vector.lower_transpose lowering_strategy = "shuffle_16x16"
  } : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
    transform.apply_patterns.vector.transfer_to_scf max_transfer_rank = 1 full_unroll = true
  } : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.memref.fold_memref_alias_ops
  } : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.lower_shape_cast
  } : !op
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
  } : !op
  transform.yield
}

}
