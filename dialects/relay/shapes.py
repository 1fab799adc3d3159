"""
Shape functions, and the ops on sizes that `arith` and `tensor` do not have.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any, ClassVar, Self, TypeAlias, get_args

from xdsl.dialects.builtin import (
    AnyFloat,
    AnyFloatConstr,
    FunctionType,
    IndexType,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i64,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ...operators.measures import MEASURES
from ...operators.sizes import Check
from ..device import equals_without_devices, tensor_type
from ..interfaces import AllOnHost, AnyDevice
from ..tensors import as_tensor
from ..xdsl_extras.formats import form
from .incomplete import is_incomplete
from .language.control import verify_yielded


class TensorFunction(IRDLOperation, ABC):
    """
    A function of tensors to tensors, one block that ends with `relay.yield`.

    Its types carry no device.
    """

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), AnyDevice())

    KIND: ClassVar[str]
    """The words for such a function, in errors."""
    PRINTED: ClassVar[tuple[str, ...]] = ()
    """The optional properties, which are printed with the attributes."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse a function by the parser that xDSL has for those of all dialects."""
        name, inputs, outputs, body, attributes, _, _ = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type")
        )
        type = FunctionType.from_lists(inputs, outputs)
        given = {} if attributes is None else dict(attributes.data)
        properties = {known: given.pop(known) for known in cls.PRINTED if known in given}
        return cls.create(
            properties={"sym_name": StringAttr(name), "function_type": type, **properties},
            attributes=given,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        shown = {name: self.properties[name] for name in self.PRINTED if name in self.properties}
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            {**self.attributes, **shown},
            reserved_attr_names=("sym_name", "function_type"),
        )

    def verify_(self) -> None:
        if self.function_type.inputs.data != tuple(self.body.block.arg_types):
            raise VerifyException(
                "the arguments of the body must have the types of the signature, "
                f"{self.function_type}"
            )
        for type in (*self.function_type.inputs, *self.function_type.outputs):
            if as_tensor(type) is None and not is_incomplete(type):
                raise VerifyException(f"{self.KIND} types must be tensors, but one is {type}")
            if not equals_without_devices(type, type):
                raise VerifyException(
                    f"{self.KIND} types must not carry a device, but one is {type}"
                )
        verify_yielded(self, self.body, self.function_type.outputs.data, "the body")


def shape_type(type: Attribute) -> Attribute:
    """The type of the shape of a tensor of `type`: one i64 for each dim."""
    tensor = as_tensor(type)
    assert tensor is not None, f"{type} has no shape"
    return tensor_type(i64, [tensor.get_num_dims()])


@irdl_op_definition
class ShapeFuncOp(TensorFunction):
    """
    Define a shape function: it computes the shapes of a kernel's results on the host.

    ```mlir
    relay.shape_func @shape_of_fused_nn_relu(%x: tensor<2xi64>) -> tensor<2xi64> {
      relay.yield %x : tensor<2xi64>
    }
    ```

    A parameter is the shape of an argument of the kernel, an i64 tensor with one element for each
    dim, or the argument itself if a result shape depends on its elements; a result is the shape
    of a result. The types carry no device.
    """

    name = "relay.shape_func"

    KIND: ClassVar = "shape function"

    def __init__(self, name: str, type: FunctionType, body: Region):
        super().__init__(
            properties={"sym_name": StringAttr(name), "function_type": type}, regions=[body]
        )

    def verify_(self) -> None:
        super().verify_()
        for type in self.function_type.outputs:
            tensor = as_tensor(type)
            assert tensor is not None
            if tensor.element_type != i64 or tensor.get_num_dims() != 1:
                raise VerifyException(f"a shape must be a vector of i64, but is {type}")


Relation = form(
    "Relation",
    lambda parser: StringAttr(parser.parse_identifier("a relation")),
    lambda printer, check: printer.print_string(check.data),
)
"""A relation by its name alone: `eq`."""


_PLACEHOLDER = re.compile(r"\{(\d+)\}")


