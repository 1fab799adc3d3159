"""Modules that `xrelay-run --evaluate` runs in the reference evaluator."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ...dialects import relay
from ...dialects.relay.language.dims_attributes import dim_names, parameter_names
from ...dialects.tensors import as_tensor
from ...dialects.xdsl_extras.walking import walk
from ...lowering.bytecode.assemble import spec_of
from ...passes.evaluation.evaluated_values import Value
from ...passes.evaluation.evaluator import evaluate
from ...passes.lower_qnn import LowerQnnPass
from ...runtime.calls.value_checks import fits
from ...runtime.program.program import Late, Param, TensorSpec
from ...runtime.program.program import spec_of as spec_of_array
from ..api.loaded import Loaded
from ..errors import UsageError
from .executables import Arrays, Executable, outputs_of
from .run_options import Options


class Evaluated(Executable):
    """A module that is evaluated op by op."""

    def __init__(self, loaded: Loaded, options: Options) -> None:
        params = [op for op in walk(loaded.module) if isinstance(op, relay.ParamOp)]
        named = {op.param.data: spec_of(op.result.type, op) for op in params}
        weights = [Late(name, spec) for name, spec in named.items()]
        LowerQnnPass().apply(Context(), loaded.module)  # these operators have no kernels
        super().__init__(functions_of(loaded.module), weights, options)
        self.loaded = loaded

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        for param, value in zip(self.functions[function], inputs, strict=True):
            _check(f"parameter '{param.name}' of {function}", param.spec, value)
        for late in self.weights:
            _check(late.name, late.spec, weights[late.name])
        memory, steps = self.options.memory, self.options.max_instructions
        results = evaluate(self.loaded.module, inputs, weights, function, memory, steps)
        return [output for result in results for output in outputs_of(result)]

    def output_names(self, function: str, count: int) -> list[str]:
        return self.loaded.output_names(function, count)


def functions_of(module: ModuleOp) -> dict[str, Sequence[Param]]:
    """Return the parameters of the functions of `module` that have a body."""
    return {
        op.sym_name.data: _parameters(op)
        for op in module.ops
        if isinstance(op, func.FuncOp) and op.body.blocks
    }


def _check(what: str, spec: TensorSpec | None, value: Value) -> None:
    if spec is None:
        raise UsageError(f"{what} is not a tensor: only a caller in Python can provide it")
    if not fits(spec, value):
        raise UsageError(f"{what} must be {spec}, but is {spec_of_array(value)}")


def _parameters(function: func.FuncOp) -> list[Param]:
    """Return name, shape and dims of each parameter; `spec` is None if it is not a tensor."""
    named = zip(parameter_names(function), function.args, dim_names(function), strict=True)
    return [
        Param(
            name.data,
            spec_of(argument.type, function) if as_tensor(argument.type) else None,
            dims=tuple(dim or "" for dim in dims),
        )
        for name, argument, dims in named
    ]
