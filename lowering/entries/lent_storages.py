"""
The uses of what a caller lends to a function: storages of results, and workspaces.

    %y = memref.view %r[%c0][] : memref<?xi8> to memref<4xf32>      ends at byte 16 of %r
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import SymbolTable

from ...dialects.dense import integer
from ...dialects.tensors import element_size
from ...passes.support.diagnostics import PassError
from ...runtime.program.dtypes import element_type
from ...runtime.program.program import TensorSpec
from ..memref.memref_types import as_memref


def type_of_views(storage: SSAValue, spec: TensorSpec) -> Attribute | None:
    """Return the type of `spec` as which all uses of `storage` view its start; None if not all."""
    types: set[Attribute] = set()
    shape = tuple(DYNAMIC_INDEX if size is None else size for size in spec.shape)
    item_size = element_type(spec.dtype).itemsize
    for use in storage.uses:
        view = use.operation
        if not isinstance(view, memref.ViewOp) or integer(view.byte_shift) != 0:
            return None
        type = as_memref(view.result.type)
        if type.get_shape() != shape or element_size(type.element_type) != item_size:
            return None
        types.add(type)
    return types.pop() if len(types) == 1 else None


def verify_room(function: func.FuncOp, storage: SSAValue, what: str, room: int) -> None:
    """
    Raise `PassError` if more than the first `room` bytes of `storage`, which is `what`, are used.

    Ends that are not static are checked when the program runs.
    """
    pending, seen = [storage], {storage}
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, func.CallOp):
                callee = SymbolTable.lookup_symbol(function, op.callee)
                assert isinstance(callee, func.FuncOp), "verified: calls are of functions"
                param = callee.body.block.args[use.index] if callee.body.blocks else storage
                if param not in seen:
                    seen.add(param)
                    pending.append(param)
            end = static_end(op) if isinstance(op, memref.ViewOp) else None
            if end is not None and end > room:
                raise PassError(
                    f"@{function.sym_name.data} uses {end} bytes of {what}, but a caller may have "
                    f"{room}: plan-memory{{lend-entries}} makes storages that fit",
                    op,
                )


def static_end(view: memref.ViewOp) -> int | None:
    """Return the byte at which a view ends, if it is known."""
    type, start = as_memref(view.result.type), integer(view.byte_shift)
    if start is None or DYNAMIC_INDEX in type.get_shape():
        return None
    return start + prod(type.get_shape()) * element_size(type.element_type)
