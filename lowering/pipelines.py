"""
Pipelines that have a name: usable in `-p` wherever the name of a pass is.

`vm` takes a `relay` program to `bytecode`. Why each pass stands where it does:

- `infer-types` first: every pass after it reads result types.
- `fold-constants` before planning: what is folded needs no device and no copy.
- `plan-devices` before fusion: values on different devices must not be fused.
- `share-device-copies` right after: equal copies are seen best before anything is fused.
- `fuse-ops` before outlining: it decides what one kernel is.
- `outline-primitives` before memory: equal kernels become one function, and calls of
  them are all that still gives results.
- `manifest-alloc` turns those calls into writes to given tensors.
- `remove-dead-writes` right after: only now are results that nobody reads storage that
  nobody needs, and no plan depends on it yet.
- `lower-to-bytecode` last: registers have no types to plan by.
- `verify-stage` on every level reached: what a pass left behind is named there, with the pass,
  and not by a later one that cannot know.
"""

PIPELINES: dict[str, str] = {
    "vm": ",".join(
        (
            "infer-types",
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
            "verify-stage{stage=manifest}",
            "lower-to-bytecode",
            "verify-stage{stage=bytecode}",
        )
    ),
}
"""The passes of each named pipeline, as `-p` takes them."""
