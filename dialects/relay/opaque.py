"""Calls of operators that the dialect does not define: known by name only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Self, cast

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, FunctionType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...operators.records import record
from ..device import with_device
from ..interfaces import CallsKernel, Fusible, FusionKind, InferTypes, SameDevice
from ..xdsl_extras.formats import parse_function_type
from .incomplete import AnyTensor
from .properties import INTS, Ints, ints

_WORD = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)


def is_operator_name(name: str) -> bool:
    """Test whether an operator or attribute can have this name, a dotted identifier."""
    return _WORD.fullmatch(name) is not None


@record
class Span:
    """The operands from `start` up to `stop`, which are the fields of one tuple."""

    start: int
    stop: int


def _declared(op: Operation) -> Sequence[Attribute]:
    """The declared result types: nothing else is known."""
    return [with_device(result.type, None) for result in op.results]


def _kernel(op: CallOpaqueOp) -> str:
    return op.operator.data


def _attributes(op: CallOpaqueOp) -> Mapping[str, Attribute]:
    return op.given


@irdl_op_definition
class CallOpaqueOp(IRDLOperation):
    """
    Call `operator`, which the dialect does not define, on tensors and tuples of tensors.

    ```mlir
    %y = relay.call_opaque "nn.fancy"(%x) {depth = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %a, %b = relay.call_opaque "two"((%x)) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i8>)
    ```

    Operands in parentheses are one tuple in Relay; several results are also one tuple there. The
    result types are taken as declared. It may have effects, and is never removed. Its operands and
    results are on one device. It is computed by the kernel named `operator`, if a package provides
    one.
    """

    name = "relay.call_opaque"

    operator = prop_def(StringAttr)
    attrs = opt_prop_def(DictionaryAttr)
    tuples = opt_prop_def(INTS)
    """The spans of operands that form tuples: start, stop, start, stop, …"""
    args = var_operand_def(AnyTensor)
    outputs = var_result_def(AnyTensor)

    traits = traits_def(
        SameDevice(),
        Fusible(FusionKind.OPAQUE),
        InferTypes(_declared),
        CallsKernel(_kernel, _attributes),
    )

    def __init__(
        self,
        operator: str,
        args: Sequence[SSAValue | Sequence[SSAValue]],
        result_types: Sequence[Attribute],
        attrs: Mapping[str, Attribute] | None = None,
    ):
        """Build a call; each of `args` is a tensor, or the fields of a tuple."""
        operands: list[SSAValue] = []
        bounds: list[int] = []
        for arg in args:
            start = len(operands)
            operands += [arg] if isinstance(arg, SSAValue) else arg
            if not isinstance(arg, SSAValue):
                bounds += (start, len(operands))
        super().__init__(
            operands=[operands],
            properties={
                "operator": StringAttr(operator),
                "attrs": DictionaryAttr(attrs) if attrs else None,
                "tuples": ints(bounds) if bounds else None,
            },
            result_types=[result_types],
        )

    @property
    def given(self) -> Mapping[str, Attribute]:
        """The operator's attributes."""
        return {} if self.attrs is None else self.attrs.data

    @property
    def spans(self) -> list[Span]:
        """The tuples among the operands, in order."""
        if self.tuples is None:
            return []
        bounds = cast("Sequence[int]", self.tuples.get_values())
        return [Span(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=True)]

    @property
    def arguments(self) -> Iterator[SSAValue | Sequence[SSAValue]]:
        """The arguments of Relay's call: tensors, and the fields of tuples."""
        at = 0
        for span in self.spans:
            yield from self.args[at : span.start]
            yield tuple(self.args[span.start : span.stop])
            at = span.stop
        yield from self.args[at:]

    # -------------------------------------------------------------------- text

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse a call; by hand, as parentheses group operands, whose types follow."""
        operator = parser.parse_str_literal("the name of an operator")
        groups = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_argument(parser)
        )
        attrs = parser.parse_optional_attr_dict()
        extra = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        at = parser.pos
        type = parse_function_type(parser)
        flat = list(chain.from_iterable(g if isinstance(g, list) else (g,) for g in groups))
        values = iter(parser.resolve_operands(flat, type.inputs.data, at))
        args = [
            [next(values) for _ in group] if isinstance(group, list) else next(values)
            for group in groups
        ]
        op = cls(operator, args, type.outputs.data, attrs)
        op.attributes = {} if extra is None else dict(extra.data)
        return op

    def print(self, printer: Printer) -> None:
        def argument(arg: SSAValue | Sequence[SSAValue]) -> None:
            if isinstance(arg, SSAValue):
                printer.print_operand(arg)
                return
            with printer.in_parens():
                printer.print_list(arg, printer.print_operand)

        printer.print_string(" ")
        printer.print_string_literal(self.operator.data)
        with printer.in_parens():
            printer.print_list(self.arguments, argument)
        printer.print_op_attributes(dict(self.given))
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(self.args.types, self.outputs.types))

    # ------------------------------------------------------------ verification

    def verify_(self) -> None:
        name = self.operator.data
        if not is_operator_name(name):
            raise VerifyException(f'operator must be a dotted identifier, but is "{name}"')
        for key in self.given:
            if not is_operator_name(key):
                raise VerifyException(
                    f'attribute names of {name} must be dotted identifiers, but one is "{key}"'
                )
        if not self.results:
            raise VerifyException(f"{name} must have a result, like every operator of Relay")
        if self.tuples is not None:
            _check_bounds(self.tuples, len(self.args))


def _parse_argument(parser: Parser) -> UnresolvedOperand | list[UnresolvedOperand]:
    one = parser.parse_optional_unresolved_operand()
    if one is not None:
        return one
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )


def _check_bounds(tuples: Ints, count: int) -> None:
    bounds = cast("Sequence[int]", cast("DenseArrayBase[Any]", tuples).get_values())
    if len(bounds) % 2 or any(a > b for a, b in zip((0, *bounds), (*bounds, count), strict=True)):
        raise VerifyException(
            f"tuples must be pairs of start and stop, in order, up to {count} operands, "
            f"but is {list(bounds)}"
        )
