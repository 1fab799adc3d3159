// Loops that read along one dim and write along another, in squares of registers.
//
// What squares leave at the ends of both dims stays loops.
%transposing = transform.structured.match ops{["linalg.generic"]}
    attributes{xrelay.transposing} in %func : (!op) -> !op
%square, $loops = transform.structured.tile_using_for %transposing tile_sizes [$sizes]
    : (!op) -> (!op, $loop_types)
$rests
transform.apply_patterns to %func {
  transform.apply_patterns.linalg.tiling_canonicalization
  transform.apply_patterns.canonicalization
} : !op
%squares = transform.structured.match ops{["linalg.generic"]}
    attributes{xrelay.transposing} in %func : (!op) -> !op
transform.structured.vectorize %squares : !op
