"""
Sizes that a user gives to dims of parameters which are open until then.

    shapes x = [1, 3, None]          x: [n, 3, n]        x: [1, 3, 1]
    dims m = 8, y:1 = 2              y: [m, ?, "t"]  ->  y: [8, 2, "t"]

A dim is bound by the shape of its parameter, by its place (`y:1`), or by its name; a shape or a
place binds all dims of the name that have no shape or place of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .spelling import did_you_mean

MAX_DIGITS = 18
"""The maximum number of digits in the size of a dim, which then is an int64."""

Dim = int | str
"""A size, or the name of a dim that is open, "" without one."""


class BindingError(Exception):
    """Sizes that do not fit the parameters; the message says which, and what there is."""


def shape_text(shape: Sequence[Dim | None]) -> str:
    """Return a shape for messages, such as `[n, 3, ?]`."""
    return f"[{', '.join('?' if dim in (None, '') else str(dim) for dim in shape)}]"


@dataclass(frozen=True)
class DimBindings:
    """Shapes by parameter (None: the dim stays open), and sizes of dims by name or place."""

    shapes: Mapping[str, Sequence[int | None]] = field(
        default_factory=dict[str, "Sequence[int | None]"]
    )
    dims: Mapping[str, int] = field(default_factory=dict[str, int])

    def __bool__(self) -> bool:
        return bool(self.shapes or self.dims)

    def bind(self, parameters: Sequence[tuple[str, Sequence[Dim] | None]]) -> list[list[Dim]]:
        """
        Return the dims of parameters, of which some were open, in their order.

        A parameter has a name, and dims unless it is not a tensor (the result has none for it).
        Raises `BindingError` for sizes that do not fit, and names and places that do not exist.
        """
        dims = {name: list(known) for name, known in parameters if known is not None}
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
                        f"the shape of '{name}' as {shape_text(self.shapes.get(name, [size]))}"
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
        found: dict[tuple[str, int], int] = {}
        for name, shape in self.shapes.items():
            known = dims.get(name)
            if known is None:
                raise BindingError(
                    f"unknown input '{name}'; the inputs are: "
                    f"{', '.join(dims) or 'none'}{did_you_mean(name, dims)}"
                )
            if len(shape) != len(known):
                raise BindingError(
                    f"input '{name}' has {len(known)} dims, {shape_text(known)}, but its shape is "
                    f"given as {shape_text(shape)}"
                )
            found |= {(name, axis): dim for axis, dim in enumerate(shape) if dim is not None}
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
                    f"{', '.join(open_dims) or 'none'}{did_you_mean(dim, open_dims)}"
                )
            if found.setdefault((name, axis), size) != size:
                raise BindingError(
                    f"dim {axis} of input '{name}' is given as {found[name, axis]} and as {size}"
                )
        for (name, axis), size in found.items():
            _require_size(f"dim {axis} of input '{name}'", size)
        for dim, size in self.dims.items():
            _require_size(f"dim {dim}", size)
        return found


def _open(dims: Mapping[str, Sequence[Dim]]) -> list[str]:
    """Return the names, or places, of open dims."""
    found = (
        dim or f"{name}:{axis}"
        for name, known in dims.items()
        for axis, dim in enumerate(known)
        if isinstance(dim, str)
    )
    return list(dict.fromkeys(found))


def _require_size(what: str, size: object) -> None:
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 63:
        raise BindingError(f"{what} must be a size of at least 0, but is {size!r}")


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
