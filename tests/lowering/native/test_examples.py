"""The examples as machine code, against NumPy."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
import pytest
from helpers.machine.in_machine import compiled

import xrelay
from xrelay.runtime.calls.random_inputs import random_parameters
from xrelay.runtime.program.program import Array
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools.opt.opt import main

EXAMPLES = Path(__file__).parents[3] / "examples"


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def classifier(x: Array, w: Array, b: Array) -> Array:
    return softmax(np.maximum(x @ w.T + b, 0))


def dynamic(x: Array, y: Array, w: Array) -> Array:
    return (x + y) @ w.T


def closures(x: Array, y: Array) -> Array:
    return x - (x - y)


Shapes: TypeAlias = Sequence[tuple[int, ...]]

CASES: dict[str, tuple[Shapes, Callable[..., Array]]] = {
    "classifier.mlir": ([(2, 8), (4, 8), (4,)], classifier),
    "dynamic.mlir": ([(3, 8), (3, 8), (4, 8)], dynamic),
    "closures.relay": ([(5, 7), (5, 7)], closures),
}


@pytest.mark.ci
@pytest.mark.parametrize("name", CASES)
def test_examples(name: str, tmp_path: Path):
    shapes, expected = CASES[name]
    library = tmp_path / "libexample.so"
    assert (
        main([str(EXAMPLES / name), "-p", "aot", "-t", "native{cpu=native}", "-o", str(library)])
        == 0
    )
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    given = cast(Array, xrelay.load(library)(*inputs))
    np.testing.assert_allclose(given, expected(*inputs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["mlp.mlir", "transformer_block.mlir"])
@pytest.mark.ci
def test_examples_with_weights(name: str, tmp_path: Path):
    """The weights are random; the machine has the same ones."""
    text, library = (EXAMPLES / name).read_text(), tmp_path / "libexample.so"
    head, _, body = text.partition("\nfunc.func")
    attributes = '{relay.params = "example.safetensors"}'
    source = tmp_path / "example.mlir"
    source.write_text(f"{head}\nbuiltin.module attributes {attributes} {{\nfunc.func{body}\n}}\n")
    program = compiled(xrelay.parse(EXAMPLES / name))
    weights = random_parameters(program.late_constants, seed=1)
    write_tensors(tmp_path / "example.safetensors", weights)
    assert main([str(source), "-p", "aot", "-t", "native{cpu=native}", "-o", str(library)]) == 0
    (param,) = program.entries[0].params
    assert param.spec is not None
    x = np.random.default_rng(0).standard_normal(param.spec.dims).astype(param.spec.dtype)
    machine = xrelay.compile(EXAMPLES / name, params=weights)
    np.testing.assert_allclose(xrelay.load(library)(x), machine(x), rtol=1e-4, atol=1e-5)


def lstm(xs: Array, h: Array, c: Array, w: Array, r: Array, b: Array) -> tuple[Array, Array, Array]:
    def sigmoid(x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    found: list[Array] = []
    for x in xs:
        i, o, f, g = np.split(x @ w.T + h @ r.T + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        found.append(h)
    return np.array(found, np.float32).reshape(len(xs), *h.shape), h, c


@pytest.mark.ci
def test_recursion_whose_depth_the_argument_gives(tmp_path: Path):
    """The size of a result is the depth, which is more than the stack has room for calls."""
    library = tmp_path / "liblstm.so"
    command = [str(EXAMPLES / "lstm.relay"), "-p", "aot{entries=main}", "-t", "native{cpu=native}"]
    assert main([*command, "-o", str(library)]) == 0
    exe, rng = xrelay.load(library), np.random.default_rng(0)
    for length, batch in ((0, 2), (1, 1), (7, 3), (5000, 1)):
        shapes = [(length, batch, 3), (batch, 4), (batch, 4), (16, 3), (16, 4), (16,)]
        inputs = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
        given = cast("tuple[Array, ...]", exe(*inputs))
        for array, expected in zip(given, lstm(*inputs), strict=True):
            assert array.shape == expected.shape
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5)
    h = np.zeros((2, 4), np.float32)
    with pytest.raises(xrelay.MachineError, match="do not broadcast"):
        exe(np.zeros((2, 3, 3), np.float32), h, h, *inputs[3:])


def test_data_types_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    out = tmp_path / "lib.so"
    assert (
        main(
            [str(EXAMPLES / "lists.relay"), "-p", "aot", "-t", "native{cpu=native}", "-o", str(out)]
        )
        == 1
    )
    assert "run the program by the machine (xrelay-opt -p vm" in capsys.readouterr().err
    assert not out.exists()
