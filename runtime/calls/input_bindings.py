"""
Sizes and values that a user gives to inputs: dims that are open until then, and constants.

    shapes x = [1, 3, None]          x: [n, 3, n]        x: [1, 3, 1]
    dims m = 8, y:1 = 2              y: [m, ?, "t"]  ->  y: [8, 2, "t"]
    values z = [4, 5]                z: [k]              z is the constant [4, 5]

A dim is bound by the shape of its parameter or its value, by its place (`y:1`), or by its name; a
shape or a place binds all dims of the name that have no shape or place of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from shlex import quote
from typing import Protocol, TypeAlias, cast

from ...operators.records import record
from ...operators.spelling import did_you_mean

MAX_DIGITS = 18
"""The maximum number of digits in the size of a dim, which then is an int64."""

SINGLE = (".npy", ".pb")
"""The extensions of files of one array, which are values, too."""

MAX_LISTED = 30
"""The maximum number of names in a message."""

Dim = int | str
"""A size, or the name of a dim that is open, "" without one."""


Number: TypeAlias = bool | int | float


@record
class Listed:
    """A value given element by element, in row-major order."""

    shape: tuple[int, ...]
    elements: tuple[Number, ...]


class Shaped(Protocol):
    """An array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        ...


Value: TypeAlias = Number | Shaped
"""A number is the value of all elements."""


class BindingError(Exception):
    """Sizes that do not fit the parameters; the message says which, and what there is."""


def shape_text(shape: Sequence[Dim | None]) -> str:
    """Return a shape for messages, such as `[n, 3, ?]`."""
    return f"[{', '.join('?' if dim in (None, '') else str(dim) for dim in shape)}]"


@record
class InputBindings:
    """
    Shapes by parameter (None: the dim stays open), sizes of dims by name or place, and values.

    A parameter with a value is a constant.
    """

    shapes: Mapping[str, Sequence[int | None]] = field(
        default_factory=dict[str, "Sequence[int | None]"]
    )
    dims: Mapping[str, int] = field(default_factory=dict[str, int])
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def __bool__(self) -> bool:
        return bool(self.shapes or self.dims or self.values)

    @property
    def all_shapes(self) -> Mapping[str, Sequence[int | None]]:
        """The shapes, also those of values that have one."""
        values = {
            name: value.shape
            for name, value in self.values.items()
            if not isinstance(value, bool | int | float)
        }
        return {**self.shapes, **values}

    def sizes_place(self, name: str, axis: int) -> bool:
        """Test whether a shape or a place gives dim `axis` of the parameter `name` a size."""
        shape = self.all_shapes.get(name, ())
        return f"{name}:{axis}" in self.dims or (axis < len(shape) and shape[axis] is not None)

    def bind(self, parameters: Sequence[tuple[str, Sequence[Dim] | None]]) -> list[list[Dim]]:
        """
        Return the dims of parameters, of which some were open, in their order.

        A parameter has a name, and dims unless it is not a tensor (the result has none for it).
        Raises `BindingError` for sizes that do not fit, and names and places that do not exist.
        """
        dims = {name: list(known) for name, known in parameters if known is not None}
        for name in self.values:
            require_input(name, dims)
        placed = self._placed(dims)
        by_name: dict[str, int] = {}
        for (name, axis), size in placed.items():
            known = dims[name][axis]
            if isinstance(known, int) and known != size:
                raise BindingError(f"dim {axis} of input '{name}' is {known}, and cannot be {size}")
            if isinstance(known, str) and known:
                other = self.dims.get(known, size)
                if other != size:
                    raise BindingError(
                        f"dim {axis} of input '{name}' is {known}, which is given as {other}, but "
                        f"the shape of '{name}' as {shape_text(self.all_shapes.get(name, [size]))}"
                    )
                by_name.setdefault(known, size)
        by_name |= self.dims
        return [
            [
                placed.get((name, axis), by_name.get(dim, dim) if isinstance(dim, str) else dim)
                for axis, dim in enumerate(known or ())
            ]
            for name, known in parameters
        ]

    def _placed(self, dims: Mapping[str, Sequence[Dim]]) -> dict[tuple[str, int], int]:
        """Return the sizes that are given by shape or place."""
        bound: dict[tuple[str, int], int] = {}
        for name, shape in self.shapes.items():
            own = getattr(self.values.get(name), "shape", tuple(shape))
            if len(own) != len(shape) or any(n not in (None, m) for n, m in zip(shape, own)):
                raise BindingError(
                    f"the shape of '{name}' is given as {shape_text(shape)}, but its value has "
                    f"{shape_text(own)}"
                )
        for name, shape in self.all_shapes.items():
            require_input(name, dims)
            known = dims[name]
            if len(shape) != len(known):
                raise BindingError(
                    f"input '{name}' has {len(known)} dims, {shape_text(known)}, but its shape is "
                    f"given as {shape_text(shape)}"
                )
            bound |= {(name, axis): dim for axis, dim in enumerate(shape) if dim is not None}
        names = {dim for known in dims.values() for dim in known if isinstance(dim, str) and dim}
        for dim, size in self.dims.items():
            if dim in names:
                continue
            name, _, number = dim.rpartition(":")
            axis = int(number) if number.isascii() and number.isdecimal() else -1
            if not 0 <= axis < len(dims.get(name, ())):
                open_dims = _open(dims)
                raise BindingError(
                    f"'{dim}' is not an open dim; the open dims are: "
                    f"{listed(open_dims)}{did_you_mean(dim, open_dims)}"
                )
            if bound.setdefault((name, axis), size) != size:
                raise BindingError(
                    f"dim {axis} of input '{name}' is given as {bound[name, axis]} and as {size}"
                )
        for (name, axis), size in bound.items():
            _require_size(f"dim {axis} of input '{name}'", size)
        for dim, size in self.dims.items():
            _require_size(f"dim {dim}", size)
        return bound


