"""Build operators in regions and in functions of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ....dialects import relay
from ....dialects.device import tensor_type
from ....dialects.relay.language.annotations import REASON
from ....dialects.relay.language.control import IfOp, YieldOp
from ....dialects.tensors import Tensor, as_tensor, dtype_name
from ..errors import Refused
from .onnx_builder import Builder
from .onnx_data import Datum, MixedTypes, common, is_tensor, type_of
from .onnx_values import Value

Build = Callable[[], Sequence[Datum]]
"""Builds operators, and returns results."""


def choose(
    b: Builder, condition: Value, then: Build, otherwise: Build, ranks: Sequence[int | None] = ()
) -> Sequence[SSAValue]:
    """
    Build `relay.if` on `condition`, a tensor of rank 0, with the results of both branches.

    Where these differ in rank, the result has that which is in `ranks`, or that of the first branch
    (exported code removes a dim *if* it is 1); it is an error to take the other one. One element in
    both has the greater rank.
    """
    built: list[tuple[Block, Sequence[Datum]]] = []
    refused: Refused | None = None
    for build in (then, otherwise):
        block = Block()
        try:
            with b.at(block):
                built.append((block, build()))
        except Refused as error:  # the other branch may have more reasons
            refused = error
    if refused is not None:
        raise refused
    data = [
        None if all(map(is_tensor, pair)) else common(*map(type_of, pair))
        for pair in zip(*(results for _, results in built), strict=False)
    ]
    branches: list[tuple[Block, list[SSAValue]]] = []
    for block, values in built:
        with b.at(block):
            pairs = zip_longest(values, data)
            branches.append(
                (block, [b.tensor(v) if type is None else b.as_type(v, type) for v, type in pairs])
            )
    for i, pair in enumerate(zip(*(results for _, results in branches), strict=False)):
        types = [as_tensor(value.type) for value in pair]
        counts = [None if type is None else type.get_num_dims() for type in types]
        if None in counts or counts[0] == counts[1]:
            continue
        kept = counts.index(ranks[i]) if i < len(ranks) and ranks[i] in counts else 0
        if all(type is not None and {*type.get_shape()} <= {1} for type in types):
            kept = max(range(2), key=lambda k: counts[k] or 0)
            block, results = branches[1 - kept]
            with b.at(block):
                results[i] = b.tensor(b.reshape(results[i], [1] * (counts[kept] or 0)))
            continue
        block, results = branches[1 - kept]
        with b.at(block):
            results[i] = _never(
                b,
                types[kept],
                b.op("logical_not", condition) if kept else condition,
                f"result {i} of the branch that is taken has rank {counts[1 - kept]}, but that "
                f"of the other branch rank {counts[kept]}, which the model has",
            )
    yields = [results for _, results in branches]
    if len(yields[0]) != len(yields[1]):
        raise b.node.error(f"the branches have {len(yields[0])} and {len(yields[1])} results")
    try:
        types = [common(x.type, y.type) for x, y in zip(*yields, strict=True)]
    except MixedTypes as error:
        raise b.node.error(f"the branches have results of different types: {error}") from None
    for block, results in branches:
        with b.at(block):
            b.append(YieldOp.create(operands=results))
    regions = [Region(block) for block, _ in branches]
    return b.append(IfOp(b.tensor(condition), types, *regions))


def _never(b: Builder, type: Tensor | None, condition: Value, reason: str) -> SSAValue:
    """Return a value of `type` that is an error unless `condition` holds: a size is negative."""
    assert type is not None, "a tensor"
    size = b.cast(b.reshape(condition, (1,)), np.dtype(np.int64))
    size = b.op("subtract", size, b.ints([1]))
    is_static, dims = DYNAMIC_INDEX not in type.get_shape(), [*type.get_shape()] or [1]
    first = 0 if is_static else dims.index(DYNAMIC_INDEX)
    dims[first] = DYNAMIC_INDEX  # a check of sizes is one of dims that are not known
    ones = [b.ints([1 if dim == DYNAMIC_INDEX else dim]) for dim in dims]
    shape = b.joined([size if i == first else one for i, one in enumerate(ones)])
    fill = b.cast(b.scalar(0, np.dtype(np.int8)), np.dtype(dtype_name(type.element_type)))
    operands = [b.tensor(fill), b.tensor(shape)]
    cls = relay.BY_NAME["dyn.full"]
    full = tensor_type(type.element_type, dims)
    op = cls.create(operands=operands, result_types=[full])
    op.attributes[REASON] = StringAttr(reason)
    made = b.append(op)[0]
    return b.tensor(b.reshape(made, type.get_shape())) if is_static else made


@dataclass(frozen=True)
class Outlined:
    """A private function, and the values of the block around its calls that it needs."""

    function: FuncOp
    captured: Sequence[SSAValue]


def outline(
    b: Builder,
    name: str,
    types: Sequence[Attribute],
    build: Callable[[Sequence[SSAValue]], Sequence[Datum]],
) -> Outlined:
    """
    Build the private function `name`, of parameters of `types`.

    What `build` uses of the current block becomes further parameters, of its own calls too.
    """
    block = Block(arg_types=types)
    with b.at(block, isolated=True):
        results = [b.tensor(value) for value in build(block.args)]
        b.append(ReturnOp.create(operands=results))
    captured: dict[SSAValue, SSAValue] = {}
    for op in block.walk():
        for i, operand in enumerate(op.operands):
            if _is_in(operand, block):
                continue
            if operand not in captured:
                captured[operand] = block.insert_arg(operand.type, len(block.args))
                captured[operand].name_hint = operand.name_hint
            op.operands[i] = captured[operand]
    for op in block.walk():
        if isinstance(op, CallOp) and op.callee.string_value() == name:
            op.operands = [*op.operands, *captured.values()]
    function = FuncOp(
        name,
        (block.arg_types, [value.type for value in results]),
        Region(block),
        visibility="private",
    )
    function.location = b.node.location
    b.functions.append(function)
    return Outlined(function, list(captured))


def _is_in(value: SSAValue, block: Block) -> bool:
    """Test whether `value` is defined in `block`, or in a region of one of its ops."""
    owner = value.owner
    at = owner if isinstance(owner, Block) else owner.parent
    while at is not None:
        if at is block:
            return True
        op = at.parent_op()
        at = None if op is None else op.parent
    return False


def call(b: Builder, function: FuncOp, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    types = list(function.function_type.outputs)
    return b.append(CallOp(function.sym_name.data, list(operands), types))
