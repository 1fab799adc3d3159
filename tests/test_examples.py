"""The programs in `examples/` agree with NumPy and onnxruntime, as IR and in the VM."""

import importlib.util
import math
import os
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import assert_same, results_in_machine
from helpers.onnx.onnx_models import Array, onnxruntime_session, run_onnxruntime
from helpers.processes.forked_commands import with_commands
from helpers.programs.compiled_files import compile_file
from onnx import numpy_helper
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.infer_types import InferTypesPass
from xrelay.runtime.calls.random_inputs import random_parameters
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program.program import Program
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.runner import Runner
from xrelay.tools.registry import UNIVERSE, named_pipelines
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.resources import with_own_resources

EXAMPLES = Path(__file__).parent.parent / "examples"


def read(name: str) -> ModuleOp:
    ctx = Context()
    for dialect, factory in UNIVERSE.get_multiverse().all_dialects.items():
        ctx.register_dialect(dialect, with_own_resources(factory))
    module = LocatingParser(ctx, (EXAMPLES / name).read_text(), name, 0).parse_module()
    module.verify()
    return module


def compiled(name: str, pipeline: str = "vm") -> Program:
    module = read(name)
    Runner(build(pipeline, UNIVERSE.all_passes, named_pipelines)).run(Context(), module)
    return assemble(module)


def both(name: str, x: Array) -> tuple[dict[str, Array], list[Array]]:
    """Random parameters, and the program's results at level relay and in the VM."""
    program = compiled(name)
    params = random_parameters(program.late_constants, seed=1)
    module = read(name)
    InferTypesPass().apply(Context(), module)
    (at_relay,) = evaluate(module, [x], params)
    (in_vm,) = Machine(program, params, memory=Memory(poison=True)).run("main", x)
    others = ("vm{memory=none}", "vm{memory=coalesce}")
    machines = [
        Machine(compiled(name, other), params, memory=Memory(poison=True)) for other in others
    ]
    return params, [at_relay, in_vm, *(machine.run("main", x)[0] for machine in machines)]


