"""
Every rule, read in every way, gives the shapes of NumPy's results.

A *reader* of rules decides what a dim is that is hidden from a rule. A new reader joins by an entry
in `READERS`: a function from an operator, its operands and a choice of hidden dims to the shapes
of its results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pytest
from helpers.operators.inferring import OPERATORS
from helpers.operators.numpy_functions import SHAPES, results
from helpers.operators.operator_cases import DTYPES, GENERATORS, Case, Draw, case, proposed_call
from helpers.operators.traced_rules import by_shape_function, static_shapes
from helpers.programs.every_case import every
from helpers.programs.random_settings import rounds

from xrelay.operators.all_rules import RULES
from xrelay.operators.measures import MEASURES
from xrelay.operators.signature import Call, Tensor
from xrelay.operators.sizes import (
    UNKNOWN,
    Check,
    Dim,
    SignatureError,
    Size,
    SizeOp,
    fill,
)
from xrelay.runtime.kernels.checked import call_on

NEEDS = re.compile("squeeze needs axis|gather_nd needs index_rank")
"""Errors of dims that determine a rank, and are unknown."""

CASES = rounds(40)
"""The number of cases of each operator."""

Hidden: TypeAlias = Sequence[Sequence[bool]]
"""For each dim of each operand, whether it is hidden."""
Shapes: TypeAlias = list[tuple[Size, ...]]
Reader: TypeAlias = Callable[[Call, Hidden], Shapes]
"""Returns the shapes of the results of a call of known shapes, some of whose dims are hidden."""


def _broadcast(a: int, b: int) -> int:
    return b if a == 1 else a


COMPUTE: Mapping[SizeOp, Callable[[int, int], int]] = {
    SizeOp.ADD: int.__add__,
    SizeOp.SUB: int.__sub__,
    SizeOp.MUL: int.__mul__,
    SizeOp.FLOORDIV: int.__floordiv__,
    SizeOp.MOD: int.__mod__,
    SizeOp.MAX: max,
    SizeOp.MIN: min,
    SizeOp.BROADCAST: _broadcast,
}


def number(size: Any) -> Any:
    return size.value if isinstance(size, Late) else size


@dataclass(frozen=True, eq=False)
class Late(Dim):
    """A size that rules cannot see, as at run time: what they ask for is computed at once."""

    value: int

    def binary(self, op: SizeOp, left: Size, right: Size) -> Size:
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        return Late(COMPUTE[op](number(left), number(right)))

    def require(self, check: Check, left: Size, right: Size, message: str) -> None:
        a, b = number(left), number(right)
        if left is not UNKNOWN and right is not UNKNOWN and not check.holds(a, b):
            raise SignatureError(fill(message, (a, b)))

    def measure(self, name: str, args: Sequence[Size | float]) -> Size:
        if UNKNOWN in args:
            return UNKNOWN
        try:
            return Late(MEASURES[name](*map(number, args)))
        except ValueError as error:  # of a measure without a value for these sizes
            raise SignatureError(str(error)) from error


def hide(call: Call, hidden: Hidden, dim: Callable[[int], Size]) -> Call:
    """Return `call` with `dim` of the size in place of each hidden dim."""
    operands: list[Tensor | str] = []
    for operand, flags in zip(call.operands, hidden, strict=True):
        assert isinstance(operand, Tensor)
        sizes = [number(size) for size in operand.dims]
        dims = tuple(dim(size) if flag else size for size, flag in zip(sizes, flags, strict=True))
        operands.append(Tensor(operand.element, dims))
    return call._replace(operands=operands)


def by_integers(call: Call, hidden: Hidden) -> Shapes:
    return [result.dims for result in RULES[call.name](call)]


def by_unknowns(call: Call, hidden: Hidden) -> Shapes:
    return [result.dims for result in RULES[call.name](hide(call, hidden, lambda _: UNKNOWN))]


def by_late_sizes(call: Call, hidden: Hidden) -> Shapes:
    found = RULES[call.name](hide(call, hidden, Late))
    return [tuple(map(number, result.dims)) for result in found]


def by_traced_sizes(call: Call, hidden: Hidden) -> Shapes:
    found = by_shape_function(call, hidden)
    return [*(static_shapes(call, hidden) if found is None else found)]


READERS: dict[str, Reader] = {
    "integers": by_integers,
    "unknowns": by_unknowns,
    "late sizes": by_late_sizes,
    "traced sizes": by_traced_sizes,
}


def call_of(case: Case) -> Call:
    return call_on(f"relay.{case.name}", case.attrs, case.operands)


def choices(call: Call, rng: np.random.Generator) -> Iterator[Hidden]:
    """Hide all dims, then some; never the number of sizes, which the result's rank depends on."""
    shown = RULES[call.name].size_operands
    ranks = [operand.rank for operand in call.operands if isinstance(operand, Tensor)]
    for share in (1, 0.5, 0.2):
        yield [
            [i not in shown and bool(flag) for flag in rng.random(rank) < share]
            for i, rank in enumerate(ranks)
        ]


