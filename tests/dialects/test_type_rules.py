"""Inferred types are kept from pass to pass, by the attributes that they follow from."""

from collections.abc import Sequence

import pytest
from helpers.programs.programs import context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, TensorType, f32, i64
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from xrelay.dialects import type_rules
from xrelay.dialects.xdsl_extras.identity import Lasting
from xrelay.dialects.xdsl_extras.xdsl_internals import set_type
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


def inferred() -> tuple[ModuleOp, Operation]:
    """Return the module, whose types were inferred and verified, and its operator."""
    module = LocatingParser(context(), TEXT, "program.mlir", 0).parse_module()
    InferTypesPass().apply(context(), module)
    verify(module)
    (op,) = (op for op in module.walk() if op.name == "relay.transpose")
    return module, op


def test_an_op_that_none_changed_is_verified_without_its_rule(monkeypatch: pytest.MonkeyPatch):
    module, _ = inferred()

    def refuse(*arguments: object) -> None:
        raise AssertionError("a rule is applied again")

    monkeypatch.setattr(type_rules, "result_types", refuse)
    verify(module)


def test_another_property_is_another_operator():
    module, op = inferred()
    op.properties["axes"] = DenseArrayBase.from_list(i64, [0, 1])
    with pytest.raises(PassError, match="tensor<2x3xf32>"):
        verify(module)


def test_operands_of_another_type_make_another_operator():
    module, op = inferred()
    other = TensorType(f32, [5, 3])
    Rewriter.replace_value_with_new_type(op.operands[0], other)
    with pytest.raises(PassError, match="tensor<3x5xf32>"):
        InferTypesPass().apply(context(), module)


def test_another_declared_type_is_checked():
    module, op = inferred()
    set_type(op.results[0], TensorType(f32, [4, 2]))
    with pytest.raises(PassError, match=r"the result of relay\.transpose is tensor<3x2xf32>"):
        verify(module)


def test_no_more_is_kept_than_a_limit(monkeypatch: pytest.MonkeyPatch):
    known: Lasting[Sequence[Attribute]] = Lasting()
    for i in range(4096):
        known.put((i,), (), ())
    assert len(known) == 4096
    monkeypatch.setattr(type_rules, "_RESULTS", known)
    inferred()
    assert 0 < len(known) < 4096
