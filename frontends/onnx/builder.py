"""
Writes `relay` operators at the end of a block, for the node at hand.

    y = b.op("nn.conv2d", x, w, strides=(2, 2), groups=1)

Operands are values; Python properties become attributes as the dialect wants them. When all
operands are known at compile time and the operator is one that can be folded, nothing is
written and the result is a constant too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, prod
from typing import Any, cast

import numpy as np
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects import relay
from ...dialects.attributes import properties_of
from ...dialects.dense import dense
from ...dialects.relay.constants import ConstantOp, ParamOp
from .folding import MAKE_LIMIT, fold
from .node import Node
from .values import (
    Array,
    Constant,
    Value,
    dtype_of,
    shape_of,
    tensor_type_of,
    value_name,
)


def _plain(value: Any) -> Any:
    """`value` as `properties_of` takes it: dtypes by name, sequences of Python's integers."""
    if isinstance(value, np.dtype):
        return cast("np.dtype[Any]", value).name
    return value if isinstance(value, int | float | str) else [int(i) for i in value]


class Builder:
    """
    Appends operators to a block; `params` are the constants too large for the text.

    Those are the ones of more than `inline_limit` bytes.
    """

    def __init__(self, block: Block, inline_limit: int):
        self.block = block
        self.inline_limit = inline_limit
        self.params: dict[str, Array] = {}
        self._node: Node | None = None
        self._params_named: dict[str, int] = {}
        self._scalars: dict[tuple[str, bytes], Constant] = {}

    @property
    def node(self) -> Node:
        """The node at hand: the operators written are its, and so are the errors."""
        assert self._node is not None, "no node is being converted"
        return self._node

    @node.setter
    def node(self, node: Node) -> None:
        self._node = node

    # ------------------------------------------------------------ operators

    def op(self, name: str, *operands: Value, **properties: Any) -> Value:
        """The one result of operator `name` (without `relay.`); None properties are absent."""
        return self.results(name, operands, **properties)[0]

    def results(self, name: str, operands: Sequence[Value], **properties: Any) -> Sequence[Value]:
        """All results of operator `name`."""
        given = {k: v for k, v in properties.items() if v is not None}
        folded = self._folded(name, operands, given)
        if folded is not None:
            return folded
        cls = relay.BY_NAME.get(name)
        assert cls is not None, f"there is no operator relay.{name}"
        try:
            plain = {key: _plain(value) for key, value in given.items()}
            op = cls.on([self.tensor(o) for o in operands], properties_of(cls, plain))
        except VerifyException as error:
            raise self.node.error(str(error)) from None
        return self._append(op).results

    def _append(self, op: Operation) -> Operation:
        if self._node is not None:
            op.location = self._node.location
        self.block.add_op(op)
        return op

    def _folded(
        self, name: str, operands: Sequence[Value], properties: Mapping[str, Any]
    ) -> Sequence[Value] | None:
        arrays = [o.array for o in operands if isinstance(o, Constant)]
        if len(arrays) != len(operands):
            return None
        try:
            folded = fold(name, arrays, properties)
        except (ValueError, IndexError, TypeError) as error:
            raise self.node.error(f"on constants: {error}") from None
        return None if folded is None else [self.constant(a) for a in folded]

    # ------------------------------------------------------------ constants

    def constant(self, array: Array, name: str = "") -> Constant:
        """A constant called `name`, or else after the node."""
        return Constant(name or self.node.title, array)

    def repeated(self, element: Array, shape: Sequence[int]) -> Constant:
        """One element as a tensor of `shape`."""
        if prod(n for n in shape if n) * element.itemsize >= 2**63:
            raise self.node.error(f"a tensor of shape {list(shape)} does not fit any memory")
        return self.constant(np.broadcast_to(element.reshape(()), tuple(shape)))

    def require_few(self, elements: int, what: str) -> None:
        """`what`, an array that is about to be made up, must not be too large."""
        if elements > MAKE_LIMIT:
            raise self.node.error(f"{what} has {elements} elements; supported: up to {MAKE_LIMIT}")

    def scalar(self, number: float, dtype: np.dtype[Any]) -> Constant:
        """`number` as a tensor of rank 0."""
        if dtype.kind in "iu" and not (isfinite(number) and number == dtype.type(number)):
            raise self.node.error(f"{number} is no number of dtype {dtype}")
        with np.errstate(over="ignore"):  # it is an infinity then
            array = np.asarray(number).astype(dtype)
        key = (dtype.name, array.tobytes())
        if key not in self._scalars:
            self._scalars[key] = self.constant(array, "scalar")
        return self._scalars[key]

    def scalar_like(self, number: float, value: Value) -> Constant:
        """`number` as a tensor of rank 0 with the element type of `value`."""
        return self.scalar(number, dtype_of(value))

    def ints(self, numbers: Sequence[int]) -> Constant:
        """A vector of i64."""
        return self.constant(np.asarray(list(numbers), np.int64))

    def tensor(self, value: Value) -> SSAValue:
        """`value` as a tensor: a constant gets its operator when it is first needed as one."""
        if not isinstance(value, Constant):
            return value
        if value.tensor is None:
            value.tensor = self._materialize(value)
            value.tensor.name_hint = value_name(value.name)
        return value.tensor

    def _materialize(self, constant: Constant) -> SSAValue:
        type = tensor_type_of(constant)
        array = constant.array
        # what has no dims is a number that an operator was given, not a weight
        inline = array.ndim == 0 or array.nbytes <= self.inline_limit
        if array.size == 0 or (constant.is_splat and not inline):
            # no bytes in the file for one element, repeated
            element: Any = array[(0,) * array.ndim] if array.size else 0
            fill = self.scalar(element, array.dtype)
            return self.tensor(self.op("full", fill, shape=array.shape))
        if inline:
            return self._append(ConstantOp(dense(type, array.tobytes()))).results[0]
        name = self._unique(constant.name)
        self.params[name] = array
        return self._append(ParamOp(name, type)).results[0]

    def _unique(self, name: str) -> str:
        count = self._params_named.get(name, 0)
        self._params_named[name] = count + 1
        unique = f"{name}#{count}" if count else name
        return unique if unique not in self.params else self._unique(unique)

    # ------------------------------------------------------ what many rules do

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """`value` with a static shape of as many elements."""
        old = shape_of(value)
        if old == tuple(shape):
            return value
        if prod(old) != prod(shape):
            raise self.node.error(
                f"{prod(old)} elements of shape {list(old)} do not fit shape {list(shape)}"
            )
        zeros = True if 0 in shape else None
        return self.op("reshape", value, newshape=tuple(shape), allowzero=zeros)

    def transpose(self, value: Value, axes: Sequence[int]) -> Value:
        """`value` with its dims in the order of `axes`."""
        if list(axes) == list(range(len(axes))):
            return value
        return self.op("transpose", value, axes=tuple(axes))

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        """`value` repeated to `shape`."""
        if shape_of(value) == tuple(shape):
            return value
        return self.op("broadcast_to", value, shape=tuple(shape))

    def cast(self, value: Value, dtype: np.dtype[Any]) -> Value:
        """`value` with elements of `dtype`."""
        if dtype_of(value) == dtype:
            return value
        return self.op("cast", value, dtype=dtype)

    def slice(self, value: Value, axis: int, begin: int, end: int) -> Value:
        """The part of `value` from `begin` to `end` of `axis`."""
        if (begin, end) == (0, shape_of(value)[axis]):
            return value
        return self.op(
            "strided_slice", value, begin=(begin,), end=(end,), strides=(1,), axes=(axis,)
        )