def numpy_shapes(case: Case) -> Shapes:
    """The shapes of what NumPy computes."""
    read = RULES[f"relay.{case.name}"].data_operands
    keeps = case.name in ("where", "cast", "take")
    operands = [
        x if i in read else np.zeros(x.shape, x.dtype if keeps else float)
        for i, x in enumerate(case.operands)
    ]
    attrs = {name: value for name, value in case.attrs.items() if name != "out_dtype"}
    with np.errstate(all="ignore"):
        arrays = results(SHAPES[case.name], operands, attrs)
    return [array.shape for array in arrays]


Found = TypeVar("Found")


def read(reader: Callable[[Call, Hidden], Found], call: Call, hidden: Hidden) -> Found | str:
    """Return the shapes of the results of a call, or the error."""
    try:
        return reader(call, hidden)
    except SignatureError as error:
        return str(error)


def outcome(reader: Reader, call: Call, hidden: Hidden) -> str | None:
    """The error of a call; None if the rule accepts it."""
    found = read(reader, call, hidden)
    return found if isinstance(found, str) else None


every_operator = pytest.mark.parametrize("name", sorted(GENERATORS))
compared_operator = pytest.mark.parametrize("name", sorted(set(GENERATORS) & set(SHAPES)))


def agrees(dim: Size, wanted: Size) -> bool:
    return dim is UNKNOWN or (type(dim) is type(wanted) and dim == wanted)


@compared_operator
@every("reader", READERS)
def test_readers_agree_with_numpy(name: str, reader: str):
    rng = np.random.default_rng(0)
    for each in range(CASES if reader != "traced sizes" else CASES // 5):
        drawn = case(name, each)
        call, wanted = call_of(drawn), numpy_shapes(drawn)
        for hidden in choices(call, rng):
            found = read(READERS[reader], call, hidden)
            if isinstance(found, str):
                assert NEEDS.search(found), f"{drawn} {hidden}: {found}"
                continue
            assert found is not None
            assert len(found) == len(wanted)
            for dims, exact in zip(found, wanted, strict=True):
                assert len(dims) == len(exact), f"{drawn} {hidden}"
                if reader != "unknowns":
                    assert dims == exact, f"{drawn} {hidden}"
                assert all(map(agrees, dims, exact)), f"{drawn} {hidden}: {dims}"


@every_operator
def test_what_is_invalid_is_rejected_as_soon_as_its_sizes_are_known(name: str):
    """Unknown dims are accepted; when they are known, the same calls are valid as at once."""
    rng = np.random.default_rng(1)
    for each in range(4 * CASES):
        operands, given = GENERATORS[name](Draw(rng, DTYPES[each // 2 % len(DTYPES)]))
        call = proposed_call(name, operands, given)
        for hidden in choices(call, rng):
            at_once = outcome(by_integers, call, hidden)
            unknown = outcome(by_unknowns, call, hidden)
            late = outcome(by_late_sizes, call, hidden)
            if NEEDS.search(unknown or ""):
                continue
            assert (at_once is None) == (late is None), f"{call} {hidden}: {at_once}, {late}"
            assert unknown is None or at_once is not None, f"{call} {hidden}: {unknown}"
            for message in (at_once, unknown, late):
                assert not set(message or "") & set("{}"), message


@every_operator
def test_shape_functions_reject_what_is_invalid(name: str):
    """A shape function fails for the same sizes as the rule, if the result has unknown dims."""
    rng = np.random.default_rng(2)
    if RULES[f"relay.{name}"].data_operands:
        return  # these calls have no elements
    for each in range(CASES // 2):
        operands, given = GENERATORS[name](Draw(rng, DTYPES[each % len(DTYPES)]))
        call = proposed_call(name, operands, given)
        for hidden in choices(call, rng):
            found = read(by_shape_function, call, hidden)
            if found is not None and not (isinstance(found, str) and NEEDS.search(found)):
                at_once = outcome(by_integers, call, hidden)
                assert isinstance(found, str) == (at_once is not None), f"{call} {hidden}: {found}"


@every("name", sorted(GENERATORS))
def test_rules_have_the_attributes_of_their_ops(name: str):
    properties = set(OPERATORS[name].get_irdl_definition().properties)
    properties -= {"operandSegmentSizes", "resultSegmentSizes"}
    assert set(RULES[f"relay.{name}"].attributes) == properties
