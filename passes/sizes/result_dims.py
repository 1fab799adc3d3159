"""
The names of dims of results: those of parameters that they are equal to in every run.

    func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}) -> tensor<?x4xf32>     ("n", "")
"""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp, ReturnOp

from ...dialects.relay.language.dims_attributes import dim_names
from ...dialects.tensors import has_dynamic
from ...operators.sizes.size_expressions import Expr
from .reader import Sizes


def dims_of_results(function: FuncOp) -> list[tuple[str, ...]]:
    """Return the name of each dim of each result, "" for one without; () if a result has none."""
    names = dim_names(function)
    last = function.body.block.last_op if len(function.body.blocks) == 1 else None
    if not any(map(any, names)) or not isinstance(last, ReturnOp):
        return [()] * len(function.function_type.outputs)
    dynamic = [has_dynamic(value.type) for value in last.operands]
    sizes, named = Sizes(), dict[Expr, str]()
    if any(dynamic):
        sizes.read(function)
        for argument, dims in zip(function.args, names, strict=False):
            known = sizes.dims(argument) if any(dims) else ()
            named |= {size: name for size, name in zip(known, dims, strict=False) if name}

    def of(dims: Sequence[Expr]) -> tuple[str, ...]:
        names = tuple(named.get(dim, "") for dim in dims)
        return names if any(names) else ()

    return [
        of(sizes.dims(value)) if is_dynamic else ()
        for value, is_dynamic in zip(last.operands, dynamic, strict=True)
    ]
