"""
Weights that a user gives a program by name: `--params FILE`, `params=`.

    program = with_params(program, "w.safetensors", context)

A name is that of a weight of the program, or of a parameter of its function `main`, which becomes a
weight. Any other name is an error, and so is a file that cannot be read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects import bytecode, relay
from ...dialects.xdsl_extras.walking import walk
from ...passes.bind_params import BindParamsPass
from ...runtime.calls.input_bindings import InputBindings
from ...runtime.program.program import Array
from ...runtime.weights.given_weights import GivenWeights, named_by
from ..pass_run.pipeline_steps import Step
from ..pass_run.runner import Runner
from ..run.evaluated import functions_of
from .bindings import passes_of

if TYPE_CHECKING:
    from .session import Given

Params: TypeAlias = str | PathLike[str] | Mapping[str, Array]


def with_params(program: Given, params: Params, context: Context, function: str = "main") -> Given:
    """
    Return a program with the values `params`, and those that came with it.

    They take the place of a file that the program names. Parameters of `function` that they name
    become weights, in place. Raises `MachineError`.
    """
    own = program.weights if isinstance(program.weights, Mapping) else ()
    bind_params(program.module, params, context, function, own)
    return with_values(program, params)


def with_values(program: Given, params: Params) -> Given:
    """Return a program with the values `params`, and those that came with it."""
    own = program.weights
    if not isinstance(own, Mapping):
        return replace(program, weights=params if isinstance(params, Mapping) else Path(params))
    source = GivenWeights(params).source
    return replace(program, weights={**own, **{name: source.array(name) for name in source.names}})


def bind_params(
    module: ModuleOp,
    params: Params,
    context: Context,
    function: str = "main",
    own: Collection[str] = (),
) -> Mapping[str, Array]:
    """
    Turn parameters of `function` into weights if `params` have values for them; return these.

    `own` are the names of weights that have values already. Raises `MachineError`.
    """
    weights = GivenWeights(params)
    declared = functions_of(module).get(function, ())
    bound = weights.parameters(weights_of(module), function, declared, own)
    if not bound:
        return {}
    shapes = {p.name: weights.source.spec(p.name).dims for p in bound}
    is_open = any(p.spec is not None and None in p.spec.shape for p in bound)
    passes = passes_of(InputBindings(shapes)) if is_open else []
    passes.append(BindParamsPass(tuple(shapes), function))
    Runner(steps=[Step(run) for run in passes]).run(context, module)
    return weights.arrays(bound)


def weights_of(module: ModuleOp) -> dict[str, None]:
    """Return the names of the weights that a module reads."""
    ops = (op for op in walk(module) if isinstance(op, relay.ParamOp | bytecode.LateConstantOp))
    return {name: None for op in ops for name in named_by(op.param.data)}
