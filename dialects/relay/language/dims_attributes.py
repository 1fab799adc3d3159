"""Named dims of parameters: dims of one name are one size, which may have bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from ....operators.named_dims import Bounds, dims_fault
from ...attributes import bounds_by_name, bounds_in
from ...tensors import as_tensor
from .annotations import NAME

DIMS = "relay.dims"
"""
On a parameter that is a tensor: its dims, of which dynamic ones have a name.

    func.func @main(%x: tensor<?x768xf32> {relay.dims = ["n", 768]},
                    %mask: tensor<?xi1> {relay.dims = ["n"]}) -> …

Dims of one name in a function are one size, which is checked when the function is entered from
outside. A dim without a name is "".
"""

DIM_BOUNDS = "relay.dim_bounds"
"""
On a function: the bounds of named dims of its parameters, both included, or the lower one alone.

    func.func @main(%x: tensor<?x?xf32> {relay.dims = ["n", "m"]})
        attributes {relay.dim_bounds = {n = [1, 2048], m = [1]}} …

They are checked with the names; memory is planned for sizes within them.
"""

DimName: TypeAlias = str | int


def dims_attr(dims: Iterable[DimName]) -> ArrayAttr[Attribute]:
    """Return the `relay.dims` of a parameter with these sizes and names."""
    return ArrayAttr(
        StringAttr(dim) if isinstance(dim, str) else IntegerAttr(dim, i64) for dim in dims
    )


def dims_of(attrs: DictionaryAttr | None) -> tuple[DimName, ...] | None:
    """Return what the attributes of a parameter say of its dims; None if nothing."""
    dims = None if attrs is None else attrs.data.get(DIMS)
    if not isinstance(dims, ArrayAttr):
        return None
    names: list[DimName] = []
    for dim in cast("ArrayAttr[Attribute]", dims).data:
        if isinstance(dim, StringAttr):
            names.append(dim.data)
        elif isinstance(dim, IntegerAttr):
            names.append(dim.value.data)
    return tuple(names)


def dim_names(function: FuncOp) -> list[tuple[str | None, ...]]:
    """Return the name of each dim of each parameter, None where it has none."""
    count = len(function.function_type.inputs)
    attrs = [] if function.arg_attrs is None else list(function.arg_attrs.data)
    listed = [dims_of(entry) or () for entry in attrs] or [()] * count
    return [tuple(dim if isinstance(dim, str) and dim else None for dim in dims) for dims in listed]


def dim_bounds(function: FuncOp) -> dict[str, Bounds]:
    """Return the bounds of the named dims of a function that have some."""
    entries = function.attributes.get(DIM_BOUNDS)
    return bounds_by_name(entries) if isinstance(entries, DictionaryAttr) else {}


def parameter_names(function: FuncOp) -> list[StringAttr]:
    """
    Return the names of the parameters: their `relay.name`, their names in the text, or numbers.

    Duplicate names are suffixed with their index.
    """
    names: list[StringAttr] = []
    attrs = function.arg_attrs
    for i, argument in enumerate(function.args):
        given = attrs.data[i].data.get(NAME) if attrs is not None else None
        name = given.data if isinstance(given, StringAttr) else argument.name_hint or f"arg{i}"
        attr = StringAttr(name)
        names.append(StringAttr(f"{name}_{i}") if attr in names else attr)
    return names


def result_names(function: FuncOp) -> tuple[str | None, ...]:
    """Return the names of the results of a function; None for one without."""
    attrs = function.res_attrs
    if attrs is None:
        return (None,) * len(function.function_type.outputs)
    names: list[str | None] = []
    for entry in attrs:
        name = entry.data.get(NAME)
        names.append(name.data if isinstance(name, StringAttr) else None)
    return tuple(names)


def named_dims_fault(function: FuncOp, shapes: Sequence[Sequence[int] | None]) -> str | None:
    """
    Return which named dims differ in arguments of `shapes`, or exceed their bounds; None if none.

    The shape of an argument that is not a tensor is None.
    """
    names = [name.data for name in parameter_names(function)]
    parameters = zip(names, dim_names(function), shapes, strict=True)
    return dims_fault(
        ((name, dims, shape) for name, dims, shape in parameters if shape is not None),
        dim_bounds(function),
    )


def verify_dims(dims: Attribute, type: Attribute, what: str) -> None:
    """Check that `dims`, the `relay.dims` of a parameter, describe its type."""
    tensor = as_tensor(type)
    if tensor is None:
        raise VerifyException(f"{DIMS} describes a tensor, but {what} is {type}")
    if not isinstance(dims, ArrayAttr):
        raise VerifyException(f"{DIMS} of {what} must be an array, but is {dims}")
    shape, entries = tensor.get_shape(), cast("ArrayAttr[Attribute]", dims).data
    if len(entries) != len(shape):
        raise VerifyException(
            f"{DIMS} of {what} needs an entry for each of {len(shape)} dims, but has {len(entries)}"
        )
    for axis, (entry, dim) in enumerate(zip(entries, shape, strict=True)):
        if dim == DYNAMIC_INDEX:
            if not isinstance(entry, StringAttr):
                raise VerifyException(
                    f"dim {axis} of {what} is dynamic, and {DIMS} must name it, but has {entry}"
                )
        elif not isinstance(entry, IntegerAttr) or entry.value.data != dim:
            raise VerifyException(
                f"dim {axis} of {what} is {dim}, and {DIMS} must say so, but has {entry}"
            )


def verify_bounds(function: FuncOp) -> None:
    """Check that the `relay.dim_bounds` of a function are bounds of its named dims."""
    entries = function.attributes.get(DIM_BOUNDS)
    if entries is None:
        return
    what = f"{DIM_BOUNDS} of @{function.sym_name.data}"
    if not isinstance(entries, DictionaryAttr):
        raise VerifyException(f"{what} must be a dictionary, but is {entries}")
    known = {name: None for names in dim_names(function) for name in names if name}
    for name, entry in entries.data.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise VerifyException(f"{what} has bounds of '{name}', but the named dims are {names}")
        bounds = bounds_in(entry)
        if bounds is None:
            raise VerifyException(
                f"{what}: the bounds of '{name}' must be one or two integers, but are {entry}"
            )
        if not bounds.are_in_order:
            raise VerifyException(
                f"{what}: the bounds of '{name}' must be at least 0 and in order, but are {entry}"
            )


class DimsOfParameters(OpTrait):
    """The `relay.dims` and `relay.dim_bounds` of a function describe its parameters."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        attrs = () if op.arg_attrs is None else op.arg_attrs.data
        for i, (entry, type) in enumerate(zip(attrs, op.function_type.inputs, strict=False)):
            dims = entry.data.get(DIMS)
            if dims is not None:
                verify_dims(dims, type, f"parameter {i} of @{op.sym_name.data}")
        verify_bounds(op)


def attach() -> None:
    """Let `func.func` verify the dims of its parameters; again changes nothing."""
    FuncOp.traits.add_trait(DimsOfParameters())
