"""Networks as printed by TVM: inferred types must equal those in its comments."""

import re
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import light_network, onnxruntime_results
from helpers.programs.random_settings import ROUNDS
from helpers.relay.relay_programs import DATA, context, read
from onnx import numpy_helper
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.dialects.func import FuncOp

from xrelay.frontends.relay_text import load_module
from xrelay.frontends.relay_text.type_texts import type_text
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.verifier import verify

NETWORKS = ("squeezenet", "inception_v1", "resnet50")


def noted_types(text: str) -> dict[int, str]:
    """The type in TVM's comment after the call on each line, by line."""
    found: dict[int, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*(?:%\d+ = )?[\w.]+\(.*\) /\* ty=(.*) \*/;?$", line)
        if match:
            found[number] = match[1]
    return found


@pytest.mark.parametrize("network", NETWORKS)
def test_types_are_those_that_tvm_inferred(network: str) -> None:
    text = (DATA / f"{network}.relay").read_text()
    noted = noted_types(text)
    module = read(text)
    checked = 0
    for op in module.walk():
        if op.name.startswith("relay.") and isinstance(op.location, FileLineColLoc):
            wanted = noted.get(op.location.line.data)
            if wanted is None or op.name in ("relay.constant", "relay.tuple", "relay.full"):
                continue
            types = [type_text(r.type) for r in op.results]
            assert wanted in (types[0], f"({', '.join(types)})")
            checked += 1
    assert checked >= len(noted) - sum("dropout" in line for line in text.split("\n"))


@pytest.mark.parametrize("network", NETWORKS)
def test_names_are_kept(network: str) -> None:
    text = (DATA / f"{network}.relay").read_text()
    names = re.findall(r"%([^\s:]+): Tensor", text)
    (function,) = read(text).ops
    assert isinstance(function, FuncOp)
    attrs = function.arg_attrs
    assert attrs is not None
    kept = [
        str(entry.data["relay.name"]).strip('"') if "relay.name" in entry.data else arg.name_hint
        for entry, arg in zip(attrs, function.body.block.args, strict=True)
    ]
    assert kept == names


def without_softmax(text: str) -> str:
    """
    The network up to the operand of its softmax.

    After a softmax, differences of small values are no longer visible.
    """
    head, softmax, tail = text.rpartition("nn.softmax(")
    assert softmax
    line_start = head.rfind("\n")
    operand = tail.partition(")")[0].partition(",")[0]
    head = re.sub(r"-> Tensor\[[^]]*\] \{", "{", head[:line_start])
    return f"{head}\n  {operand}\n}}\n"


@pytest.mark.ci
@pytest.mark.parametrize("network", [n for n in NETWORKS if n != "resnet50" or ROUNDS >= 4])
def test_it_computes_what_onnxruntime_does_with_the_onnx_model(network: str) -> None:
    """Compare TVM's import of the model with ours, on the same random weights."""
    original = light_network(network)
    arrays: dict[str, Any] = {
        i.name: numpy_helper.to_array(i) for i in original.model.graph.initializer
    }
    arrays |= original.feeds
    text = (DATA / f"{network}.relay").read_text()
    args: list[Any] = []
    for name, shape, dtype in re.findall(r"%([^\s:]+): Tensor\[\(([^)]*)\), (\w+)\]", text):
        array = arrays.get(name)
        if array is None:  # weights with invented shapes, and unused ones
            array = np.zeros([int(n) for n in shape.split(",")], dtype)
        args.append(array)
    (found,) = evaluate(read(without_softmax(text)), args)
    wanted = onnxruntime_results(original)[1]
    scale = float(np.abs(wanted).max())
    result = np.asarray(found).reshape(wanted.shape)
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5 * scale)


def test_a_network_without_large_constants_has_no_weights() -> None:
    text = (DATA / "squeezenet.relay").read_text()
    converted = load_module(context(), text, "squeezenet.relay")
    verify(converted.module)
    assert not converted.params
