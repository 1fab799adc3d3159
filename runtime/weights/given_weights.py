"""
Weights that a user gives by name, for a program and for the parameters of its function `main`.

Every name must fit: one that is neither a weight nor a parameter is misspelled, or the file belongs
to another program. Only a file that is needed for weights may have more, as that of a larger model.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from ...operators.spelling import did_you_mean
from ..calls.input_bindings import listed
from ..errors import MachineError
from ..program.program import Array, Param, Program
from .derived_weights import place_of, weights_in
from .weight_formulas import MARK, parsed, sources_of


class GivenWeights:
    """Weights in a file, or in memory; raises `MachineError` for a file that cannot be read."""

    def __init__(self, given: str | os.PathLike[str] | Mapping[str, Array]) -> None:
        self.source, self.where = weights_in(given), place_of(given, "params")

    def parameters(
        self,
        weights: Collection[str],
        function: str,
        params: Iterable[Param],
        own: Collection[str] = (),
    ) -> list[Param]:
        """
        Return those of the parameters of `function` that have a value here.

        The program has `weights`, and values for its `own` ones. A name of a weight is never one of
        a parameter. Raises `MachineError` for a value of another type, and for a name that is
        neither, if the program does not lack weights.
        """
        is_complete = all(name in own for name in weights)
        by_name = {param.name: param for param in params if param.name not in weights}
        for name in self.source.names:
            if is_complete and name not in weights and name not in by_name:
                raise MachineError(
                    f"{self.where} has '{name}', which fits nothing: the weights of the program "
                    f"are: {listed(weights)}; the inputs of {function} are: {listed(by_name)}"
                    f"{did_you_mean(name, [*weights, *by_name])}"
                )
        bound = [by_name[name] for name in self.source.names if name in by_name]
        for param in bound:
            spec = self.source.spec(param.name)
            if param.spec is None or not param.spec.accepts(spec):
                needed = "a value that is not a tensor" if param.spec is None else str(param.spec)
                raise MachineError(
                    f"{self.where}: '{param.name}' must be {needed} for {function}, but is {spec}"
                )
        return bound

    def arrays(self, params: Iterable[Param]) -> dict[str, Array]:
        """Return the values of parameters."""
        return self.source.arrays(param.name for param in params)


MAIN = "main"


def bound_inputs(
    program: Program,
    params: str | os.PathLike[str] | Mapping[str, Array],
    function: str = MAIN,
    unused: Collection[str] = (),
) -> dict[str, Array]:
    """
    Return the values that `params` have for parameters of `function` of a compiled program.

    Raises `MachineError` for a name that is not a parameter, a weight or `unused`.
    """
    weights = GivenWeights(params)
    late = {n: None for c in program.late_constants for n in (c.name, *named_by(c.name))}
    inputs = next((f.params for f in program.functions if f.name == function), ())
    return weights.arrays(weights.parameters([*late, *unused], function, inputs, unused))


def named_by(weight: str) -> list[str]:
    """Return the names that a weight is computed from, or its own."""
    return sources_of(parsed(weight)) if weight.startswith(MARK) else [weight]
