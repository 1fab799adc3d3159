"""
Operators on elements of a type, as `tests/test_numbers.py` compares them at every level.

    for row in rows():
        for operands in row.operands(100):
            exact = row.reference(operands)       by `kernel_references`, in higher precision
            row.errors(out, exact)                of an array of results, in its units
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from helpers.numbers.number_bounds import (
    ATTRIBUTES,
    DTYPES,
    MAY_UNDERFLOW,
    applied,
    bound_of,
    dtypes_of,
    is_reduction,
    may_return_either_zero,
    operators,
)
from helpers.numbers.number_errors import is_exact, ulps
from helpers.numbers.number_operands import matrices, vectors
from helpers.operators.kernel_references import REFERENCES
from helpers.operators.kernel_results import results_of
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Operation, Region

from xrelay.dialects import relay
from xrelay.dialects.attributes import plain_attributes
from xrelay.dialects.tensors import as_tensor, dtype_name

Array: TypeAlias = Any


class Exact(NamedTuple):
    """The exact results of an operator, and the sizes of their terms if it is a sum."""

    values: Any
    terms: Any


@dataclass(frozen=True)
class Row:
    """An operator on elements of type `dtype`; `target` is the type that a cast converts to."""

    name: str
    dtype: str
    target: str | None = None

    @property
    def id(self) -> str:
        return f"{self.name}-{self.dtype}" + (f"-{self.target}" if self.target else "")

    @property
    def bound(self) -> float | None:
        """The bound of its errors; None if it is exact."""
        return bound_of(self.name, self.dtype)

    def op(self, dims: Sequence[int] = ()) -> Operation:
        """The operator on the arguments of a new block, of these dims, or any."""
        op = applied(self.name, self.dtype, self._given, dims)
        assert op is not None, self
        return op

    def kernel(self, name: str) -> relay.PrimFuncOp:
        """A kernel of the operator alone."""
        op = self.op()
        block = op.parent_block()
        assert block is not None
        block.add_op(relay.YieldOp(*op.results))
        region = block.parent_region() or Region([block])
        types = [arg.type for arg in block.args], [result.type for result in op.results]
        return relay.PrimFuncOp(name, FunctionType.from_lists(*types), region)

    @property
    def _given(self) -> Mapping[str, Any]:
        return {} if self.target is None else {"dtype": self.target}

    @property
    def attributes(self) -> Mapping[str, Any]:
        return _attributes(self)

    @property
    def result(self) -> str:
        """The element type of the result."""
        return _result(self)

    def operands(self, count: int) -> Iterator[list[Array]]:
        """
        Yield operands: edges and `count` random numbers; then some, one, and none of them.

        In the second, numbers have other places in a vector than in the first.
        """
        rng = np.random.default_rng(crc32(self.id.encode()))
        types = [as_tensor(operand.type) for operand in self.op().operands]
        dtypes = [dtype_name(type.element_type) or "" for type in types if type is not None]
        if is_reduction(self.name):
            for x in matrices(self.name, self.dtype, count, rng):
                yield [x]
            if self.name in ("sum", "prod", "all", "any"):
                yield [np.zeros((3, 0), self.dtype)]
            yield [np.zeros((0, 3), self.dtype)]
            return
        every = vectors(dtypes, count, rng)
        if self.name == "full":
            for number in every[0]:
                yield [np.array(number)]
            return
        yield every
        yield [x[1:68] for x in every]
        yield [x[:1] for x in every]
        yield [x[:0] for x in every]

    def results_shape(self, operands: Sequence[Array]) -> tuple[int, ...]:
        if self.name == "full":
            return ATTRIBUTES["full"]["shape"]
        return operands[0].shape[:1] if is_reduction(self.name) else operands[0].shape

    def reference(self, operands: Sequence[Array]) -> Exact:
        """The exact results."""
        reference = REFERENCES[self.name]
        specs = [(self.results_shape(operands), self.result)]
        with np.errstate(all="ignore"):
            (values,) = results_of(reference.values(self.attributes, specs, *operands))
            terms: Any = 0.0
            if reference.terms is not None:
                (terms,) = results_of(reference.terms(self.attributes, specs, *operands))
        return Exact(values, terms)

    def errors(self, out: Array, exact: Exact) -> Array:
        """The error of each result: in units in the last place; of exact ones 0 or infinite."""
        with np.errstate(all="ignore"):
            if self.bound is None:
                right = is_exact(out, exact.values, may_return_either_zero(self.name))
                return np.where(right, 0.0, np.inf)
            return ulps(out, exact.values, exact.terms, self.name in MAY_UNDERFLOW)


@cache
def _attributes(row: Row) -> Mapping[str, Any]:
    return plain_attributes(row.op())


@cache
def _result(row: Row) -> str:
    type = as_tensor(row.op().results[0].type)
    assert type is not None
    return dtype_name(type.element_type) or ""


@cache
def rows() -> Sequence[Row]:
    """All operators on elements of all types that they accept."""
    found: list[Row] = []
    for name in operators():
        for dtype in dtypes_of(name):
            targets = DTYPES if name == "cast" else (None,)
            found += (Row(name, dtype, target) for target in targets)
    return found
