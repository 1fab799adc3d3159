"""The interface of a compiled program, as `aot-lower-main` leaves it on the module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ....passes.support.diagnostics import PassError
from ....runtime.native.interface import Library

METADATA = "xrelay.metadata"
"""The attribute of the module with the JSON of its `Library`."""


def library_of(module: ModuleOp) -> Library:
    """Return the interface of `module`. Raises `PassError` if it has none."""
    found = module.attributes.get(METADATA)
    if not isinstance(found, StringAttr):
        raise PassError(
            "machine code needs one flat function: end the pipeline in it, as -p aot does"
        )
    return Library.from_json(found.data)
