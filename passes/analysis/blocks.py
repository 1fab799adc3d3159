"""The block of a function whose control flow is structured: `relay.if` and calls."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation

from ..support.diagnostics import PassError


def only_block(function: Operation) -> Block:
    """Return the only block of `function`; an error if it has none or several."""
    blocks = [block for region in function.regions for block in region.blocks]
    name = function.properties.get("sym_name")
    shown = f"@{name.data}" if isinstance(name, StringAttr) else function.name
    if not blocks:
        raise PassError(f"{shown} has no body", function)
    if len(blocks) > 1:
        raise PassError(
            f"{shown} must be one block, but has {len(blocks)}: branch with relay.if, and loop "
            "with calls",
            function,
        )
    return blocks[0]
