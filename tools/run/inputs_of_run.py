"""
The arguments of the function that `xrelay-run` calls: from files, options, or drawn.

A dim has the size that `--dim` or `--shape` gives, or that of a dim of the same name of an input
from a file. What is missing is reported at once, with the options that would give it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...operators.spelling import known_names
from ...runtime.calls.input_bindings import BindingError, InputBindings, dim_option, listed
from ...runtime.memory.limits import Memory, OutOfMemory
from ...runtime.program.program import Array, Param, TensorSpec, spec_of
from ..api.bindings import UNBOUND
from ..array_files import ArrayFiles, FileArray
from ..errors import FileError, UsageError


@dataclass(frozen=True)
class GivenInputs:
    """The arrays of `--inputs`, sizes and values that the user gives, and a seed for the others."""

    arrays: ArrayFiles
    bindings: InputBindings = UNBOUND
    """Sizes that the program is not bound by yet, and the values of `--inputs`."""
    constants: frozenset[str] = frozenset()
    """Inputs that the program is bound by."""
    seed: int | None = None
    weights: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Values of `--params` for inputs of a program that is compiled already."""

    def require(self, function: str, params: Sequence[Param]) -> None:
        """Raise `UsageError` unless all `params` of `function` have a value, or can be drawn."""
        self._missing(function, params, self._files(function, params))

    def values(self, function: str, params: Sequence[Param], memory: Memory) -> list[Array]:
        """Return the arguments of `function`; `UsageError` where they are missing or wrong."""
        files = self._files(function, params)
        missing = self._missing(function, params, files)
        arrays = {**self.weights, **{name: _read(array, memory) for name, array in files.items()}}
        arrays |= self._bound(params)
        if missing:
            from ...runtime.calls.random_inputs import random_inputs  # a third of NumPy's start-up

            assert self.seed is not None, "inputs without a value are an error"
            arrays |= random_inputs(missing, self.seed, memory)
        return [arrays[param.name] for param in params]

    def _missing(
        self, function: str, params: Sequence[Param], files: Mapping[str, FileArray]
    ) -> list[Param]:
        """Return the parameters to draw, with their shapes."""
        specs = {name: spec_of(array) for name, array in self.weights.items()}
        specs |= {name: array.spec for name, array in files.items()}
        missing = _bound_params(function, params, specs, self.bindings)
        _require_values(missing, self.seed is not None)
        return missing

    def _files(self, function: str, params: Sequence[Param]) -> dict[str, FileArray]:
        """Return the arrays of parameters; `FileError` for one that does not fit."""
        specs = {param.name: param.spec for param in params}
        by_name: dict[str, FileArray] = {}
        for name, array in self.arrays.with_names(list(specs), "input").items():
            if name in self.constants or name in self.bindings.values:
                continue
            if name not in specs:
                message = f"{array.what} is not an input of {function}; its inputs are: "
                raise FileError(array.path, message + known_names(name, specs))
            spec = specs[name]
            if spec is not None and not spec.accepts(array.spec):
                message = f"{array.what} must be {spec} for {function}, but is {array.spec}"
                raise FileError(array.path, message)
            by_name[name] = array
        return by_name

    def _bound(self, params: Sequence[Param]) -> dict[str, Array]:
        if not self.bindings.values:
            return {}
        from ...runtime.calls.input_values import fitted
        from ...runtime.program.dtypes import element_type

        arrays: dict[str, Array] = {}
        for param in params:
            value = self.bindings.values.get(param.name)
            if value is None:
                continue
            if param.spec is None:
                raise UsageError(f"--inputs {param.name}: the input is not a tensor")
            try:
                array = fitted(value, element_type(param.spec.dtype), param.spec.shape)
            except ValueError as error:
                raise UsageError(f"--inputs {param.name}: {error}") from None
            arrays[param.name] = array.copy()
        return arrays


def _read(array: FileArray, memory: Memory) -> Array:
    """Read `array` if it fits into `memory`: few bytes of a file may inflate to a lot."""
    try:
        memory.reserve(array.spec.size, f"{array.what}, {array.spec},")
    except OutOfMemory as error:
        raise FileError(array.path, str(error)) from None
    return array.read()


def _bound_params(
    function: str, params: Sequence[Param], given: Mapping[str, TensorSpec], bindings: InputBindings
) -> list[Param]:
    """
    Return the parameters of `function` that are not `given`, with the sizes that are known.

    Raises `UsageError` for what does not fit, and for names that do not exist.
    """
    sized = replace(bindings, shapes={**{n: s.dims for n, s in given.items()}, **bindings.shapes})
    try:
        dims = sized.bind([(param.name, _dims(param)) for param in params])
    except BindingError as error:
        raise UsageError(f"{function}: {error}") from None
    remaining: list[Param] = []
    for param, known in zip(params, dims, strict=True):
        if param.name in given or param.name in bindings.values:
            continue
        if param.spec is not None:
            sizes = tuple(dim if isinstance(dim, int) else None for dim in known)
            param = replace(param, spec=TensorSpec(param.spec.dtype, sizes))
        remaining.append(param)
    return remaining


def _dims(param: Param) -> list[int | str] | None:
    """Return the dims of a tensor: sizes and names, "" without one."""
    if param.spec is None:
        return None
    names = param.dims or ("",) * len(param.spec.shape)
    return [
        name if size is None else size for name, size in zip(names, param.spec.shape, strict=True)
    ]


def _require_values(missing: Sequence[Param], is_drawn: bool) -> None:
    """
    Raise `UsageError` for parameters without a value, if they are not drawn or cannot be.

    The message names the options that give them all that they need.
    """
    open_dims = [
        (dim or f"{param.name}:{axis}", f"dim {axis}{dim and f' ({dim})'} of '{param.name}'")
        for param in missing
        for axis, dim in enumerate(_dims(param) or ())
        if isinstance(dim, str)
    ]
    options = " ".join(map(dim_option, dict(open_dims)))
    if missing and not is_drawn:
        names = [f"'{param.name}' ({_described(param)})" for param in missing]
        them = "them" if len(missing) > 1 else "it"
        draw = f"--random-seed 0 {options}".rstrip()
        raise UsageError(
            f"no value for input{'s' * (len(missing) > 1)} {listed(names)}; give --inputs, or "
            f"{draw} to draw {them}"
        )
    if open_dims:
        dims = listed(dim for _, dim in open_dims)
        raise UsageError(
            f"cannot draw inputs of dynamic shape: the size of {dims} is unknown; give {options}"
        )


def _described(param: Param) -> str:
    if param.spec is None:
        return "not a tensor"
    dims = [str(dim) if dim != "" else "?" for dim in _dims(param) or ()]
    return f"{param.spec.dtype}[{', '.join(dims)}]"
