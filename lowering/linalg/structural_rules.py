"""
Rules for what is not a tensor operator: calls, branches, constants, sizes, checks.

    func.call @f(%x) : (tensor<4xui8>) -> tensor<4xui8>    func.call @f(%x) : (tensor<4xi8>) -> …
    relay.param "w" : tensor<9xf32>                  ->    arith.constant dense_resource<w> : …
    relay.require eq %a, %b, "…"                           %0 = arith.cmpi eq, %a, %b : i64
                                                           cf.assert %0, "…"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, cf, func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseResourceAttr, FunctionType, StringAttr, i1
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ...dialects import relay
from ...dialects.dense import integer
from ...dialects.device import upstream_type
from ...dialects.tensors import Tensor, as_tensor, signless
from ...operators.sizes import Check
from ..upstream_sizes.arith_measures import NotArithmetic, write_measure
from ..upstream_sizes.checked_code import CheckedCode
from ..upstream_sizes.checked_functions import FUNCTIONS
from .builder import INDEX, Builder, Rule, Unsupported
from .rules import creation
from .scalars import compare

_PLACEHOLDER = re.compile(r"\{(\d{1,4})\}")


def yield_of(values: Sequence[SSAValue]) -> Operation:
    """Return the terminator of a branch."""
    return scf.YieldOp(*values)


def branch(
    b: Builder, condition: SSAValue, types: Sequence[Attribute], regions: Sequence[Region]
) -> Sequence[SSAValue]:
    """Return the results of the branch that `condition`, an integer tensor of rank 0, selects."""
    number = b.extract(condition, ())
    if number.type != i1:
        number = compare(b, "ne", number, b.constant(0, number.type))
    return b.insert_all(scf.IfOp(number, types, regions[0], regions[1]))


def call(
    b: Builder, name: str, type: FunctionType, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Call the function `name` of an upstream `type`, whose parameters may know fewer dims."""
    args = [b.cast(v, tensor_of_type(t)) for v, t in zip(operands, type.inputs, strict=True)]
    made = func.CallOp(name, args, type.outputs.data)
    return b.insert_all(made)


def tensor_of_type(type: Attribute) -> Tensor:
    """Return `type`, which is a ranked tensor."""
    tensor = as_tensor(type)
    assert tensor is not None, f"{type} is not a ranked tensor"
    return tensor


def checked_cast(b: Builder, value: SSAValue, type: Attribute, what: str) -> SSAValue:
    """Return `value` as one of `type`, asserting the dims that only `type` knows."""
    wanted = tensor_of_type(type)
    for axis, (dim, have) in enumerate(zip(wanted.get_shape(), b.dims(value), strict=True)):
        if dim != DYNAMIC_INDEX and not isinstance(have, int):
            assert_that(
                b, compare(b, "eq", have, b.index(dim)), f"dim {axis} of {what} must be {dim}"
            )
    return b.cast(value, wanted)


def param(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Name the weight as a resource; `-t linalg` writes its bytes at the end of the text."""
    assert isinstance(op, relay.ParamOp)
    type = upstream_type(op.result.type)
    value = DenseResourceAttr.from_params(op.param.data, cast(Any, type))
    made = arith.ConstantOp.create(properties={"value": value}, result_types=[type])
    return [b.insert(made)]


def same(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Return the operand: a value is the same on every device."""
    return operands


def copied(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Return the results of the same op, of an upstream dialect."""
    made = type(op).create(
        operands=operands,
        properties=dict(op.properties),
        result_types=[signless(upstream_type(t)) for t in op.result_types],
    )
    return b.insert_all(made)


def checked(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Return the sum, difference or product of two sizes, i64 or index; assert that it fits."""
    w = writer(b)
    wide = [w.integer(value, value.type) for value in operands]
    result = FUNCTIONS[op.name.removeprefix("arith.")].write(w, *wide)
    assert result is not None, "arithmetic has a result"
    return [b.index(result) if op.results[0].type == INDEX else result]


def shown(message: str, values: Sequence[SSAValue]) -> str:
    """Return the message of a check, with the sizes that are constants; others are `?`."""

    def text(found: re.Match[str]) -> str:
        known = integer(values[int(found[1])])
        return "?" if known is None else str(known)

    return _PLACEHOLDER.sub(text, message)


def assert_that(b: Builder, condition: SSAValue, message: str) -> None:
    """Stop the program with `message` unless `condition` holds."""
    made = cf.AssertOp(condition, StringAttr(message))
    b.insert_all(made)


def writer(b: Builder) -> CheckedCode:
    """Return a writer of arithmetic on sizes at `b`, with checks that stop the program."""

    def fail(ok: SSAValue, message: str, values: Sequence[SSAValue]) -> None:
        assert_that(b, ok, shown(message, values))

    return CheckedCode(b.insert_all, fail)


def require(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Assert the relation."""
    assert isinstance(op, relay.RequireOp)
    w = writer(b)
    left, right, *_ = operands
    w.fail(w.holds(Check(op.check.data), left, right), op.message.data, op.operands)
    return ()


def measure(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute a measure of sizes."""
    assert isinstance(op, relay.MeasureOp)
    try:
        return [write_measure(writer(b), op, operands, op.args.types)]
    except NotArithmetic as error:
        raise Unsupported(str(error)) from error


RULES: Mapping[str, Rule] = {
    "relay.constant": creation.constant,
    "relay.param": param,
    "relay.on_device": same,
    "relay.device_copy": same,
    "vm.shape_of": creation.shape_of,
    "relay.require": require,
    "relay.measure": measure,
    "arith.addi": checked,
    "arith.subi": checked,
    "arith.muli": checked,
    **{
        f"arith.{name}": copied
        for name in (
            "andi cmpi constant divsi extsi extui floordivsi index_cast maxsi minsi ori remsi "
            "select trunci"
        ).split()
    },
    "tensor.extract": copied,
    "tensor.from_elements": copied,
    "tensor.dim": copied,
}
"""The rules, by the full name of the op."""
