"""Build operators in regions and in functions of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.relay.language.control import IfOp, YieldOp, common_yields
from .onnx_builder import Builder
from .onnx_values import Value

Build = Callable[[], Sequence[Value]]
"""Builds operators, and returns results."""


def choose(b: Builder, condition: Value, then: Build, otherwise: Build) -> Sequence[SSAValue]:
    """Build `relay.if` on `condition`, a tensor of rank 0, with the results of both branches."""
    regions = [_region(b, build) for build in (then, otherwise)]
    untyped = IfOp(b.tensor(condition), [], *regions)
    try:
        types = common_yields(untyped)
    except VerifyException as error:
        raise b.node.error(str(error)) from None
    for region in regions:
        untyped.detach_region(region)
    untyped.erase()
    return b.append(IfOp(b.tensor(condition), types, *regions))


def _region(b: Builder, build: Build) -> Region:
    block = Block()
    with b.at(block):
        results = [b.tensor(value) for value in build()]
        b.append(YieldOp.create(operands=results))
    return Region(block)


@dataclass(frozen=True)
class Outlined:
    """A private function, and the values of the block around its calls that it needs."""

    function: FuncOp
    captured: Sequence[SSAValue]


def outline(
    b: Builder,
    name: str,
    types: Sequence[Attribute],
    build: Callable[[Sequence[SSAValue]], Sequence[Value]],
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
    """Build a call of `function`."""
    types = list(function.function_type.outputs)
    return b.append(CallOp(function.sym_name.data, list(operands), types))
