"""
Print a module for mlir-opt, with the user's source lines.

    %m = linalg.matmul … loc("model.relay":3:8)

Messages of mlir-opt name these lines then. An op without a location has that of the op around it.
"""

from __future__ import annotations

from io import StringIO

from typing_extensions import override
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Operation

from ....dialects.xdsl_extras.locations_at_ends import LocationsAtEnds
from ....passes.support.diagnostics import file_location


class _Locating(LocationsAtEnds):
    """Print each location as its place in a file, or as that of the op around it."""

    around: LocationAttr = UNKNOWN_LOC

    @override
    def print_op(self, op: Operation) -> None:
        before = self.around
        self.around = file_location(op.location) or before
        super().print_op(op)
        self.around = before

    @override
    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, LocationAttr) and not self.printing_location:
            attribute = file_location(attribute) or self.around
        super().print_attribute(attribute)


def module_text(op: Operation) -> str:
    """Return the text of a module or function, as mlir-opt takes it."""
    text = StringIO()
    _Locating(stream=text, print_debuginfo=True).print_op(op)
    return text.getvalue() + "\n"
