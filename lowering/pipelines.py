"""
Named pipelines: `-p` accepts their names wherever it accepts a pass.

`vm` takes a `relay` program to `bytecode`. Why each pass is where it is:

- `infer-types` first: every pass after it reads result types.
- `simplify-inference` before `fold-constants`, which computes the scales and shifts of batch norms
  from constant statistics, and before fusion: a multiplication and an addition fuse with the
  convolution before and the activation after them, a batch norm does not.
- `fold-constants` before planning: what is folded needs no device and no copy.
- `plan-devices` before fusion: values on different devices must not be fused.
- `share-device-copies` right after it: equal copies are easiest to find before fusion.
- `fuse-ops` before outlining: it decides what one kernel is.
- `outline-primitives` before allocation: equal kernels become one function, and only calls of
  kernels are left to allocate for.
- `manifest-alloc` turns those calls into writes into allocated tensors.
- `remove-dead-writes` right after it: a result that nothing reads is now storage that nothing
  needs, and no memory plan depends on it yet.
- `remove-unused-kernels` after both: they leave kernels without calls.
- `manifest-lifetimes` after all passes that remove or move ops: a kill marks the last use, so a
  use must not move past it, and must not be removed after it was found to be the last.
- `lower-to-bytecode` last: registers have no types to plan by.
- `verify-stage` at every level: its error names an op that was left and the pass that should have
  removed it; a later pass would only fail on the op.
"""

PIPELINES: dict[str, str] = {
    "vm": ",".join(
        (
            "infer-types",
            "simplify-inference",
            "fold-constants",
            "plan-devices",
            "share-device-copies",
            "verify-stage{stage=planned}",
            "fuse-ops",
            "verify-stage{stage=fused}",
            "outline-primitives",
            "verify-stage{stage=lowered}",
            "manifest-alloc",
            "remove-dead-writes",
            "remove-unused-kernels",
            "verify-stage{stage=manifest}",
            "manifest-lifetimes",
            "verify-stage{stage=memory-planned}",
            "lower-to-bytecode",
            "verify-stage{stage=bytecode}",
        )
    ),
}
"""Pipeline text by name."""