def random_input(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x: Array, gamma: Array, beta: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gamma + beta


def gelu(x: Array) -> Array:
    return x * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2


@pytest.mark.ci
def test_a_compiled_program_runs_without_the_compiler(tmp_path: Path):
    """As in the README, run a pickled program with only NumPy installed."""
    x = random_input(8, 28, 28)
    program = compiled("mlp.mlir")
    params = random_parameters(program.late_constants, seed=1)
    (tmp_path / "program").write_bytes(pickle.dumps((program, params, x)))
    code = """
import pickle, sys
for name in ("xdsl", "safetensors", "onnx"):
    sys.modules[name] = None  # whoever imports it gets an error
import numpy as np
from xrelay.runtime.machine.machine import Machine
with open("program", "rb") as file:
    program, params, x = pickle.load(file)
np.save("y.npy", Machine(program, params).run("main", x)[0])
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=60)
    (y,) = Machine(program, params).run("main", x)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), y)


def test_mlp():
    x = random_input(8, 28, 28)
    params, results = both("mlp.mlir", x)
    p = {name: array.astype(np.float64) for name, array in params.items()}
    h = x.reshape(8, 784).astype(np.float64)
    h = np.maximum(h @ p["w1"].T + p["b1"], 0)
    h = np.maximum(h @ p["w2"].T + p["b2"], 0)
    expected = softmax(h @ p["w3"].T + p["b3"])
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-7)


@pytest.mark.ci
def test_transformer_block():
    x = random_input(16, 64)
    params, results = both("transformer_block.mlir", x)
    p = {name: array.astype(np.float64) for name, array in params.items()}
    y = x.astype(np.float64)

    normal = layer_norm(y, p["gamma1"], p["beta1"])
    q, k, v = (normal @ p[w].T for w in ("wq", "wk", "wv"))
    mixed = np.empty_like(y)
    for head in range(4):
        part = slice(16 * head, 16 * head + 16)
        weights = softmax(q[:, part] @ k[:, part].T / 4)
        mixed[:, part] = weights @ v[:, part]
    y = y + mixed @ p["wo"].T

    normal = layer_norm(y, p["gamma2"], p["beta2"])
    y = y + gelu(normal @ p["w1"].T + p["b1"]) @ p["w2"].T + p["b2"]
    for result in results:
        np.testing.assert_allclose(result, y, rtol=1e-4, atol=1e-5 * np.abs(y).max())


@pytest.fixture
def make_squeezenet() -> ModuleType:
    """Import the script that generates `squeezenet.mlir`."""
    path = EXAMPLES / "make_squeezenet.py"
    spec = importlib.util.spec_from_file_location("make_squeezenet", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_squeezenet_is_what_the_frontend_gives(make_squeezenet: ModuleType):
    assert (EXAMPLES / "squeezenet.mlir").read_text() == make_squeezenet.squeezenet_text()


@pytest.mark.ci
def test_squeezenet(make_squeezenet: ModuleType):
    x = random_input(1, 3, 224, 224)
    params, results = both("squeezenet.mlir", x)
    model = make_squeezenet.light_squeezenet()
    model.ir_version = 8  # from 4 on, initializers need not be inputs too
    initializers = {i.name: i for i in model.graph.initializer}
    for name, array in params.items():
        initializers[name].CopyFrom(numpy_helper.from_array(array, name))
    (expected,) = run_onnxruntime(model, {"data_0": x})
    assert expected.std() > 0.01 * expected.max()
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5 * expected.max())


@pytest.mark.parametrize(
    ("name", "parameters", "passes"),
    [
        ("lists", ("x",), "infer-types"),
        ("closures", ("x", "y"), "infer-types"),
        ("closures", ("x", "y"), "plan-devices{default=cuda:0}"),
    ],
)
def test_relay_text_is_evaluated_and_runs_in_the_machine(
    name: str, parameters: tuple[str, ...], passes: str, tmp_path: Path
):
    shape = (4,) if name == "lists" else (5, 7)
    generator = np.random.default_rng(0)
    given = {p: generator.standard_normal(shape, dtype=np.float32) for p in parameters}
    loaded = compile_file(str(EXAMPLES / f"{name}.relay"), passes)
    args = list(given.values())
    (result,) = evaluate(loaded.module, args)
    assert_same((result,), tuple(results_in_machine(loaded.module, args, "main")))
    if name == "lists":
        polynomial, doubled = result
        np.testing.assert_allclose(polynomial, np.polyval([1, -3, 2], given["x"]), rtol=1e-5)
        coefficients: list[float] = []
        while doubled.fields:
            head, doubled = doubled.fields
            coefficients.append(float(head))
        assert coefficients == [2, -6, 4]
    else:
        inner = -given["y"] + given["x"]
        np.testing.assert_allclose(result, given["x"] - inner, rtol=1e-6)


def test_generate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tokens are those of onnxruntime, and of another run in a process of its own."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(EXAMPLES.parent / "benchmarks")])
    decoder: Any = importlib.import_module("decoder_model")
    path, sizes = str(tmp_path / "decoder.onnx"), (2, 2, 16, 50)
    model = decoder.build(*sizes)
    Path(path).write_bytes(model.SerializeToString())
    session = onnxruntime_session(model)
    expected = decoder.generate(partial(session.run, None), *sizes[:3], 12)
    command = ["python", EXAMPLES / "generate.py", path, *map(str, decoder.PROMPT)]
    environment = with_commands(os.environ)
    found = subprocess.run(
        [*command, "--count", "12"], env=environment, capture_output=True, text=True, check=True
    )
    assert [int(token) for token in found.stdout.split()] == expected


def test_generating_models_are_sanitized_and_profiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Both see templates, in which all tokens but the first ones are computed."""
    folders = [str(EXAMPLES.parent / "benchmarks"), str(EXAMPLES)]
    monkeypatch.setattr(sys, "path", [*sys.path, *folders])
    decoder: Any = importlib.import_module("decoder_model")
    generate: Any = importlib.import_module("generate").generate
    sizes, count = (2, 2, 16, 50), 6
    model = decoder.build(*sizes)
    path = tmp_path / "decoder.onnx"
    path.write_bytes(model.SerializeToString())
    expected = decoder.generate(partial(onnxruntime_session(model).run, None), *sizes[:3], count)
    for sanitize in (True, False):
        exe: Any = xrelay.compile(path, pipeline='vm{caches="*=40"}', sanitize=sanitize)
        assert list(generate(exe, decoder.PROMPT, count)) == expected
        with exe.profile() as profile:
            assert list(generate(exe, decoder.PROMPT, count)) == expected
        times = profile.times
        assert times.calls == {"main": count}
        assert 0 < times.kernels < times.total
        softmax = "fused_nn_softmax" if sanitize else "relay.nn.softmax"
        counts = {name: total.count for (name, _), total in times.by_operator().items()}
        assert counts[softmax] == sizes[0] * count
