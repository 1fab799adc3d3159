// A reduction, whose sums stay in registers over the loops that reduce, and the elementwise op
// that reads it, if any: matrix products, convolutions, pooling, sums of columns.
//
// A tile is some vectors of the result's last dim by some rows of another one. The loops over
// tiles also hold the start of the sums and the elementwise op.
%store = transform.structured.match ops{["bufferization.materialize_in_destination"]} in %func
    : (!op) -> !op
%root = transform.get_producer_of_operand %store[0] : (!op) -> !op
transform.annotate %root "xrelay.root" : !op
%reduction = transform.structured.match ops{["linalg.generic"]}
    attributes{iterator_types = [$iterators]} in %func : (!op) -> !op
transform.annotate %reduction "xrelay.reduction" : !op
$block
$tile = transform.structured.fuse $of tile_sizes [$sizes] interchange [$order]
    {apply_cleanup} : (!op) -> ($tile_types)

$rests

// Sums that stay in memory between steps have the size of a tile, not that of the result.
transform.apply_patterns to %func {
  transform.apply_patterns.linalg.tiling_canonicalization
  transform.apply_patterns.tensor.fold_tensor_empty
  transform.apply_patterns.memref.resolve_ranked_shaped_type_result_dims
  transform.apply_patterns.canonicalization
} : !op

// One step of the reduction.
%tiles = transform.structured.match attributes{xrelay.reduction} in %func : (!op) -> !op
%step, $steps = transform.structured.tile_using_for %tiles tile_sizes [$step_sizes]
    : (!op) -> (!op, $step_types)
$rows

transform.apply_patterns to %func {
  transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
  transform.apply_patterns.canonicalization
} : !op
%compute = transform.structured.match ops{["linalg.generic"]} in %func : (!op) -> !op
transform.structured.vectorize %compute : !op
transform.apply_patterns to %func {
  transform.apply_patterns.canonicalization
} : !op

// The sums become values that the loops carry.
%all_loops = transform.structured.match ops{["scf.for"]} in %func : (!op) -> !op
transform.loop.hoist_loop_invariant_subsets %all_loops : !op
transform.apply_patterns to %func {
  transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
  transform.apply_patterns.canonicalization
} : !op
