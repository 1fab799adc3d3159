"""Weights computed from others by the formulas in their names."""

from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay.dialects.interfaces import Fusible, FusionKind
from xrelay.dialects.relay import Relay
from xrelay.operators.rules import RULES, Work
from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program.program import TensorSpec
from xrelay.runtime.weights.derived_weights import ArraySource, Weights
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.runtime.weights.weight_formulas import formula_of

W = np.random.default_rng(0).standard_normal((200, 3)).astype(np.float32)
NAME = 'it\'s "w" = f(x)\n'
WEIGHTS = Weights(ArraySource({"w": W, NAME: W}))


def transposed(of: str) -> str:
    return formula_of("relay.transpose", [of], {"axes": (1, 0)})


def nested_doublings(count: int) -> str:
    """Return a formula whose value has 2 ** count times the bytes of w."""
    return "=" + "relay.repeat(" * count + "'w'" + ", repeats=2, axis=0)" * count


@pytest.mark.parametrize("name", ["w", NAME])
def test_a_formula_is_computed(name: str):
    scale = np.array([0.5, 2.0, -1.0], np.float32)
    formula = transposed(formula_of("relay.multiply", [name, scale], {}))
    assert formula in WEIGHTS
    assert WEIGHTS.spec(formula) == TensorSpec("float32", (3, 200))
    np.testing.assert_array_equal(WEIGHTS.array(formula), (W * scale).T)


def test_a_scalar_stays_a_scalar():
    zero = np.zeros((), np.float32)
    formula = formula_of(
        "relay.nn.pad", ["w", zero], {"pad_width": (0, 0, 0, 1), "pad_mode": "constant"}
    )
    np.testing.assert_array_equal(WEIGHTS.array(formula), np.pad(W, ((0, 0), (0, 1))))


def test_a_weight_that_was_written_under_its_formula_is_read():
    value = np.zeros((3, 200), np.float32)
    written = Weights(ArraySource({transposed("w"): value}))
    assert written.array(transposed("w")) is value


def test_a_formula_of_weights_that_are_not_there_is_missing():
    assert transposed("v") not in WEIGHTS
    assert "v" not in WEIGHTS


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("=" + "(" * 300, "not a formula"),
        ("=" + "-" * 4000 + "1", "not a formula"),
        ("=__import__('w')", "not an operator"),
        ("=relay.add('w')", "expects 2 operands"),
        ("=relay.transpose('w', axes=(7, 0))", "axes"),
        ("=relay.transpose('w', axes=[1, 0])", "tuple of integers"),
        ("=relay.transpose('w', axis=(1, 0))", r"no attribute axis \(its attributes: axes\)"),
        ("=relay.transpose('w', axes=(1, 0), axes=(0, 1))", "given twice"),
        ("=relay.cast('w')", "needs dtype"),
        ("=relay.nn.dense('w', 'w')", "may take long"),
        (nested_doublings(40), "bytes, above"),
        ("=relay.broadcast_to('w', shape=(1000000000, 200, 3))", "bytes, above"),
        ("=relay.split('w', indices_or_sections=(1,), axis=1)", "more than one result"),
        ("=relay.add('w', constant('float32', (3,), 'AAAA'))", "does not have the shape"),
        ("=relay.add('w', constant('float32', (-1,), 'AAAA'))", "does not have the shape"),
        ("=relay.add('w', constant('object', (1,), 'AAAA'))", "element type"),
        ("=relay.add('w', constant('float32'))", "not a formula"),
        ("=relay.add('w', " + "'w'," * 2000 + ")", "4096"),
        (f"=relay.nn.leaky_relu('w', alpha={'9' * 400})", "does not fit into 64 bits"),
        (f"=relay.nn.leaky_relu('w', alpha=0x{'f' * 4000})", "does not fit into 64 bits"),
        (f"=relay.transpose('w', axes=(1, -{1 << 64}))", "does not fit into 64 bits"),
        (f"=relay.add('w', constant('float32', ({1 << 64}, 0), ''))", "does not fit into 64 bits"),
        (f"=relay.tile('w', reps=({1 << 60}, 1, 0))", "array is too big"),
    ],
)
def test_a_formula_that_is_wrong_is_an_error(formula: str, reason: str):
    with pytest.raises(MachineError, match=reason):
        WEIGHTS.array(formula)


def test_operators_in_formulas_are_those_that_are_fused_as_elementwise_or_injective():
    linear, fused = set[str](), set[str]()
    for op in Relay.operations:
        rule, kind = RULES.get(op.name), op.get_trait(Fusible)
        if rule is None or rule.data_operands:
            continue
        if rule.work is Work.LINEAR:
            linear.add(op.name)
        if kind is not None and kind.kind <= FusionKind.INJECTIVE:
            fused.add(op.name)
    assert linear == fused


SOURCE = """
module attributes {relay.params = "w.safetensors"} {
  func.func @main(%x: tensor<2x200xf32>) -> tensor<2x3xf32> {
    %w = relay.param "w" : tensor<200x3xf32>
    %c = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %s = relay.multiply %w, %c : (tensor<200x3xf32>, tensor<3xf32>) -> tensor<200x3xf32>
    %t = relay.transpose %s {axes = array<i64: 1, 0>} : (tensor<200x3xf32>) -> tensor<3x200xf32>
    %y = relay.nn.dense %x, %t : (tensor<2x200xf32>, tensor<3x200xf32>) -> tensor<2x3xf32>
    func.return %y : tensor<2x3xf32>
  }
}
"""


def test_programs_compute_their_weights_when_they_are_loaded(tmp_path: Path):
    (tmp_path / "m.mlir").write_text(SOURCE)
    write_tensors(tmp_path / "w.safetensors", {"w": W})
    x = np.random.default_rng(1).standard_normal((2, 200)).astype(np.float32)
    expected = x.astype(np.float64) @ (W * np.array([1, 2, 3]))
    program = xrelay.compile(tmp_path / "m.mlir", pipeline="infer-types,fold-weights,vm")
    assert "%2 = relay.multiply" not in program.listing
    np.testing.assert_allclose(program(x), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(Machine(program.program, {"w": W}).run("main", x), [program(x)])
    program.save(tmp_path / "m.xrx")
    np.testing.assert_array_equal(xrelay.load(tmp_path / "m.xrx")(x), program(x))
    again = xrelay.load(tmp_path / "m.xrx", params={"w": W})
    np.testing.assert_array_equal(again(x), program(x))
