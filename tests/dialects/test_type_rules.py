"""Inferred types follow attributes that change in place, which they should not, but can."""

import pytest
from helpers.programs.programs import context
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntAttr, ModuleOp, TensorType, i64
from xdsl.ir import Attribute, Operation

from xrelay.dialects.tensors import as_tensor
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.tools.text.parser import LocatingParser

TEXT = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
"""


def inferred(text: str = TEXT) -> tuple[ModuleOp, Operation]:
    """Return the module, whose types were inferred and verified, and its operator."""
    module = LocatingParser(context(), text, "program.mlir", 0).parse_module()
    InferTypesPass().apply(context(), module)
    verify(module)
    (op,) = (op for op in module.walk() if op.name == "relay.transpose")
    return module, op


def replace(attribute: Attribute, name: str, value: object) -> None:
    object.__setattr__(attribute, name, value)


def test_of_a_property():
    module, op = inferred()
    straight = DenseArrayBase.from_list(i64, [0, 1])
    replace(op.properties["axes"], "data", straight.data)
    with pytest.raises(PassError, match="tensor<2x3xf32>"):
        verify(module)


def test_of_an_operand():
    module, op = inferred()
    type = as_tensor(op.operands[0].type)
    assert isinstance(type, TensorType)
    replace(type, "shape", ArrayAttr([IntAttr(5), IntAttr(3)]))
    with pytest.raises(PassError, match="tensor<3x5xf32>"):
        InferTypesPass().apply(context(), module)


def test_of_a_result_that_was_inferred():
    before, _, after = TEXT.rpartition("-> tensor<3x2xf32>")
    after = after.replace("tensor<3x2xf32>", "!relay.incomplete")
    module, op = inferred(f"{before}-> !relay.incomplete{after}")
    replace(op.results[0].type, "shape", ArrayAttr([IntAttr(9), IntAttr(9)]))
    with pytest.raises(PassError, match="declared as tensor<9x9xf32>"):
        verify(module)
