"""Networks whose batch, height and width are open, planned for all sizes, against onnxruntime."""

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.onnx.onnx_models import Network, light_network, onnxruntime_session, open_dims
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.onnx.convert.importer import Conversion, convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.layout_slices import LayoutSlicesPass
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory

SHAPES = ((1, 3, 128, 128), (2, 3, 97, 130), (3, 3, 64, 63))


@pytest.fixture(scope="module")
def squeezenet() -> Network:
    network = light_network("squeezenet")
    open_dims(network)
    return network


def assert_computes(network: Network, conversion: Conversion) -> None:
    """Run compiled bytecode for all shapes."""
    machine = Machine(
        assemble(conversion.module), conversion.params, kernels=KERNELS, memory=Memory(poison=True)
    )
    session = onnxruntime_session(network.model)
    (name,) = network.feeds
    for shape in SHAPES:
        x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
        found, wanted = machine.run("main", x), session.run(None, {name: x})
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The layouts that are tried, in order."""
    tried: list[str] = []
    lay_out = LayoutSlicesPass.apply

    def apply(self: LayoutSlicesPass, ctx: Context, op: ModuleOp) -> None:
        tried.append(f"{self.strategy}, {self.dynamic}")
        lay_out(self, ctx, op)

    monkeypatch.setattr(LayoutSlicesPass, "apply", apply)
    return tried


@pytest.mark.ci
def test_one_plan_serves_all_sizes(squeezenet: Network, layouts: list[str]):
    conversion = convert_model(squeezenet.model, "squeezenet.onnx")
    run_passes(conversion.module, "vm")
    assert layouts == ["auto, symbolic"]
    assert_computes(squeezenet, conversion)
