"""Small ONNX models for tests, and their comparison with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from helpers.onnx.onnx_models import Array, run_onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from xrelay.frontends.onnx.convert.importer import Conversion, convert_model
from xrelay.passes.evaluation.evaluator import evaluate

OPSET = 13
"""The default operator set of models."""


def random_array(*shape: int, seed: int = 0) -> Array:
    """Normally distributed float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def node(op_type: str, inputs: str, outputs: str = "y", /, **attributes: Any) -> NodeProto:
    """A node; `inputs` and `outputs` are names separated by blanks, `-` for an omitted one."""
    names = [[n.replace("-", "") for n in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op_type, *names, name=f"the_{op_type.lower()}", **attributes)


def model_of(
    nodes: NodeProto | Sequence[NodeProto],
    feeds: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    outputs: str = "y",
    opset: int = OPSET,
    dtype: Any = np.float32,
) -> ModelProto:
    """A model of `nodes` with inputs like `feeds` and `constants` for initializers."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [nodes] if isinstance(nodes, NodeProto) else list(nodes),
        "small",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in feeds.items()
        ],
        [helper.make_tensor_value_info(name, element, None) for name in outputs.split()],
        [numpy_helper.from_array(a, name) for name, a in (constants or {}).items()],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def agree(
    nodes: NodeProto | Sequence[NodeProto],
    feeds: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    outputs: str = "y",
    opset: int = OPSET,
    dtype: Any = np.float32,
) -> Conversion:
    """Check that the converted model agrees with onnxruntime; return the conversion."""
    model = model_of(nodes, feeds, constants, outputs, opset, dtype)
    conversion = convert_model(model, "small.onnx")
    conversion.module.verify()
    with np.errstate(all="ignore"):
        actual = evaluate(conversion.module, list(feeds.values()), conversion.params)
    expected = run_onnxruntime(model, dict(feeds))
    assert_close(actual, expected)
    return conversion


def assert_close(actual: Sequence[Array], expected: Sequence[Array]) -> None:
    """Require equal dtypes and shapes, and numbers close by the scale of the largest finite one."""
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        assert (a.dtype, a.shape) == (e.dtype, e.shape)
        scale = float(np.abs(e[np.isfinite(e)]).max(initial=0))
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5 * scale)


def operators_of(conversion: Conversion) -> list[str]:
    """The names of the operators of `@main` in order, without constants and the return."""
    names = [op.name for op in conversion.module.walk()]
    ignored = {"builtin.module", "func.func", "func.return", "relay.constant", "relay.param"}
    return [n.removeprefix("relay.") for n in names if n not in ignored]


__all__ = [
    "TensorProto",
    "agree",
    "assert_close",
    "model_of",
    "node",
    "operators_of",
    "random_array",
]
