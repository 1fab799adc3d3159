"""Backends for tests: conversions that are evaluated at level `relay`, or run in the machine."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto
from typing_extensions import override
from xdsl.context import Context

from xrelay.frontends.onnx.backend import Backend
from xrelay.frontends.onnx.convert.importer import Conversion
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.widen_narrow_types import WidenNarrowTypesPass
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program.data_types import DataValue
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines

VM = build("vm", UNIVERSE.all_passes, named_pipelines)


def _quiet(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return `call` without NumPy's warnings: some models are about infinities and NaN."""

    def quiet(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return call(*args)

    return quiet


class Evaluated(Backend):
    """Evaluates a `conversion` of the model at level `relay`."""

    @classmethod
    @override
    def data(cls, constructor: str, fields: Sequence[Any]) -> Any:
        return DataValue(constructor, tuple(fields))

    @classmethod
    @override
    def compile(cls, model: ModelProto, **options: Any) -> Callable[..., Any]:
        conversion: Conversion = options["conversion"]
        InferTypesPass().apply(Context(), conversion.module)
        WidenNarrowTypesPass().apply(Context(), conversion.module)

        def call(*args: Any) -> Any:
            results = evaluate(conversion.module, list(args), conversion.params)
            return results[0] if len(results) == 1 else tuple(results)

        return _quiet(call)


class InMachine(Backend):
    """Lowers a `conversion` of the model, in place, for a machine whose memory is poisoned."""

    @classmethod
    @override
    def compile(cls, model: ModelProto, **options: Any) -> Callable[..., Any]:
        conversion: Conversion = options["conversion"]
        for step in VM:
            step.run.apply(Context(), conversion.module)
        program, memory = assemble(conversion.module), Memory(poison=True)
        machine = Machine(program, conversion.params, KERNELS, memory=memory)

        def call(*args: Any) -> Any:
            return machine.evaluate("main", *args)

        return _quiet(call)
