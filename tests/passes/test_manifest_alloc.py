"""`manifest-alloc` on all golden inputs, on plug-ins' ops, and on sizes that overflow."""

from abc import ABC
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from helpers.programs.programs import assert_same, context, parse, printed
from helpers.programs.random_settings import share
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import DiagnosticException, ParseError

from xrelay.dialects import memory
from xrelay.dialects.interfaces import (
    AnyDevice,
    Bufferizable,
    DestinationPassing,
    Fusible,
    FusionKind,
    InferTypes,
    ReifiesShapes,
    SameDevice,
)
from xrelay.dialects.relay.incomplete import AnyTensor
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.type_rules import typed
from xrelay.operators.rules import Rule
from xrelay.operators.signature import Data, Tensor
from xrelay.operators.sizes import Shape, divided
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass
from xrelay.tools.api.source import split
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser

LIT_TESTS = Path(__file__).parents[2] / "lit_tests"
TO_LOWERED = (
    "infer-types",
    "plan-devices",
    "lambda-lift",
    "fuse-ops",
    "outline-primitives",
    "create-shape-functions",
)


def golden_inputs() -> Iterator[str]:
    """Yield the modules of all golden tests."""
    for path in sorted(LIT_TESTS.rglob("*.mlir")):
        if path.parent.name != "Output":
            yield from (part.text for part in split(path.read_text(encoding="utf-8")))


CONTEXT = context()


def run(module: ModuleOp, *passes: str) -> None:
    for name in passes:
        UNIVERSE.all_passes[name]()().apply(CONTEXT, module)


def manifested(text: str) -> ModuleOp | None:
    """Return a golden input after `manifest-alloc`; None if it is not a program."""
    try:
        module = LocatingParser(CONTEXT, text, "golden.mlir").parse_module()
        verify(module)
        run(module, *TO_LOWERED)
        VerifyStagePass("lowered").apply(CONTEXT, module)
        run(module, "manifest-alloc")
        verify(module)
    except (DiagnosticException, ParseError):
        return None
    return module


def test_a_second_run_changes_nothing():
    texts = share([*golden_inputs()], 24)
    modules = [module for text in texts if (module := manifested(text)) is not None]
    assert len(modules) >= 12
    for module in modules:
        once = module.clone()
        run(module, "create-shape-functions", "manifest-alloc")
        assert_same(module, once)


# ---------------------------------------------------------------------- plug-ins


def halves(data: Tensor) -> Tensor:
    """Infer half of the rows of `data`."""
    half = divided(data.dims[0], 2, "{0} rows of {op} are not a multiple of {1}")
    return Tensor(data.element, (half, *data.dims[1:]))


def counted(data: Tensor, count: Data) -> Tensor:
    """Infer `count` rows of `data`."""
    return Tensor(data.element, (*count.sizes("count"), *data.dims))


@dataclass(frozen=True)
class WriteInto(Bufferizable):
    """The op becomes a `plug.into`."""

    def to_destination_style(self, op: Operation, outs: Sequence[SSAValue]) -> Operation:
        return IntoOp.create(operands=[*op.operands, *outs], result_types=[outs[0].type])


@irdl_op_definition
class IntoOp(IRDLOperation):
    """Write into the last operand."""

    name = "plug.into"

    ins = var_operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(DestinationPassing(), memory.ResultIsOuts(), SameDevice())


class OneToOne(Operator, ABC):
    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)


@irdl_op_definition
class HalvesOp(OneToOne):
    """An op that wants storage and has a rule."""

    name = "plug.halves"
    traits = traits_def(Pure(), SameDevice(), InferTypes(typed(Rule(halves))), WriteInto())


@irdl_op_definition
class CountedOp(Operator):
    """An op that wants storage and whose rule reads data."""

    name = "plug.counted"

    data = operand_def(AnyTensor)
    count = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(Pure(), AnyDevice(), InferTypes(typed(Rule(counted))), WriteInto())


@dataclass(frozen=True)
class Transposed(ReifiesShapes):
    """The result has the dims of the operand, in reverse."""

    def result_dims(self, op: Operation, operands: Sequence[Tensor | str]) -> Sequence[Shape]:
        (operand,) = operands
        assert isinstance(operand, Tensor)
        return [operand.dims[::-1]]


def as_declared(op: Operation) -> Sequence[Attribute]:
    return op.result_types


@irdl_op_definition
class TransposedOp(OneToOne):
    """An op that wants storage and computes the shape of its result itself."""

    name = "plug.transposed"
    traits = traits_def(Pure(), SameDevice(), WriteInto(), Transposed())


