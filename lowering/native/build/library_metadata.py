"""The interface of a compiled program, as `aot-lower-main` leaves it on the module."""

from xdsl.dialects.builtin import ModuleOp

from ....passes.support.diagnostics import PassError
from ....runtime.native.interface import Library, checked
from ...entries.descriptions import METADATA, record_of


def library_of(module: ModuleOp) -> Library:
    """Return the interface of `module`. Raises `PassError` if it has none."""
    if METADATA not in module.attributes:
        raise PassError(
            "machine code needs one flat function: end the pipeline in it, as -p aot does"
        )
    damaged = f"the attribute {METADATA} is damaged: run aot-lower-main to make it"
    return checked(record_of(Library, module.attributes[METADATA], module, damaged))
