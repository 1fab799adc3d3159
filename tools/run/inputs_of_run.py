"""The arguments of the function that `xrelay-run` calls: from files, options, or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...operators.spelling import known_names
from ...runtime.calls.input_bindings import InputBindings
from ...runtime.memory.limits import Memory
from ...runtime.program.program import Array, Param, spec_of
from ..api.bindings import UNBOUND
from ..api.open_dims import bound_params, require_values
from ..array_files.array_files import ArrayFiles, FileArray
from ..errors import FileError, UsageError


@dataclass(frozen=True)
class GivenInputs:
    """The arrays of `--inputs`, sizes and values that the user gives, and a seed for the others."""

    arrays: ArrayFiles
    bindings: InputBindings = UNBOUND
    """Those that the program is not bound by yet."""
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
        found = {**self.weights, **{name: array.read() for name, array in files.items()}}
        found |= self._bound(params)
        if missing:
            from ...runtime.calls.random_inputs import random_inputs  # a third of NumPy's start-up

            assert self.seed is not None, "inputs without a value are an error"
            found |= random_inputs(missing, self.seed, memory)
        return [found[param.name] for param in params]

    def _missing(
        self, function: str, params: Sequence[Param], files: Mapping[str, FileArray]
    ) -> list[Param]:
        """Return the parameters to draw, with their shapes."""
        specs = {name: spec_of(array) for name, array in self.weights.items()}
        specs |= {name: array.spec for name, array in files.items()}
        missing = bound_params(function, params, specs, self.bindings)
        require_values(missing, self.seed is not None)
        return missing

    def _files(self, function: str, params: Sequence[Param]) -> dict[str, FileArray]:
        """Return the arrays of parameters; `FileError` for one that does not fit."""
        specs = {param.name: param.spec for param in params}
        found: dict[str, FileArray] = {}
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
            found[name] = array
        return found

    def _bound(self, params: Sequence[Param]) -> dict[str, Array]:
        if not self.bindings.values:
            return {}
        from ...runtime.calls.input_values import fitted
        from ...runtime.program.dtypes import element_type

        found: dict[str, Array] = {}
        for param in params:
            value = self.bindings.values.get(param.name)
            if value is None:
                continue
            if param.spec is None:
                raise UsageError(f"--input {param.name}: the input is not a tensor")
            try:
                made = fitted(value, element_type(param.spec.dtype), param.spec.shape)
            except ValueError as error:
                raise UsageError(f"--input {param.name}: {error}") from None
            found[param.name] = made.copy()
        return found
