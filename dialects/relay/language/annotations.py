"""Names of the discardable attributes that keep what Relay records of functions and parameters."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

NAME = "relay.name"
"""On a parameter or result: its name in the source if its name in the IR differs."""

ATTRS = "relay.attrs"
"""On a function or kernel: its attributes in Relay."""

TYPE_PARAMS = "relay.type_params"
"""On a generic function: its type parameters."""

STRUCTURE = "relay.structure"
"""On a function whose tuples were flattened: names and nesting of its inputs and outputs before."""

REASON = "relay.reason"
"""On an operator: what is wrong if a check of its sizes fails, in place of the failed relation."""

INLINE = "relay.inline"
"""On a function: its calls are to be replaced by its body (`Inline` in Relay's attributes)."""


def type_params_of(function: Operation) -> Sequence[str]:
    """Return the names of the type parameters of a function."""
    params = function.attributes.get(TYPE_PARAMS)
    if not isinstance(params, ArrayAttr):
        return ()
    return [name.data for name in cast("ArrayAttr[StringAttr]", params)]
