"""
SqueezeNet at every executable level against onnxruntime, with random weights.

The other networks are in `passes/test_planned_networks.py`. Outputs are compared before the last
softmax, too, where small differences are still visible.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, Network, light_network, onnxruntime_results
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.runner import Runner
from xrelay.tools.registry import UNIVERSE, named_pipelines


def run_passes(module: ModuleOp, pipeline: str) -> None:
    """Run a pipeline as the driver does, verifying after each pass."""
    Runner(build(pipeline, UNIVERSE.all_passes, named_pipelines)).run(Context(), module)


def steps_by_stage() -> Iterator[tuple[str, str]]:
    """Each stage of the `vm` pipeline, and the passes that lead to it from the previous one."""
    passes: list[str] = []
    for name in VmPipeline().text.split(","):
        passes.append(name)
        if name.startswith("verify-stage"):
            yield name.removeprefix("verify-stage{stage=").removesuffix("}"), ",".join(passes)
            passes = []


def assert_meaningful(outputs: Sequence[Array]) -> None:
    """A network with constant output would agree with anything."""
    logits = outputs[-1]
    assert np.isfinite(logits).all()
    assert logits.std() > 0.01 * np.abs(logits).max() > 0
    assert np.unique(logits).size > 0.5 * logits.size  # some end in a ReLU


def assert_close(actual: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        assert (a.dtype, a.shape) == (e.dtype, e.shape)
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5 * float(np.abs(e).max()))


@pytest.fixture(scope="module")
def squeezenet() -> tuple[Network, list[Array]]:
    network = light_network("squeezenet")
    return network, onnxruntime_results(network)


@pytest.fixture(scope="module")
def squeezenet_by_stage(squeezenet: tuple[Network, list[Array]]) -> dict[str, list[Array]]:
    """The outputs of SqueezeNet at each level."""
    network, _ = squeezenet
    inputs = list(network.feeds.values())
    module, params = (c := convert_model(network.model, "squeezenet.onnx")).module, c.params
    results = {"relay": evaluate(module, inputs, params)}
    for stage, passes in steps_by_stage():
        run_passes(module, passes)
        if stage != "bytecode":
            results[stage] = evaluate(module, inputs, params)
    machine = Machine(assemble(module), params, memory=Memory(poison=True))
    results["vm"] = machine.run("main", *inputs)
    return results


@pytest.mark.parametrize("stage", ["relay", "planned", "fused", "lowered", "manifest", "vm"])
def test_squeezenet_at_stage(
    stage: str,
    squeezenet: tuple[Network, list[Array]],
    squeezenet_by_stage: dict[str, list[Array]],
):
    expected = squeezenet[1]
    assert_meaningful(expected)
    assert_close(squeezenet_by_stage[stage], expected)
