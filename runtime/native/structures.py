"""
Tuples of the callers of native functions, which take and return tensors only.

    (T, (U, V))  ->  nesting (2, None, 2, None, None)

A nesting is the number of fields of each tuple, depth first, and None for each tensor. Nothing here
recurses, as in `runtime.values`.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, TypeAlias, cast

from ..calls.values import Value
from ..codec.notes import NoneAs
from ..errors import MachineError
from ..program.named_results import unique_names
from ..program.program import Array, Function, Param
from ..program.records import record

Nesting: TypeAlias = tuple[Annotated[int | None, NoneAs(-1)], ...]

TENSOR: Nesting = (None,)


@record
class Nested:
    """A parameter or result: its name, or "", and the nesting of its fields."""

    name: str
    fields: Nesting


@record
class Structure:
    """The parameters and results of callers; their tensors, in order, are those of the function."""

    inputs: tuple[Nested, ...]
    outputs: tuple[Nested, ...]

    def require_fit(self, function: Function) -> None:
        """Raise `ValueError` unless `function` has as many tensors."""
        for nested, flat in ((self.inputs, function.params), (self.outputs, function.results)):
            counts = [_tensors(each.fields) for each in nested]
            if sum(counts) != len(flat or ()):
                raise ValueError(f"expected {len(flat or ())} tensors, but got {sum(counts)}")


def structure_of(function: Function) -> Structure:
    """Return the structure of a function that is called without tuples."""
    inputs, outputs = function.params, function.results or ()
    return Structure(
        tuple(Nested(param.name, TENSOR) for param in inputs),
        tuple(Nested(result.name, TENSOR) for result in outputs),
    )


def params_of(
    nested: Sequence[Nested], tensors: Sequence[Param], default: str
) -> tuple[Param, ...]:
    """
    Return the parameters or results as callers see them, with unique names: by default `default`
    and the number.

    As in a program of the machine, a tuple has no type, and the device of its first tensor.
    """
    left, found = iter(tensors), list[Param]()
    names = unique_names([each.name for each in nested], default)
    for each, name in zip(nested, names, strict=True):
        parts = [next(left) for _ in range(_tensors(each.fields))]
        if each.fields == TENSOR:
            found.append(Param(name, parts[0].spec, parts[0].device, parts[0].dims))
        else:
            found.append(Param(name, None, parts[0].device if parts else 0))
    return tuple(found)


def fields_of(
    nesting: Nesting, value: object, name: str, where: str = "{}"
) -> Iterator[tuple[str, object]]:
    """
    Yield each tensor of `value` with its place, such as `out[1]` in the value `out`.

    Raises `MachineError` at the first place that differs; `where` formats the place.
    """
    head, _, tail = where.partition("{}")
    rest: list[tuple[str, object]] = [(name, value)]
    for size in nesting:
        place, item = rest.pop()
        if size is None:
            yield place, item
            continue
        fields = cast("Sequence[object]", item) if isinstance(item, tuple | list) else None
        if fields is None or len(fields) != size:
            raise MachineError(f"{head}{place}{tail} must be a tuple of {size}")
        rest += [(f"{place}[{i}]", fields[i]) for i in reversed(range(size))]


def nested(nesting: Nesting, arrays: Sequence[Array]) -> Value:
    """Return `arrays` in tuples of this nesting."""
    left, done = list(arrays), list[Value]()
    for size in reversed(nesting):
        done.append(left.pop() if size is None else tuple(done.pop() for _ in range(size)))
    return done.pop()


def together(several: Sequence[Nested]) -> Nesting:
    """Return the nesting of a call's value: the only result, or a tuple of all results."""
    fields = tuple(size for each in several for size in each.fields)
    return fields if len(several) == 1 else (len(several), *fields)


def _tensors(nesting: Nesting) -> int:
    return nesting.count(None)
