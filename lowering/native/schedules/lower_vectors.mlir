// Turn vectors of several dims into vectors of one: multiplications, additions, loads, stores.
//
// One step a group: all patterns in a single greedy rewrite can cycle without end.
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
