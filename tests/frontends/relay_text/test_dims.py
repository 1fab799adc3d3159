"""Programs with dims that inference cannot derive: they run, or the error says why not."""

import numpy as np
import pytest
from helpers.relay.relay_programs import read
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TensorType, TupleType, f32, i32
from xdsl.ir import Attribute

from xrelay.dialects.relay import AdtType, IncompleteType
from xrelay.dialects.relay.incomplete import join
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError

PROGRAM = """
def @any(%x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] { nn.relu(%x) }
def @three(%x: Tensor[(3, 4), float32]) -> Tensor[(3, 4), float32] { negative(%x) }
def @main(%x: Tensor[(?, 4), float32], %c: bool) {
  let %a: Tensor[(3, 4), float32] = @any(%x);
  let %b = @three(%x);
  let %d: Tensor[(3, 4), float32] = %x;
  let %e: Tensor[(3, 4), float32] = if (%c) { %a } else { exp(%x) };
  add(%a, add(%b, add(%d, %e)))
}
"""


def x(rows: int) -> np.ndarray:
    return np.linspace(-1, 1, 4 * rows, dtype=np.float32).reshape(rows, 4)


@pytest.mark.parametrize("condition", [True, False])
def test_the_declared_dims_are_right(condition: bool) -> None:
    (found,) = evaluate(read(PROGRAM), [x(3), np.bool_(condition)])
    relu = np.maximum(x(3), 0)
    np.testing.assert_allclose(found, relu + (relu if condition else np.exp(x(3))), rtol=1e-6)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "def @main(%x: Tensor[(?, 4), float32]) -> Tensor[(3, 4), float32] { nn.relu(%x) }",
            "the result is a tensor<5x4xf32>, but is declared as tensor<3x4xf32>",
        ),
        (
            "def @main(%x: Tensor[(?, 4), float32]) -> Tensor[(3, 4), float32] { %x }",
            "the result is a tensor<5x4xf32>, but is declared as tensor<3x4xf32>",
        ),
        (PROGRAM, "the result of @any is declared as tensor<3x4xf32>, but its shape is 5 x 4"),
        (
            PROGRAM.replace("%a: Tensor[(3, 4), float32]", "%a"),
            "a parameter of @three is declared as tensor<3x4xf32>, but its shape is 5 x 4",
        ),
    ],
)
def test_the_declared_dims_are_wrong(program: str, message: str) -> None:
    module = read(program)
    with pytest.raises(PassError) as caught:
        evaluate(module, [x(5), np.True_][: 2 if "%c" in program else 1])
    assert message in str(caught.value)


SOME, MORE = TensorType(f32, [3, DYNAMIC_INDEX]), TensorType(f32, [3, 4])
ANY = TensorType(f32, [DYNAMIC_INDEX, DYNAMIC_INDEX])


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        (MORE, MORE, MORE),
        (MORE, SOME, SOME),
        (SOME, TensorType(f32, [DYNAMIC_INDEX, 4]), ANY),
        (MORE, TensorType(f32, [3, 5]), None),
        (MORE, TensorType(f32, [3]), None),
        (MORE, TensorType(i32, [3, 4]), None),
        (MORE, IncompleteType(), MORE),
        (IncompleteType(), MORE, MORE),
        (TupleType((MORE, SOME)), TupleType((SOME, MORE)), TupleType((SOME, SOME))),
        (TupleType((MORE,)), TupleType((MORE, MORE)), None),
        (TupleType((MORE,)), TupleType((TensorType(f32, []),)), None),
        (MORE, TupleType((MORE,)), None),
        (
            FunctionType.from_lists([MORE], [SOME]),
            FunctionType.from_lists([SOME], [MORE]),
            FunctionType.from_lists([SOME], [SOME]),
        ),
        (AdtType("List", [MORE]), AdtType("List", [MORE]), AdtType("List", [MORE])),
        (AdtType("List", [MORE]), AdtType("Tree", [MORE]), None),
    ],
)
def test_join(a: Attribute, b: Attribute, joined: Attribute | None) -> None:
    assert join(a, b) == joined
