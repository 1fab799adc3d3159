"""
Pipelines that have a name: usable in `-p` wherever the name of a pass is.

`vm` takes a `relay` program to `bytecode`. Why each pass stands where it does:

- `infer-types` first: every pass after it reads result types.
- `fold-constants` before planning: what is folded needs no device and no copy.
- `plan-devices` before fusion: values on different devices must not be fused.
- `fuse-ops` before outlining: it decides what one kernel is.
- `outline-primitives` before memory: equal kernels become one function, and calls of
  them are all that still gives results.
- `manifest-alloc` turns those calls into writes to given tensors.
- `remove-dead-writes` right after: only now are results that nobody reads storage that
  nobody needs, and no plan depends on it yet.
- `lower-to-bytecode` last: registers have no types to plan by.
"""

PIPELINES: dict[str, str] = {
    "vm": (
        "infer-types,fold-constants,plan-devices,fuse-ops,outline-primitives,"
        "manifest-alloc,remove-dead-writes,lower-to-bytecode"
    ),
}
