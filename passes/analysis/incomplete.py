"""Values whose types nobody has filled in yet."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...dialects.relay.incomplete import is_incomplete
from ...dialects.walking import walk


def unknown_value(module: ModuleOp) -> SSAValue | None:
    """The first value in program order whose type is still incomplete."""
    for op in walk(module):
        for result in op.results:
            if is_incomplete(result.type):
                return result
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    if is_incomplete(argument.type):
                        return argument
    return None
