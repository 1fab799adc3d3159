"""
Build `relay` operators at the end of a block, for the current node.

    y = b.op("nn.conv2d", x, w, strides=(2, 2), groups=1)

Operands are values, and Python properties are converted to attributes. If all operands are known
at compile time and the operator can be folded, no op is built and the result is a constant. What
reads sizes from constants becomes the operator that has them as attributes, and what returns its
operand unchanged is not built, so that a rule says once what it computes, of known sizes or not.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from math import isfinite, prod
from typing import Any, TypeAlias, cast

import numpy as np
from onnx import GraphProto
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects import relay
from ....dialects.attributes import properties_of
from ....dialects.dense import dense
from ....dialects.relay.language.language_types import AdtType
from ....dialects.relay.operator import Operator
from ....dialects.tensors import as_tensor
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ...conversion import ssa_name
from .folding import MAKE_LIMIT, fold, fold_view, is_folded, is_identity, static_form
from .node import Node
from .onnx_data import LIST, Absent, Datum, Items, is_data, part_of, type_of
from .onnx_values import (
    Array,
    Constant,
    Dim,
    DimOf,
    Value,
    dims_of,
    dtype_of,
    has_static_shape,
    rank_of,
    tensor_type_of,
)

ConvertGraph: TypeAlias = Callable[[Node, GraphProto, Sequence[Datum]], Sequence[Datum]]
"""
Converts a graph that is an attribute of a node, on these arguments, at the end of the builder's
block, and returns its results.
"""


def _plain(value: Any) -> Any:
    """Convert `value` for `properties_of`: dtypes by name, sequences of Python integers."""
    if isinstance(value, np.dtype):
        return cast("np.dtype[Any]", value).name
    return value if isinstance(value, int | float | str) else [int(i) for i in value]


class Builder:
    """
    Appends operators to a block; `params` are the constants too large for the text.

    These are the ones of more than `inline_limit` bytes.
    """

    def __init__(self, block: Block, inline_limit: int, convert_graph: ConvertGraph):
        self.block = block
        self.functions: list[FuncOp] = []
        """The functions besides the one that is being built."""
        self.convert_graph = convert_graph
        self.inline_limit = inline_limit
        self.params: dict[str, Array] = {}
        self.prelude: dict[str, None] = {}
        """The functions and constructors of Relay's prelude that are used."""
        self._node: Node | None = None
        self._functions_named = Counter({"main": 1})
        self._params_named: dict[str, int] = {}
        self._params_of: dict[Constant, str] = {}
        self._scalars: dict[tuple[str, bytes], Constant] = {}
        self._tensors: MutableMapping[Constant, SSAValue] = {}
        """The constants that operators of the block, or of one around it, have needed."""
        self._shapes: MutableMapping[SSAValue, Value] = {}
        self._wide: dict[Value, Value] = {}
        self.built = 0
        """The number of operators so far."""

    @property
    def node(self) -> Node:
        """The current node, which operators and errors are attributed to."""
        assert self._node is not None, "no node is being converted"
        return self._node

    @node.setter
    def node(self, node: Node) -> None:
        self._node = node

    # ------------------------------------------------------------ operators

    def op(self, name: str, *operands: Value, **properties: Any) -> Value:
        """Build the operator `relay.name`, of one result; properties that are None are omitted."""
        return self.results(name, operands, **properties)[0]

    def results(self, name: str, operands: Sequence[Value], **properties: Any) -> Sequence[Value]:
        """Build operator `name` and return all its results."""
        given = {k: v for k, v in properties.items() if v is not None}
        name, operands, given = static_form(name, operands, given)
        if is_identity(name, operands, given):
            return operands[:1]
        folded = self._folded(name, operands, given)
        if folded is not None:
            return folded
        return self._append(self._created(name, [self.tensor(o) for o in operands], given)).results

    def _created(
        self, name: str, operands: Sequence[SSAValue], properties: Mapping[str, Any]
    ) -> Operator:
        return self._typed(relay.BY_NAME[name], operands, properties)

    def _typed(
        self, cls: type[Operator], operands: Sequence[SSAValue], properties: Mapping[str, Any]
    ) -> Operator:
        try:
            plain = {key: _plain(value) for key, value in properties.items()}
            return cls.on(operands, properties_of(cls, plain))
        except VerifyException as error:
            raise self.node.error(str(error)) from None

    def _append(self, op: Operation) -> Operation:
        if self._node is not None:
            op.location = self._node.location
        self.block.add_op(op)
        self.built += 1
        return op

    def build(self, cls: type[Operator], *operands: Value, **properties: Any) -> Sequence[SSAValue]:
        """Build an operator of a plug-in, and return its results, whose types are inferred."""
        given = {k: v for k, v in properties.items() if v is not None}
        return self._append(self._typed(cls, [self.tensor(o) for o in operands], given)).results

    def append(self, op: Operation) -> Sequence[SSAValue]:
        """Append `op`, which is not an operator, and return its results."""
        return self._append(op).results

    @contextmanager
    def at(self, block: Block, isolated: bool = False) -> Generator[None]:
        """
        Build at the end of `block`, which is in a region of an op of the current block.

        With `isolated`, it is in another function: constants are built anew in it.
        """
        outer = self.block, self._tensors, self._shapes
        self.block = block
        if isolated:
            self._tensors, self._shapes = {}, {}
        else:
            self._tensors, self._shapes = ChainMap({}, outer[1]), ChainMap({}, outer[2])
        try:
            yield
        finally:
            self.block, self._tensors, self._shapes = outer

    def _folded(
        self, name: str, operands: Sequence[Value], properties: Mapping[str, Any]
    ) -> Sequence[Value] | None:
        arrays = [o.array for o in operands if isinstance(o, Constant)]
        if len(arrays) != len(operands):
            return None
        parameters = Block(arg_types=[tensor_type_of(o) for o in operands]).args
        op = self._created(name, parameters, properties)
        try:
            folded = fold_view(name, arrays, properties)
            if folded is None and is_folded(type(op), arrays):
                folded = fold(op, arrays)
        except (ValueError, IndexError, TypeError) as error:
            raise self.node.error(f"cannot fold constants: {error}") from None
        return None if folded is None else [self.constant(a) for a in folded]

    # ------------------------------------------------------------ constants

    def constant(self, array: Array, name: str = "") -> Constant:
        """Return a constant called `name`, by default after the node."""
        return Constant(name or self.node.title, array)

    def splat(self, element: Array, shape: Sequence[int]) -> Constant:
        """Return a tensor of `shape` with one repeated element."""
        if prod(n for n in shape if n) * element.itemsize >= 2**63:
            raise self.node.error(f"a tensor of shape {list(shape)} does not fit any memory")
        return self.constant(np.broadcast_to(element.reshape(()), tuple(shape)))

    def require_size(self, elements: int, what: str) -> None:
        """Require that `what`, an array about to be created, is not too large."""
        if elements > MAKE_LIMIT:
            raise self.node.error(f"{what} has {elements} elements; supported: up to {MAKE_LIMIT}")

    def scalar(self, number: float, dtype: np.dtype[Any]) -> Constant:
        """Return `number` as a tensor of rank 0."""
        if dtype.kind in "iu" and not (isfinite(number) and number == dtype.type(number)):
            raise self.node.error(f"dtype {dtype} cannot represent {number}")
        with np.errstate(over="ignore"):  # an overflow yields an infinity
            array = np.asarray(number).astype(dtype)
        key = (dtype.name, array.tobytes())
        if key not in self._scalars:
            self._scalars[key] = self.constant(array, "scalar")
        return self._scalars[key]

    def scalar_like(self, number: float, value: Value) -> Constant:
        """Return `number` as a tensor of rank 0 with the element type of `value`."""
        return self.scalar(number, dtype_of(value))

    def ints(self, numbers: Sequence[int]) -> Constant:
        """Return a vector of i64."""
        return self.constant(np.asarray(list(numbers), np.int64))

    def tensor(self, value: Datum) -> SSAValue:
        """Return `value` as a tensor, or data; the op of a constant is built on first use."""
        if isinstance(value, Items | Absent):
            return self.as_type(value, type_of(value))
        if not isinstance(value, Constant):
            return value
        tensor = self._tensors.get(value)
        if tensor is None:
            tensor = self._tensors[value] = self._materialize(value)
            tensor.name_hint = ssa_name(value.name)
        return tensor

    def _materialize(self, constant: Constant) -> SSAValue:
        type = tensor_type_of(constant)
        array = constant.array
        # a value without dims is a parameter of an operator, not a weight
        inline = array.ndim == 0 or array.nbytes <= self.inline_limit
        if array.size == 0 or (constant.is_splat and not inline):
            # one repeated element takes no bytes in the file
            element: Any = array[(0,) * array.ndim] if array.size else 0
            fill = self.scalar(element, array.dtype)
            full = self._created("full", [self.tensor(fill)], {"shape": array.shape})
            return self._append(full).results[0]
        if inline:
            return self._append(relay.ConstantOp(dense(type, array.tobytes()))).results[0]
        name = self._params_of.get(constant)
        if name is None:
            name = self._params_of[constant] = self._unique(constant.name)
            self.params[name] = array
        return self._append(relay.ParamOp(name, type)).results[0]

    # ----------------------------------------------------------------- data

    def as_type(self, value: Datum, type: Attribute) -> SSAValue:
        """Return `value` as one of `type`, which has fewer dims that are known, or optional."""
        if not isinstance(type, AdtType):
            tensor = self.tensor(value)
            if tensor.type == type or as_tensor(type) is None:
                return tensor
            cls, operands = relay.BY_NAME["dyn.reshape"], [tensor, self.tensor(self.shape(tensor))]
            zeros = properties_of(cls, {"allowzero": True})
            return self.append(
                cls.create(operands=operands, result_types=[type], properties=zeros)
            )[0]
        if isinstance(value, Absent):
            return self._construct(type, "None")
        if isinstance(value, Items) and is_data(type, LIST):
            rest = self._construct(type, "Nil")
            for element in reversed(value.elements):
                rest = self._construct(type, "Cons", self.as_type(element, part_of(type)), rest)
            return rest
        if not is_data(type_of(value), type.adt.string_value()):
            return self._construct(type, "Some", self.as_type(value, part_of(type)))
        data = self.tensor(value)
        set_type(data, type)  # it may be incomplete
        return data

    def _construct(self, type: AdtType, constructor: str, *fields: SSAValue) -> SSAValue:
        self.prelude[constructor] = None
        return self.append(relay.ConstructOp(type, constructor, fields))[0]

    def invoke(
        self, name: str, types: Sequence[Attribute], *args: SSAValue, type: Attribute
    ) -> SSAValue:
        """Build a call of the prelude's function `name`, which has a result of `type`."""
        self.prelude[name] = None
        return self.append(relay.InvokeOp(name, types, args, type))[0]

    def closure(
        self,
        types: Sequence[Attribute],
        result: Attribute,
        build: Callable[[Sequence[SSAValue]], Datum],
    ) -> SSAValue:
        """Build a closure that `build` builds from its parameters."""
        block = Block(arg_types=types)
        with self.at(block):
            self.append(relay.YieldOp(self.as_type(build(block.args), result)))
        return self.append(relay.FnOp(types, result, Region(block)))[0]

    def unique_function(self, name: str) -> str:
        """Return a name for a function that no other has: `name`, as far as it is free."""
        plain = ssa_name(name) or "function"
        self._functions_named[plain] += 1
        count = self._functions_named[plain]
        return plain if count == 1 else self.unique_function(f"{plain}.{count}")

    def _unique(self, name: str) -> str:
        count = self._params_named.get(name, 0)
        self._params_named[name] = count + 1
        unique = f"{name}#{count}" if count else name
        return unique if unique not in self.params else self._unique(unique)

    # ------------------------------------------------------ what many rules do

    def shape(self, value: Value) -> Value:
        """Return the shape of `value`, a vector of i64: a constant if it is static."""
        if isinstance(value, Constant) or has_static_shape(value):
            return self.ints([dim for dim in dims_of(value) if isinstance(dim, int)])
        if value not in self._shapes:
            self._shapes[value] = self.op("shape_of", value, dtype=np.dtype(np.int64))
        return self._shapes[value]

    def sizes(self, dims: Sequence[Dim]) -> Value:
        """Return `dims` as a vector of i64."""
        parts: list[Value] = []
        at = 0
        while at < len(dims):
            dim, stop = dims[at], at + 1
            if isinstance(dim, int):
                while stop < len(dims) and isinstance(dims[stop], int):
                    stop += 1
                parts.append(self.ints([n for n in dims[at:stop] if isinstance(n, int)]))
            else:
                while stop < len(dims) and dims[stop] == DimOf(dim.value, dim.axis + stop - at):
                    stop += 1
                shape = self.shape(dim.value)
                parts.append(self.slice(shape, 0, dim.axis, dim.axis + stop - at))
            at = stop
        return self.joined(parts)

    def size(self, dim: Dim) -> Value:
        """Return `dim` as a scalar of i64."""
        return self.reshape(self.sizes([dim]), ())

    def counting(self, end: Dim | Value) -> Value:
        """Return the integers from 0 up to `end`, a dim or a scalar, as i64."""
        size = self.size(end) if isinstance(end, int | DimOf) else end
        if isinstance(size, Constant):
            self.require_size(int(size.array), "the range")
            return self.constant(np.arange(int(size.array)))
        zero, one = (self.scalar(n, np.dtype(np.int64)) for n in (0, 1))
        return self.op("arange", zero, size, one, dtype="int64")

    def joined(self, parts: Sequence[Value]) -> Value:
        """Return vectors of i64 as one."""
        if not parts:
            return self.ints([])
        return parts[0] if len(parts) == 1 else self.op("concatenate", *parts, axis=0)

    def integers(self, index: int, what: str) -> Value:
        """
        Return input `index` of the node, a scalar or a vector, as a vector of i64.

        In old opsets it is the attribute `what`.
        """
        value = self.optional_integers(index, what)
        if value is None:
            raise self.node.error(f"the {what} are missing")
        return value

    def optional_integers(self, index: int, what: str) -> Value | None:
        """Return what `integers` does; None if it is omitted."""
        numbers, value = self.node.ints(what), self.node.optional(index)
        if numbers is not None or value is None:
            return None if numbers is None else self.ints(numbers)
        if rank_of(value) > 1 or dtype_of(value).kind not in "iu":
            raise self.node.error(
                f"{what} (input {index}) must be a vector of integers, but is "
                f"{dtype_of(value)} of rank {rank_of(value)}"
            )
        value = value if rank_of(value) else self.reshape(value, (1,))
        return self.cast(value, np.dtype(np.int64))

    def vector(self, index: int, what: str, length: int | None = None) -> tuple[Value, int]:
        """
        Return input `index` of the node as a vector of i64, and its length.

        A length that is known when the program runs must then be `length`.
        """
        value = self.integers(index, what)
        (count,) = dims_of(value)
        length = count if isinstance(count, int) else length
        if length is None or length < 0:
            raise self.node.error(
                f"the length of {what} (input {index}) is computed at run time; supported: "
                "vectors of known length",
                value,
                needs_shape=True,
            )
        return self.reshape(value, (length,)), length

    def reshape(self, value: Value, shape: Sequence[Dim]) -> Value:
        """Reshape `value` to as many elements."""
        old, new = dims_of(value), tuple(shape)
        entries = [
            dim if isinstance(dim, int) else 0 if old[i : i + 1] == (dim,) else -1
            for i, dim in enumerate(new)
        ]
        if entries.count(-1) > 1 or 0 in new:
            return self.op("dyn.reshape", value, self.sizes(new), allowzero=True)
        return self.op("reshape", value, newshape=entries)

    def transpose(self, value: Value, axes: Sequence[int]) -> Value:
        """Permute the dims of `value` into the order of `axes`."""
        return self.op("transpose", value, axes=tuple(axes))

    def broadcast_to(self, value: Value, shape: Sequence[Dim]) -> Value:
        if dims_of(value) == tuple(shape):
            return value
        return self.op("dyn.broadcast_to", value, self.sizes(shape))

    def cast(self, value: Value, dtype: np.dtype[Any]) -> Value:
        """Cast the elements of `value` to `dtype`."""
        return self.op("cast", value, dtype=dtype)

    def rounded(self, wide: Value, dtype: np.dtype[Any]) -> Value:
        """
        Round `wide`, an intermediate result, to `dtype`; `unrounded` returns it again.

        ONNX leaves open where operators of the same node, or of several, round to float16.
        """
        value = self.cast(wide, dtype)
        if value is not wide:
            self._wide[value] = wide
        return value

    def unrounded(self, value: Value) -> Value:
        """Return what `value` was rounded from, if that is known, else `value`."""
        return self._wide.get(value, value)

    def slice(self, value: Value, axis: int, begin: int, end: int) -> Value:
        return self.op(
            "strided_slice", value, begin=(begin,), end=(end,), strides=(1,), axes=(axis,)
        )
