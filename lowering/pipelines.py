"""
Named pipelines: `-p` accepts their names wherever it accepts a pass.

`vm` takes a `relay` program to `bytecode`; `vm-planned` also lets its storages share memory. Why
each pass is where it is:

- `infer-types` first: every pass after it reads result types.
- `simplify-inference` before `fold-constants`, which computes the scales and shifts of batch norms
  from constant statistics, and before fusion: a multiplication and an addition fuse with the
  convolution before and the activation after them, a batch norm does not.
- `fold-constants` before planning: what is folded needs no device and no copy.
- `dynamic-to-static` after it: constants in the computation of a shape are found then. Before
  planning: what only computes sizes needs no device and no kernel.
- `infer-types` again: operators that read sizes before now have them as attributes, so more dims
  are known.
- `plan-devices` before fusion: values on different devices must not be fused.
- `share-device-copies` right after it: equal copies are easiest to find before fusion.
- `lambda-lift` after planning: a captured value's type has its device, so the parameter that it
  becomes has it too, and closures on different devices do not share a function. Before fusion: what
  a closure uses is in its function then, constants included, and may fuse there.
- `inline` after lambda lifting, which makes calls of closures direct, and before fusion, which does
  not look into calls. Only marked functions are inlined.
- `remove-unused-functions` right after both: closures that were inlined need not be compiled.
- `fuse-ops` before outlining: it decides what one kernel is.
- `outline-primitives` before allocation: equal kernels become one function, and only calls of
  kernels are left to allocate for.
- `create-shape-functions` right after it: one function for each distinct kernel of dynamic shape.
- `manifest-alloc` turns those calls into writes into allocated tensors.
- `simplify-shapes` right after it: it has the shapes of all results to read, and what it makes
  unused, such as a copy of an argument to the host, is a dead write.
- `remove-dead-writes` after both: a result that nothing reads is now storage that nothing
  needs, and no memory plan depends on it yet.
- `remove-unused-kernels` after both: they leave kernels without calls.
- `manifest-lifetimes` after all passes that remove or move ops: a kill marks the last use, so a
  use must not move past it, and must not be removed after it was found to be the last.
- `pack-storage` and `layout-slices`, in `vm-planned`, before `manifest-lifetimes`: all storages are
  there, and a kill would count as a use of what it kills.
- `lower-to-bytecode` last: registers have no types to plan by.
- `verify-stage` at every level: its error names an op that was left and the pass that should have
  removed it; a later pass would only fail on the op.
"""

_TO_MANIFEST = (
    "infer-types",
    "simplify-inference",
    "fold-constants",
    "dynamic-to-static",
    "infer-types",
    "plan-devices",
    "share-device-copies",
    "verify-stage{stage=planned}",
    "lambda-lift",
    "inline",
    "remove-unused-functions",
    "fuse-ops",
    "verify-stage{stage=fused}",
    "outline-primitives",
    "create-shape-functions",
    "verify-stage{stage=lowered}",
    "manifest-alloc",
    "simplify-shapes",
    "remove-dead-writes",
    "remove-unused-kernels",
    "verify-stage{stage=manifest}",
)

_TO_BYTECODE = (
    "manifest-lifetimes",
    "verify-stage{stage=memory-planned}",
    "lower-to-bytecode",
    "verify-stage{stage=bytecode}",
)

PIPELINES: dict[str, str] = {
    "vm": ",".join((*_TO_MANIFEST, *_TO_BYTECODE)),
    "vm-planned": ",".join((*_TO_MANIFEST, "pack-storage", "layout-slices", *_TO_BYTECODE)),
}
"""Pipeline text by name."""
