"""
Make storages that callers lend the last parameters of a function.

    func.func private @f(%x: T) {          func.func private @f(%x: T, %w: !memory.storage {…}) {
      %s = memory.alloc_storage 64   ->      %s = memory.alloc_storage 64
"""

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriter

from ...dialects import memory
from ...dialects.device import device_of
from ..functions.signatures import insert_parameters
from .lending import Lent


def take_storages(lent: Lent, is_entry: bool, rewriter: PatternRewriter) -> None:
    """Make storages of a function its parameters."""
    op = lent.function
    for result in lent.results:
        number = IntegerAttr(result.number, i64)
        attributes = described(memory.RESULT, number, result.alignment)
        (param,) = insert_parameters(op, len(op.args), [result.type], [attributes])
        param.name_hint = "result"
        for storage in result.ops:
            rewriter.replace(storage, [], [param])
    for workspace in lent.workspaces:
        listed = DenseArrayBase.from_list(i64, [shape.index for shape in workspace.shapes])
        attributes = described(memory.WORKSPACE, listed, workspace.alignment)
        device = device_of(workspace.type)
        if device is not None and isinstance(device.scope, StringAttr):
            place = StringAttr(memory.place_of(device))
            attributes = DictionaryAttr({**attributes.data, memory.POOL: place})
        (param,) = insert_parameters(op, len(op.args), [workspace.type], [attributes])
        param.name_hint = "workspace"
    if not is_entry:
        op.sym_visibility = StringAttr("private")
    rewriter.notify_op_modified(op)


def described(kind: str, value: Attribute, alignment: int) -> DictionaryAttr:
    return DictionaryAttr({kind: value, memory.ALIGNMENT: IntegerAttr(alignment, i64)})
