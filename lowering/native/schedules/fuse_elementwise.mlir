// One generic op for each chain of elementwise ops: loops that LLVM turns into vectors.
%fused = transform.apply_registered_pass "linalg-fuse-elementwise-ops" to %func : (!op) -> !op