@irdl_op_definition
class PlainOp(OneToOne):
    """An op that wants storage and has a type rule, but none over sizes."""

    name = "plug.plain"
    traits = traits_def(Pure(), SameDevice(), InferTypes(as_declared), WriteInto())


@irdl_op_definition
class FusibleOp(OneToOne):
    """A tensor operator with a rule."""

    name = "plug.fusible"
    traits = traits_def(
        Pure(), SameDevice(), InferTypes(typed(Rule(halves))), Fusible(FusionKind.INJECTIVE)
    )


PLUG = Dialect("plug", [IntoOp, HalvesOp, CountedOp, TransposedOp, PlainOp, FusibleOp])


def plugged(body: str) -> ModuleOp:
    ctx = context()
    ctx.load_dialect(PLUG)
    cpu, gpu = "#relay.device<cpu:0>", "#relay.device<cuda:0>"
    body = body.replace(", GPU>", f", {gpu}>").replace(", CPU>", f", {cpu}>")
    module = LocatingParser(ctx, body, "plug.mlir").parse_module()
    verify(module)
    return module


def manifested_plug(op: str, operands: str, result: str) -> list[str]:
    """Return the lines of a function with one op, after `manifest-alloc`."""
    module = plugged(
        f"""func.func @f({operands}) -> {result} {{
        %y = {op} -> {result}
        func.return %y : {result}
        }}"""
    )
    run(module, "manifest-alloc")
    verify(module)
    return printed(module).splitlines()


X = "tensor<?x3xf32, GPU>"


def test_an_op_that_wants_storage_has_the_shape_of_its_rule():
    text = "\n".join(manifested_plug(f"plug.halves %x : ({X})", f"%x: {X}", X))
    assert "relay.require divisible" in text
    assert '"plug.halves of tensor<{0}x3xf32>: {0} rows of plug.halves are not' in text
    assert "arith.floordivsi" in text
    assert "tensor.from_elements" in text
    assert '"plug.into"(%x, %tensor)' in text


def test_data_that_its_rule_reads_is_copied_to_the_host():
    count = "tensor<1xi64, GPU>"
    op = f"plug.counted %x, %n : ({X}, {count})"
    text = "\n".join(manifested_plug(op, f"%x: {X}, %n: {count}", "tensor<?x?x3xf32, GPU>"))
    assert "memory.copy ins(%n : tensor<1xi64, #cuda0>)" in text.replace(
        "#relay.device<cuda:0>", "#cuda0"
    )
    assert text.count("vm.shape_of") == 1


def test_an_op_may_compute_its_shapes_itself():
    op = f"plug.transposed %x : ({X})"
    text = "\n".join(manifested_plug(op, f"%x: {X}", "tensor<3x?xf32, GPU>"))
    assert "tensor.from_elements %c3, %" in text


def test_an_op_without_a_rule_over_sizes_cannot_be_dynamic():
    with pytest.raises(PassError, match=r"plug\.plain has no rule over sizes.*give it one"):
        manifested_plug(f"plug.plain %x : ({X})", f"%x: {X}", X)


def test_a_plugins_operator_has_a_shape_function():
    module = plugged(
        """relay.prim_func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = plug.fusible %x : (tensor<?xf32>) -> tensor<?xf32>
        relay.yield %0 : tensor<?xf32>
        }"""
    )
    run(module, "create-shape-functions")
    verify(module)
    found = evaluate(module, [np.array([6])], function="shape_func_fusible")
    np.testing.assert_array_equal(found, [[3]])
    with pytest.raises(PassError, match=r"plug.fusible of tensor<5xf32>: 5 rows of plug.fusible"):
        evaluate(module, [np.array([5])], function="shape_func_fusible")


# ---------------------------------------------------------------------- overflow


OVERFLOW = """func.func @main(%n: tensor<3xi64>, %x: tensor<1xf32>) -> tensor<?x?x?xf32> {
  %y = relay.dyn.broadcast_to %x, %n : (tensor<1xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  func.return %y : tensor<?x?x?xf32>
}"""


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ([2**31, 2**31, 4], r"arith.muli overflows: \d+ does not fit i64"),
        ([2**62, 2, 2], r"arith.muli overflows: \d+ does not fit i64"),
        ([2**40, 1, 1], "out of memory|not enough memory|needs|bytes"),
        ([-1, 2, 2], "an element of shape must be at least 0, but is -1"),
    ],
)
def test_sizes_that_overflow_are_errors(dims: list[int], message: str):
    module = parse(OVERFLOW)
    run(module, *TO_LOWERED, "manifest-alloc")
    with pytest.raises(PassError, match=message):
        evaluate(module, [np.array(dims), np.zeros(1, np.float32)])
