"""ONNX models of several functions, compared with onnxruntime at level relay and in the VM."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from helpers.onnx.onnx_models import Array, calls_of_onnxruntime
from helpers.onnx.onnx_small import assert_close
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from xrelay.frontends.onnx.convert.importer import Conversion, convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.verifier import verify
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines

VM = build("vm", UNIVERSE.all_passes, named_pipelines)


def value(name: str, dtype: Any = np.float32, shape: Sequence[int | str] | None = None) -> Any:
    """A tensor of a graph's signature."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
    )


def graph(
    nodes: Sequence[NodeProto],
    outputs: Sequence[Any],
    inputs: Sequence[Any] = (),
    constants: dict[str, Array] | None = None,
) -> GraphProto:
    """A graph; `constants` are its initializers."""
    stored = [numpy_helper.from_array(a, name) for name, a in (constants or {}).items()]
    return helper.make_graph(list(nodes), "inner", list(inputs), list(outputs), stored)


def model(
    nodes: Sequence[NodeProto],
    feeds: dict[str, Array],
    outputs: Sequence[Any],
    constants: dict[str, Array] | None = None,
    opset: int = 17,
    domain: str = "",
) -> ModelProto:
    """A model with inputs like `feeds`; `domain` is that of other operators, in version 1."""
    inputs = [value(name, a.dtype, a.shape) for name, a in feeds.items()]
    main = graph(nodes, outputs, inputs, constants)
    opsets = [helper.make_opsetid("", opset)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    return helper.make_model(main, ir_version=8, opset_imports=opsets)


def agree(proto: ModelProto, *feeds: Mapping[str, Array], in_machine: bool = True) -> Conversion:
    """
    Compare the model's results on each of `feeds` with onnxruntime's; return the conversion.

    It runs at level relay, and compiled unless `in_machine` is false.
    """
    conversion = convert_model(proto, "small.onnx")
    verify(conversion.module)
    expected = calls_of_onnxruntime(proto, feeds)
    for feed, wanted in zip(feeds, expected, strict=True):
        with np.errstate(all="ignore"):
            found = evaluate(conversion.module, list(feed.values()), conversion.params)
        assert_close(found, wanted)
    if in_machine:
        compiled = conversion.module.clone()
        for step in VM:
            step.run.apply(Context(), compiled)
        poisoned = Memory(poison=True)
        machine = Machine(assemble(compiled), conversion.params, KERNELS, memory=poisoned)
        for feed, wanted in zip(feeds, expected, strict=True):
            assert_close(machine.run("main", *feed.values()), wanted)
    return conversion


def functions(conversion: Conversion) -> list[FuncOp]:
    """The functions of the converted module."""
    return [op for op in conversion.module.ops if isinstance(op, FuncOp)]
