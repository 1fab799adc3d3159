"""
Tuples of the callers of native functions, which take and return tensors only.

    (T, (U, V))  ->  nesting (2, None, 2, None, None)

A nesting is the number of fields of each tuple, depth first, and None for each tensor. Nothing here
recurses, as in `runtime.values`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, cast

from ..errors import MachineError
from ..program import Array, Function, Param
from ..records import record
from ..values import Value

Nesting: TypeAlias = "tuple[int | None, ...]"

TENSOR: Nesting = (None,)


@record
class Nested:
    """A parameter or result by its name, "" without, and its nesting."""

    name: str
    nesting: Nesting


@record
class Structure:
    """The parameters and results of callers; their tensors, in order, are those of the function."""

    inputs: tuple[Nested, ...]
    outputs: tuple[Nested, ...]

    def require_fit(self, function: Function) -> None:
        """Raise `ValueError` if the tensors are not as many as those of `function`."""
        for nested, flat in ((self.inputs, function.params), (self.outputs, function.results)):
            counts = [_tensors(each.nesting) for each in nested]
            if sum(counts) != len(flat or ()):
                raise ValueError(f"{sum(counts)} tensors in place of {len(flat or ())}")


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
    Return what callers see of `tensors`; one without a name is called `default` and its number.

    As in a program of the machine, a tuple has no type, and the device of its first tensor.
    """
    left, found, taken = iter(tensors), list[Param](), set[str]()
    for number, each in enumerate(nested):
        parts = [next(left) for _ in range(_tensors(each.nesting))]
        name = each.name if each.name and each.name not in taken else f"{default}{number}"
        taken.add(name)
        if each.nesting == TENSOR:
            found.append(Param(name, parts[0].spec, parts[0].device, parts[0].dims))
        else:
            found.append(Param(name, None, parts[0].device if parts else 0))
    return tuple(found)


def fields_of(
    nesting: Nesting, value: object, name: str, where: str = "{}"
) -> Iterator[tuple[str, object]]:
    """
    Yield the tensors of `value`, each after its place, such as `out[1]` in the value `out`.

    Raises `MachineError` at the first place with another nesting; `where` formats it.
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
    """Return tuples of this nesting, which hold `arrays`."""
    left, done = list(arrays), list[Value]()
    for size in reversed(nesting):
        done.append(left.pop() if size is None else tuple(done.pop() for _ in range(size)))
    return done.pop()


def together(several: Sequence[Nested]) -> Nesting:
    """Return the nesting of what a function returns: its only result, or a tuple of all."""
    fields = tuple(size for each in several for size in each.nesting)
    return fields if len(several) == 1 else (len(several), *fields)


def _tensors(nesting: Nesting) -> int:
    return nesting.count(None)
