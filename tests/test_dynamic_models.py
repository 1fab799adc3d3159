"""
Models of open dims against onnxruntime, at several shapes from one lowered module.

A transformer encoder with symbolic batch and sequence, imported from ONNX, and an LSTM layer
that is recursion over its steps, read from Relay text. Both are evaluated at every level, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.programs.agreement import flat
from helpers.programs.programs import context
from helpers.programs.transformer import VOCABULARY, encoder
from onnx import ModelProto, TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.frontends.relay_text import parse_module
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.runner import Runner
from xrelay.tools.registry import UNIVERSE, named_pipelines

LSTM = Path(__file__).parent.parent / "examples" / "lstm.relay"
INPUTS, HIDDEN = 3, 4


def levels(module: ModuleOp) -> Iterator[str]:
    """Run the pipeline `vm` on `module`, and pause before it and at every stage."""
    yield "relay"
    passes: list[str] = []
    for name in VmPipeline().text.split(","):
        passes.append(name)
        if name.startswith("verify-stage"):
            steps = build(",".join(passes), UNIVERSE.all_passes, named_pipelines)
            Runner(steps).run(context(), module)
            passes = []
            yield name.removeprefix("verify-stage{stage=").removesuffix("}")


def agree_at_every_level(
    module: ModuleOp,
    cases: list[tuple[list[Array], list[Array]]],
    params: Mapping[str, Array] | None = None,
) -> None:
    """Check the results of `module` for each pair of inputs and expected results."""
    for level in levels(module):
        if level == "bytecode":
            continue
        for inputs, expected in cases:
            found = flat(evaluate(module, inputs, params))
            for a, e in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, e, rtol=2e-5, atol=2e-6, err_msg=level)
    machine = Machine(assemble(module), params or {}, memory=Memory(poison=True))
    for inputs, expected in (*cases, *cases):  # the second time on recorded paths
        found = flat(machine.run("main", *inputs))
        for a, e in zip(found, expected, strict=True):
            assert (a.shape, a.dtype) == (e.shape, e.dtype)
            np.testing.assert_allclose(a, e, rtol=2e-5, atol=2e-6, err_msg="bytecode")


@pytest.mark.ci
def test_a_transformer_encoder():
    model = encoder(1)
    random = np.random.default_rng(1)
    cases: list[tuple[list[Array], list[Array]]] = []
    for batch, sequence in ((1, 5), (3, 2), (1, 1)):
        ids = random.integers(0, VOCABULARY, (batch, sequence))
        cases.append(([ids], run_onnxruntime(model, {"ids": ids})))
    converted = convert_model(model, "encoder.onnx")
    agree_at_every_level(converted.module, cases, converted.params)


def lstm_model() -> ModelProto:
    """An LSTM node of ONNX on a sequence of any length and batches of any size."""
    sizes = {
        "x": ["sequence", "batch", INPUTS],
        "w": [1, 4 * HIDDEN, INPUTS],
        "r": [1, 4 * HIDDEN, HIDDEN],
        "b": [1, 8 * HIDDEN],
        "h": [1, "batch", HIDDEN],
        "c": [1, "batch", HIDDEN],
    }
    node = helper.make_node(
        "LSTM", ["x", "w", "r", "b", "", "h", "c"], ["ys", "hn", "cn"], hidden_size=HIDDEN
    )
    graph = helper.make_graph(
        [node],
        "lstm",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in sizes.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("ys", "hn", "cn")],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 14)])


@pytest.mark.ci
def test_an_lstm_by_recursion():
    model = lstm_model()
    random = np.random.default_rng(2)

    def normal(*shape: int) -> Array:
        return random.standard_normal(shape, dtype=np.float32)

    w, r, b = normal(16, 3), normal(16, 4), normal(16)
    cases: list[tuple[list[Array], list[Array]]] = []
    for sequence, batch in ((1, 1), (7, 2), (3, 5)):
        x, h, c = normal(sequence, batch, INPUTS), normal(batch, HIDDEN), normal(batch, HIDDEN)
        feeds = {"x": x, "w": w[None], "r": r[None], "h": h[None], "c": c[None]}
        feeds["b"] = np.concatenate([b, np.zeros_like(b)])[None]
        ys, hn, cn = run_onnxruntime(model, feeds)
        cases.append(([x, h, c, w, r, b], [ys[:, 0], hn[0], cn[0]]))
    agree_at_every_level(parse_module(context(), LSTM.read_text(), LSTM.name), cases)


@pytest.mark.parametrize("level", ["relay", "vm"])
def test_a_sequence_of_no_steps(level: str):
    module = parse_module(context(), LSTM.read_text(), LSTM.name)
    x, h = np.zeros((0, 2, INPUTS), np.float32), np.ones((2, HIDDEN), np.float32)
    inputs = [x, h, h, *(np.zeros(s, np.float32) for s in ((16, 3), (16, 4), (16,)))]
    if level == "relay":
        found = flat(evaluate(module, inputs))
    else:
        for _ in levels(module):
            pass
        found = flat(Machine(assemble(module)).run("main", *inputs))
    assert [array.shape for array in found] == [(0, 2, HIDDEN), (2, HIDDEN), (2, HIDDEN)]
    np.testing.assert_array_equal(found[1], h)