def require_input(name: str, known: Mapping[str, object]) -> None:
    """Raise `BindingError` unless `name` is one of the inputs `known`."""
    if name not in known:
        raise BindingError(
            f"unknown input '{name}'; the inputs are: {listed(known)}{did_you_mean(name, known)}"
        )


def listed(names: Iterable[str]) -> str:
    """Return `names` for a message, but not hundreds of them."""
    all_names = list(names)
    shown, more = all_names[:MAX_LISTED], len(all_names) - MAX_LISTED
    return ", ".join(shown) + f", and {more} more" * (more > 0) or "none"


def _open(dims: Mapping[str, Sequence[Dim]]) -> list[str]:
    """Return the names, or places, of open dims."""
    open_dims = (
        dim or f"{name}:{axis}"
        for name, known in dims.items()
        for axis, dim in enumerate(known)
        if isinstance(dim, str)
    )
    return list(dict.fromkeys(open_dims))


def _require_size(what: str, size: object) -> None:
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 63:
        raise BindingError(f"{what} must be a size of at least 0, but is {size!r}")


def option(name: str, value: str) -> str:
    """Return an option and its value as one types them into a shell."""
    quoted = quote(value)
    return f"{name}={quoted}" if value.startswith("-") else f"{name} {quoted}"


def dim_option(dim: str) -> str:
    """Return the option that gives the dim `dim`, a name or a place, a size."""
    return option("--dim", f"{dim}=SIZE")


def parse_shape(text: str) -> tuple[str, tuple[int | None, ...]]:
    """Parse `x=1x3x?`, `x=` for a scalar; raises `ValueError` with the form that is needed."""
    name, equals, shape = text.rpartition("=")
    dims = shape.split("x") if shape else []
    if not equals or not name or not all(dim == "?" or _is_size(dim) for dim in dims):
        raise ValueError(f"must be a parameter and its shape, like x=1x3x?, but is '{text[:80]}'")
    return name, tuple(None if dim == "?" else int(dim) for dim in dims)


def parse_dim(text: str) -> tuple[str, int]:
    """Parse `n=3` or `x:0=3`; raises `ValueError` with the form that is needed."""
    name, _, size = text.rpartition("=")
    if name and size.isascii() and size.isdecimal() and len(size) > MAX_DIGITS:
        raise ValueError(
            f"must have at most {MAX_DIGITS} digits in its size, but '{text[:60]}' has more"
        )
    if not name or not _is_size(size):
        raise ValueError(f"must be a dim and its size, like n=3 or x:0=3, but is '{text[:80]}'")
    return name, int(size)


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS


_WORDS = {"nan": "NaN", "inf": "Infinity"}
_MAX_NESTED = 32
"""The maximum depth of lists: the maximum rank of an array."""


def parse_value(text: str) -> Number | Listed:
    """
    Parse `16000`, `1,2,3` or `[[1, 2], [3, 4]]`.

    Raises `ValueError` with the form that is needed.
    """
    json_text = re.sub(r"\b(nan|inf)\b", lambda word: _WORDS[word[0].lower()], text, flags=re.I)
    if "," in text and not text.lstrip().startswith("["):
        json_text = f"[{json_text}]"
    try:
        return _value(json.loads(json_text))
    except (ValueError, RecursionError) as error:
        detail = f" ({error})" if type(error) is _WrongValue else ""
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ValueError(
            "must be a number, a list like 1,2,3 or [[1, 2], [3, 4]], or a file .npy or .pb, but "
            f"is '{shown}'{detail}"
        ) from None


class _WrongValue(ValueError):
    """A JSON value that is not a number or an array of numbers."""


def _value(parsed: object) -> Number | Listed:
    if isinstance(parsed, bool | int | float):
        return parsed
    level, shape = [parsed], list[int]()
    while all(isinstance(part, list) for part in level):
        lists = cast("list[list[object]]", level)
        if len({len(part) for part in lists}) > 1:
            raise _WrongValue("lists of different lengths")
        if len(shape) == _MAX_NESTED:
            raise _WrongValue(f"more than {_MAX_NESTED} dims")
        if not lists:
            break
        shape.append(len(lists[0]))
        level = [element for part in lists for element in part]
    elements = [element for element in level if isinstance(element, bool | int | float)]
    if len(elements) != len(level):
        raise _WrongValue("elements must be numbers")
    return Listed(tuple(shape), tuple(elements))
