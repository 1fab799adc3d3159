"""Caches: parameters that grow by rows, and whose memory callers lend for the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from ..tensors import as_tensor
from .language.dims_attributes import parameter_names

CACHE = "relay.cache"
"""
On a parameter: it is in a buffer of at most `maximum` rows, its sizes along `axis`, and the result
that is its concatenation with new rows along `axis` is in the same buffer.

    func.func @main(%past: tensor<1x8x?x64xf32> {relay.cache = {axis = 2, maximum = 1024}}, …)

`lend-caches` puts rows outermost, and replaces it by `relay.cached` on the result:

    func.func @main(%past: tensor<?x1x8x64xf32>, …)
        -> (tensor<?x1x8x64xf32> {relay.cached = {parameter = "past", maximum = 1024}})
"""

CACHED = "relay.cached"
"""On a result: the parameter in whose buffer it is, and the rows that it has at most."""


class Cached(NamedTuple):
    """A result that is in the buffer of a parameter, both by number."""

    result: int
    parameter: int
    maximum: int


def cache_attr(axis: int, maximum: int) -> DictionaryAttr:
    """Return the `relay.cache` of a parameter."""
    return DictionaryAttr({"axis": IntegerAttr(axis, i64), "maximum": IntegerAttr(maximum, i64)})


def cached_attr(parameter: str, maximum: int) -> DictionaryAttr:
    """Return the `relay.cached` of a result."""
    return DictionaryAttr(
        {"parameter": StringAttr(parameter), "maximum": IntegerAttr(maximum, i64)}
    )


def cached_results(function: FuncOp) -> Iterator[Cached]:
    """Yield the results of a function that are in buffers of its parameters."""
    attrs = () if function.res_attrs is None else function.res_attrs.data
    marked = [(i, entry.data[CACHED]) for i, entry in enumerate(attrs) if CACHED in entry.data]
    names = parameter_names(function) if marked else []
    for i, entry in marked:
        yield _cached(i, entry, names, function)


def _cached(result: int, entry: Attribute, names: list[StringAttr], function: FuncOp) -> Cached:
    fields = _fields(entry)
    parameter, maximum = fields.get("parameter"), _natural(fields.get("maximum"))
    if not isinstance(parameter, StringAttr) or parameter not in names or maximum is None:
        raise VerifyException(
            f"{CACHED} of result {result} of @{function.sym_name.data} must have the name of a "
            f"parameter and a maximum, but is {entry}"
        )
    return Cached(result, names.index(parameter), maximum)


def _fields(entry: Attribute) -> Mapping[str, Attribute]:
    empty = DictionaryAttr({})
    return (entry if isinstance(entry, DictionaryAttr) else empty).data


def _natural(number: Attribute | None) -> int | None:
    found = number.value.data if isinstance(number, IntegerAttr) else -1
    return found if found >= 0 else None


def cache_of(entry: DictionaryAttr, type: Attribute, what: str) -> tuple[int, int] | None:
    """
    Return axis and maximum of a cache, a parameter of `type` with these attributes, if it is one.

    Raises `VerifyException` if it cannot be one.
    """
    if (cache := entry.data.get(CACHE)) is None:
        return None
    fields = _fields(cache)
    axis, maximum = (_natural(fields.get(name)) for name in ("axis", "maximum"))
    if axis is None or maximum is None:
        raise VerifyException(f"{CACHE} of {what} must be {{axis, maximum}}, but is {cache}")
    tensor = as_tensor(type)
    shape = () if tensor is None else tensor.get_shape()
    if [i for i, dim in enumerate(shape) if dim == DYNAMIC_INDEX] != [axis]:
        raise VerifyException(
            f"{what} is a cache, so its only dynamic dim must be dim {axis}, but it is {type}"
        )
    return axis, maximum


class CachesOfFunction(OpTrait):
    """The `relay.cache` and `relay.cached` of a function describe its parameters and results."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        attrs = () if op.arg_attrs is None else op.arg_attrs.data
        for i, (entry, type) in enumerate(zip(attrs, op.function_type.inputs, strict=False)):
            cache_of(entry, type, f"parameter {i} of @{op.sym_name.data}")
        parameters = [cached.parameter for cached in cached_results(op)]
        if len(set(parameters)) != len(parameters):
            raise VerifyException(f"two results of @{op.sym_name.data} are in one {CACHE}")


def attach() -> None:
    """Let `func.func` verify its caches; again changes nothing."""
    FuncOp.traits.add_trait(CachesOfFunction())
