"""A plug-in in a file: an operator, what it computes, and the ONNX operator that becomes it."""

from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.interfaces import Fusible, FusionKind, InferTypes, SameDevice
from xrelay.dialects.relay.incomplete import AnyTensor
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.type_rules import typed
from xrelay.frontends.onnx.operators.rule import since
from xrelay.operators.meaning.forms import Definition, Elementwise
from xrelay.operators.meaning.number import Number
from xrelay.operators.rules import Rule
from xrelay.operators.signature import Tensor


@Rule
def cube(data: Tensor) -> Tensor:
    return data  # the result has the type of the operand


@irdl_op_definition
class CubeOp(Operator):
    """Compute x x x for each x of `data`."""

    name = "mine.cube"
    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure(), InferTypes(typed(cube)), SameDevice(), Fusible(FusionKind.ELEMWISE))


def formula(x: Number) -> Number:
    """x x x"""
    return x * x * x


Mine = Dialect("mine", [CubeOp])
DEFINITIONS = {"mine.cube": Definition(cube, Elementwise(formula))}
ONNX = {"my.domain": {"Cube": since(1, lambda node, b: b.build(CubeOp, node.input(0)))}}