@irdl_op_definition
class RequireOp(IRDLOperation):
    """
    Stop the program with `message` unless the sizes `lhs` and `rhs` are in the relation `check`.

    ```mlir
    relay.require eq %a, %b, "relay.nn.dense: the reduced dims must be equal, but are {0} and {1}"
    relay.require broadcast %a, %b, "relay.add of {2}x3 and {3}x3: {0} and {1}"(%n, %m)
    ```

    The relations are `eq`, `at_least` (lhs >= rhs), `at_most`, `divisible` (rhs divides lhs),
    `one_or_eq` (lhs is 1 or rhs) and `broadcast` (equal, or one of them is 1). In the message
    `{0}` stands for `lhs`, `{1}` for `rhs`, `{2}` for the first of `values`, and so on. The error
    is at the op's location.
    """

    name = "relay.require"

    check = prop_def(StringAttr)
    message = prop_def(StringAttr)
    lhs = operand_def(i64)
    rhs = operand_def(i64)
    values = var_operand_def(i64)

    traits = traits_def(AllOnHost())
    custom_directives = (Relation,)
    assembly_format = (
        "custom<Relation>($check) $lhs `,` $rhs `,` $message (`` `(` $values^ `)`)? attr-dict"
    )

    def __init__(
        self,
        check: Check,
        lhs: SSAValue,
        rhs: SSAValue,
        message: str,
        values: Sequence[SSAValue] = (),
    ):
        super().__init__(
            operands=[lhs, rhs, values],
            properties={"check": StringAttr(check), "message": StringAttr(message)},
        )

    def verify_(self) -> None:
        if self.check.data not in list(Check):
            raise VerifyException(
                f"check must be one of {', '.join(Check)}, but is {self.check.data}"
            )
        for number in _PLACEHOLDER.findall(self.message.data):
            if len(number) > 4 or int(number) >= len(self.operands):
                raise VerifyException(
                    f"the message has {{{number}}}, but there are {len(self.operands)} operands"
                )


_Kind: TypeAlias = tuple[str, tuple[type[Attribute], ...]]
_KINDS: dict[object, _Kind] = {
    int: ("an integer", (IntegerType, IndexType)),
    float: ("a number", (IntegerType, IndexType, *get_args(AnyFloat))),
    Any: ("a tensor", (TensorType,)),
}
"""The types of a measure's argument, by the annotation of its parameter."""


@cache
def _measured(measure: str) -> tuple[tuple[_Kind, ...], _Kind | None]:
    """Return the kinds of the arguments of a measure, and that of any number of further ones."""
    kinds: list[_Kind] = []
    for parameter in signature(MEASURES[measure], eval_str=True).parameters.values():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            return tuple(kinds), _KINDS[parameter.annotation]
        kinds.append(_KINDS[parameter.annotation])
    return tuple(kinds), None


@irdl_op_definition
class MeasureOp(IRDLOperation):
    """
    Compute the size `measure` of `args`, which arithmetic on sizes cannot express.

    ```mlir
    %n = relay.measure "slice_length"(%dim, %begin, %end, %stride) : (i64, i64, i64, i64) -> i64
    %m = relay.measure "count_nonzero"(%mask) : (tensor<?xi1>) -> i64
    ```

    Arguments are sizes, floats, and tensors on the host. The measures are those of
    `operators.measures`. One that has no value for its arguments stops the program.
    """

    name = "relay.measure"

    measure = prop_def(StringAttr)
    args = var_operand_def(
        AnyOf((BaseAttr(IntegerType), BaseAttr(IndexType), AnyFloatConstr, BaseAttr(TensorType)))
    )
    size = result_def(i64)

    traits = traits_def(Pure(), AllOnHost())
    assembly_format = "$measure `(` $args `)` attr-dict `:` functional-type($args, results)"

    def __init__(self, measure: str, args: Sequence[SSAValue]):
        super().__init__(
            operands=[args], properties={"measure": StringAttr(measure)}, result_types=[i64]
        )

    def verify_(self) -> None:
        if self.measure.data not in MEASURES:
            raise VerifyException(
                f"measure must be one of {', '.join(MEASURES)}, but is {self.measure.data}"
            )
        wanted, others = _measured(self.measure.data)
        more = len(self.args) - len(wanted)
        if more and (others is None or more < 0):
            at_least = "" if others is None else "at least "
            raise VerifyException(
                f"{self.measure.data} has {at_least}{len(wanted)} arguments, "
                f"but got {len(self.args)}"
            )
        wanted += () if others is None else (others,) * more
        for i, ((what, kinds), arg) in enumerate(zip(wanted, self.args, strict=True)):
            if not isinstance(arg.type, kinds):
                raise VerifyException(
                    f"argument {i} of {self.measure.data} must be {what}, but is {arg.type}"
                )
