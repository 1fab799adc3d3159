"""Kernels: straight-line programs of operators over numbered values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ..errors import OpVerifyException
from ..integers import integers_of
from ..type_rules import check_call
from ..xdsl_extras.formats import OneBlock, form
from .fields import Dims
from .function_ops import Definition


def parse_types(parser: Parser) -> ArrayAttr[Attribute]:
    """Parse types in parentheses."""
    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))


def print_types(printer: Printer, types: ArrayAttr[Attribute]) -> None:
    """Print types in parentheses."""
    with printer.in_parens():
        printer.print_list(types, printer.print_attribute)


TypeList = form("TypeList", parse_types, print_types)
"""A property that is a list of types, in parentheses."""


@irdl_op_definition
class KernelOp(Definition):
    """
    Define a kernel: a straight-line program of operators over numbered values.

    ```mlir
    bytecode.kernel @fused_add_nn_relu (tensor<4xf32>, tensor<4xf32>) -> [3] {
      bytecode.step "relay.add" [0, 1] -> [2] : (tensor<4xf32>)
      bytecode.step "relay.nn.relu" [2] -> [3] : (tensor<4xf32>)
    }
    ```

    Values are numbered: arguments first, then constants, then the outputs of the steps. The numbers
    after the arrow are the kernel's results. Arguments after `host` are sizes that operators read
    on the host; they may be there while all others are on another device:

    ```mlir
    bytecode.kernel @full (tensor<f32>, tensor<2xi64>) host [1] -> [2] { … }
    ```
    """

    name = "bytecode.kernel"

    types = prop_def(ArrayAttr[Attribute])
    host_inputs = opt_prop_def(Dims)
    outputs = prop_def(Dims)

    custom_directives = (TypeList, OneBlock)
    assembly_format = (
        "$sym_name custom<TypeList>($types) (`host` $host_inputs^)? `->` $outputs "
        "custom<OneBlock>($body) attr-dict"
    )

    def verify_(self) -> None:
        values: list[Attribute] = list(self.types)
        steps = 0
        for op in self.body.block.ops:
            if isinstance(op, StepOp):
                steps += 1
                op.check(values)
                values += op.types
            elif isinstance(op, KernelConstantOp):
                if steps:
                    raise OpVerifyException(f"must come before the {steps} steps above it", op)
                values.append(op.value.type)
            else:
                raise OpVerifyException(f"is neither a constant nor a step of {self.name}", op)
        _check_numbers(self.outputs, len(values), self)
        on_host = () if self.host_inputs is None else integers_of(self.host_inputs)
        for number in cast(Sequence[int], on_host):
            if not 0 <= number < len(self.types):
                raise VerifyException(
                    f"host input {number} is not an argument: there are {len(self.types)}"
                )


def _check_numbers(numbers: Dims, known: int, op: IRDLOperation) -> None:
    for number in integers_of(numbers):
        if not 0 <= number < known:
            raise OpVerifyException(
                f"reads value {number}, but only {known} values are defined before", op
            )


@irdl_op_definition
class KernelConstantOp(IRDLOperation):
    """
    Define the kernel's next value as a constant.

    ```mlir
    bytecode.kernel_constant dense<1.0> : tensor<f32>
    ```
    """

    name = "bytecode.kernel_constant"

    value = prop_def(DenseIntOrFPElementsAttr)

    assembly_format = "$value attr-dict"

    traits = traits_def(HasParent(KernelOp))


@irdl_op_definition
class StepOp(IRDLOperation):
    """
    Apply operator `op` to values, defining the kernel's next values.

    An operator of `relay` must accept the values and `attrs`, which lists all of its attributes,
    just as its op would.

    ```mlir
    bytecode.step "relay.nn.dense" [0, 1] -> [2] : (tensor<8x16xf32>)
    bytecode.step "relay.nn.softmax" [2] -> [3] : (tensor<8x16xf32>) with {axis = -1 : i64}
    ```
    """

    name = "bytecode.step"

    op = prop_def(StringAttr)
    inputs = prop_def(Dims)
    outputs = prop_def(Dims)
    types = prop_def(ArrayAttr[Attribute])
    attrs = opt_prop_def(DictionaryAttr)

    custom_directives = (TypeList,)
    assembly_format = (
        "$op $inputs `->` $outputs `:` custom<TypeList>($types) (`with` $attrs^)? attr-dict"
    )

    traits = traits_def(HasParent(KernelOp))

    def verify_(self) -> None:
        if len(self.outputs) != len(self.types):
            raise VerifyException(
                f"{len(self.outputs)} values are defined, but {len(self.types)} types are given"
            )

    def check(self, values: Sequence[Attribute]) -> None:
        """Raise `OpVerifyException` unless this step can follow values of the types `values`."""
        _check_numbers(self.inputs, len(values), self)
        numbers = integers_of(self.outputs)
        for known, number in enumerate(numbers, len(values)):
            if number != known:
                raise OpVerifyException(
                    f"defines value {number}, but the next one is {known}", self
                )
        if len(numbers) != len(self.types):
            return
        ins = [values[number] for number in integers_of(self.inputs)]
        attrs: Mapping[str, Attribute] = {} if self.attrs is None else self.attrs.data
        try:
            check_call(self.op.data, attrs, ins, self.types.data)
        except VerifyException as error:
            text = str(error)
            if self.op.data not in text:
                text = f"{self.op.data}: {text}"
            raise OpVerifyException(text, self) from error
