"""
Signatures of functions, for readers.

    main(x: float32[n, 8], mask: bool[n] on cuda:0) -> (y: float32[n, 4])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..program.program import Function, Param, Program

ANY = "any"
"""The type of what is not a tensor: a tuple, data, a function."""


@dataclass(frozen=True)
class Value:
    """
    A parameter or result of a function.

    `shape` has a name for a dim whose size is known when the function is called, or None if it has
    no name; dims of one name are equal. `dtype` and `shape` are None if the value is not a tensor;
    before a program is compiled, `dtype` may be another type.
    """

    name: str
    dtype: str | None
    shape: tuple[int | str | None, ...] | None
    device: str = "cpu:0"

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.name}: {self.dtype or ANY}"
        dims = ", ".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{self.name}: {self.dtype}[{dims}]"


@dataclass(frozen=True)
class Signature:
    """
    The parameters and results of a function; `results` is None if they are not recorded.

    `bounds` are the limits of named dims, as text. Devices other than `host` are printed.
    """

    name: str
    params: tuple[Value, ...]
    results: tuple[Value, ...] | None
    bounds: tuple[str, ...] = ()
    host: str = "cpu:0"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        params = ", ".join(map(self._shown, self.params))
        text = f"{self.name}({params})"
        if self.results is not None:
            text += f" -> ({', '.join(map(self._shown, self.results))})"
        return f"{text} where {', '.join(self.bounds)}" if self.bounds else text

    def _shown(self, value: Value) -> str:
        return str(value) if value.device == self.host else f"{value} on {value.device}"


def _value(param: Param, devices: Sequence[str]) -> Value:
    spec, device = param.spec, devices[param.device]
    if spec is None:
        return Value(param.name, None, None, device)
    names = param.dims or ("",) * len(spec.shape)
    dims = zip(spec.shape, names, strict=True)
    shape = tuple((name or None) if size is None else size for size, name in dims)
    return Value(param.name, spec.dtype, shape, device)


def signature_of(function: Function, program: Program) -> Signature:
    """Return the signature of a function of `program`."""
    devices, results = program.devices, function.results
    return Signature(
        function.name,
        tuple(_value(param, devices) for param in function.params),
        None if results is None else tuple(_value(result, devices) for result in results),
        tuple(f"{name} is {bounds}" for name, bounds in function.dim_bounds.items()),
        devices[0],
    )
