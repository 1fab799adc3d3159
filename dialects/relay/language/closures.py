"""Closures, calls of function values, and the type check that all calls share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...device import VirtualDeviceAttr, with_device
from ...interfaces import (
    Aliasing,
    DeviceAnnotated,
    Equation,
    Fresh,
    FunctionDeviceConstraint,
    FunctionDeviceRule,
    FunctionParameter,
    FunctionResult,
    InferTypes,
    Lookup,
    Operand,
    PartPinned,
    PartsMatch,
    TypeEquations,
)
from ...xdsl_extras.formats import FunctionTypeOf, parse_location, print_location, variable_of
from ...xdsl_extras.walking import values_from_above
from ..incomplete import IncompleteType, is_incomplete, refine
from .control import verify_yielded, yielded


def verify_call(op: Operation, type: FunctionType, args: Sequence[SSAValue], what: str) -> None:
    """Check that `args` and `op`'s results have the types in `type`, ignoring devices."""
    for verb, noun, values, wanted in (
        ("expects", "argument", args, type.inputs.data),
        ("returns", "result", op.results, type.outputs.data),
    ):
        if len(values) != len(wanted):
            raise VerifyException(f"{what} {verb} {len(wanted)} {noun}s, but got {len(values)}")
        for i, (value, expected) in enumerate(zip(values, wanted, strict=True)):
            if value.type == expected or is_incomplete(value.type) or is_incomplete(expected):
                continue
            if refine(with_device(expected, None), with_device(value.type, None)) is None:
                raise VerifyException(
                    f"{noun} {i} of {what} must be {expected}, but is {value.type}"
                )


class CapturesAlias(Aliasing):
    """A closure aliases the values that it captures."""

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        assert isinstance(op, FnOp)
        return ((op.result, captured) for captured in op.captured)


def captures(root: Operation) -> dict[FnOp, list[SSAValue]]:
    """Return the values from above that each closure in `root` uses, in order of first use."""
    values_by_op = values_from_above(root, lambda op: isinstance(op, FnOp))
    return {op: values for op, values in values_by_op.items() if isinstance(op, FnOp)}


def _fn_type(op: FnOp) -> Sequence[Attribute]:
    params = [p.type for p in op.params]
    return (FunctionType.from_lists(params, [v.type for v in yielded(op.body)]),)


def _fn_equations(op: FnOp, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    for value in yielded(op.body):
        type = FunctionType.from_lists([p.type for p in op.params], [value.type])
        yield Equation(type, op.result.type, "this function")
        if op.recursive is not None:
            yield Equation(op.body.block.args[0].type, op.result.type, "the function itself")


class ClosureDevices(FunctionDeviceRule):
    """The parts of the closure are where the region's arguments and yielded value are."""

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        assert isinstance(op, FnOp)
        for i, param in enumerate(op.params):
            reason = f"parameter {i} of the closure is the region's argument"
            yield PartsMatch(param, FunctionParameter(op.result, i), reason)
        if op.recursive is not None:
            reason = "the closure itself is the region's argument"
            yield PartsMatch(op.body.block.args[0], op.result, reason)
        for value in yielded(op.body):
            reason = "the closure gives what its region yields"
            yield PartsMatch(value, FunctionResult(op.result, 0), reason)
        for i, device in enumerate(op.param_devices or ()):
            if not device.is_unconstrained:
                reason = f"parameter {i} of the closure is annotated"
                yield PartPinned(FunctionParameter(op.result, i), device, reason)
        if op.result_device is not None:
            yield PartPinned(op.result, op.result_device, "the closure's result is annotated")


class ClosureAnnotations(DeviceAnnotated):
    """`param_devices` and `result_device` say what the closure's type does not say yet."""

    def erase_annotations(self, op: Operation) -> None:
        assert isinstance(op, FnOp)
        op.param_devices = op.result_device = None


@irdl_op_definition
class FnOp(IRDLOperation):
    """
    Create a closure of the region, which captures the values from above that the region uses.

    ```mlir
    %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> {
      relay.yield %a : tensor<4xf32>
    }
    %g = relay.fn rec(%self) (%a: tensor<4xf32>) -> tensor<4xf32> {
      %r = relay.call %self(%a) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %r : tensor<4xf32>
    }
    ```

    With `rec` the region's first argument is the closure itself. `param_devices` and
    `result_device` are annotations for `plan-devices`. A closure with `type_params` is used through
    `relay.instantiate`, until `lambda-lift` makes it a generic function.
    """

    name = "relay.fn"

    recursive = opt_prop_def(UnitAttr)
    attrs = opt_prop_def(DictionaryAttr)
    type_params = opt_prop_def(ArrayAttr[StringAttr])
    param_devices = opt_prop_def(ArrayAttr[VirtualDeviceAttr])
    result_device = opt_prop_def(VirtualDeviceAttr)
    result = result_def(FunctionType)
    body = region_def("single_block")

    traits = traits_def(
        Pure(),
        ClosureDevices(),
        ClosureAnnotations(),
        CapturesAlias(),
        InferTypes(_fn_type),
        TypeEquations(_fn_equations),
    )

    def __init__(
        self,
        param_types: Sequence[Attribute],
        result_type: Attribute,
        body: Region,
        recursive: bool = False,
        attrs: DictionaryAttr | None = None,
        param_devices: Sequence[VirtualDeviceAttr] | None = None,
        result_device: VirtualDeviceAttr | None = None,
    ):
        super().__init__(
            properties={
                "recursive": UnitAttr() if recursive else None,
                "attrs": attrs,
                "param_devices": None if param_devices is None else ArrayAttr(param_devices),
                "result_device": result_device,
            },
            result_types=[FunctionType.from_lists(param_types, [result_type])],
            regions=[body],
        )

    @property
    def params(self) -> Sequence[SSAValue]:
        """The region's arguments that correspond to a call's arguments."""
        args = self.body.block.args
        return args[1:] if self.recursive is not None else args

    @property
    def own_type_params(self) -> tuple[str, ...]:
        """The names of its type parameters."""
        return tuple(name.data for name in self.type_params or ())

    @property
    def captured(self) -> list[SSAValue]:
        """The values from above that the region uses, in order of their first use."""
        return captures(self)[self]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse a closure; by hand, as the arguments of the region are in its head."""
        self_name = self_location = None
        if parser.parse_optional_keyword("rec") is not None:
            parser.parse_punctuation("(")
            self_name = parser.parse_argument(expect_type=False)
            self_location = parser.parse_optional_location()
            parser.parse_punctuation(")")
        params = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_location(parser, parser.parse_argument())
        )
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        types = [p.type for p in params]
        attributes = parser.parse_optional_attr_dict_with_keyword()
        arguments = list(params)
        if self_name is not None:
            itself = self_name.resolve(FunctionType.from_lists(types, [result_type]))
            itself.location = self_location
            arguments.insert(0, itself)
        body = parser.parse_region(arguments)
        op = cls(types, result_type, body, self_name is not None)
        if attributes is not None:
            for name, value in attributes.data.items():
                is_property = name in ("attrs", "type_params", "param_devices", "result_device")
                (op.properties if is_property else op.attributes)[name] = value
        return op

    def print(self, printer: Printer) -> None:
        args = self.body.block.args
        printer.print_string(" ")
        if self.recursive is not None:
            printer.print_string("rec(")
            printer.print_ssa_value(args[0])
            print_location(printer, args[0])
            printer.print_string(") ")
        with printer.in_parens():
            printer.print_list(self.params, lambda p: printer.print_block_argument(cast(Any, p)))
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type.outputs.data[0])
        shown = {k: v for k, v in self.properties.items() if k != "recursive"}
        printer.print_op_attributes(shown | dict(self.attributes), print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        type = self.result.type
        if len(type.outputs) != 1:
            raise VerifyException(f"a closure returns one value, but is declared as {type}")
        given = tuple(p.type for p in self.params)
        if given != type.inputs.data:
            raise VerifyException(
                f"the region takes {FunctionType.from_lists(given, type.outputs.data)}, "
                f"but the closure is declared as {type}"
            )
        if self.recursive is not None and self.body.block.args[0].type != type:
            raise VerifyException(
                f"the 'rec' argument must have the closure's type, {type}, "
                f"but has {self.body.block.args[0].type}"
            )
        if self.param_devices is not None and len(self.param_devices) != len(given):
            raise VerifyException(
                f"param_devices needs one device for each of {len(given)} parameters, "
                f"but has {len(self.param_devices)}"
            )
        verify_yielded(self, self.body, type.outputs.data, "the region")


def _called_type(op: CallOp) -> Sequence[Attribute]:
    type = op.callee.type
    if not isinstance(type, FunctionType):
        raise VerifyException(f"the callee must be a function, but is {type}")
    return [with_device(t, None) for t in type.outputs]


def _call_equations(op: CallOp, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    type = FunctionType.from_lists([a.type for a in op.args], [op.result.type])
    yield Equation(op.callee.type, type, "the callee")


class CalledValueDevices(FunctionDeviceRule):
    """Arguments and result are where the callee's parameters and its result are."""

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        assert isinstance(op, CallOp)
        for i in range(len(op.args)):
            reason = f"argument {i} is where the callee's parameter {i} is"
            yield PartsMatch(Operand(i + 1), FunctionParameter(op.callee, i), reason)
        reason = "the call's result is where the callee's is"
        yield PartsMatch(op.result, FunctionResult(op.callee, 0), reason)


@irdl_custom_directive
class CalleeType(CustomDirective):
    """`, callee T` for a callee of another type than that of its arguments and the result."""

    callee: TypeDirective
    args: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        callees = state.operands[variable_of(self.callee).index]
        assert callees is not None, "the callee is before its type"
        callee, inputs = callees[0], state.operand_types[variable_of(self.args).index] or ()
        outputs = state.result_types[variable_of(self.result).index] or ()
        type: Attribute = FunctionType.from_lists(inputs, outputs)
        values = parser.ssa_values.get(callee.operand_name, ())
        if callee.index < len(values) and is_incomplete(values[callee.index].type):
            type = values[callee.index].type
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("callee")
            type = parser.parse_type()
        self.callee.set(state, [type])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        (callee,) = self.callee.get(op)
        if callee != FunctionType.from_lists(self.args.get(op), self.result.get(op)):
            printer.print_string(", callee ")
            printer.print_attribute(callee)


@irdl_op_definition
class CallOp(IRDLOperation):
    """
    Call the closure or function value `callee` on `args`.

    ```mlir
    %r = relay.call %f(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = relay.call %g(%x) : (tensor<4xi1>) -> tensor<?xi1>, callee (tensor<?xi1>) -> tensor<?xi1>
    ```

    The callee's type is printed if it differs from that of the arguments and the result, which may
    know more dims.
    """

    name = "relay.call"

    callee = operand_def(FunctionType | IncompleteType)
    args = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(
        CalledValueDevices(), InferTypes(_called_type), TypeEquations(_call_equations)
    )
    custom_directives = (FunctionTypeOf, CalleeType)
    assembly_format = (
        "$callee `(` $args `)` attr-dict `:` custom<FunctionTypeOf>(type($args), "
        "type($result)) custom<CalleeType>(type($callee), ref(type($args)), "
        "ref(type($result)))"
    )

    def __init__(self, callee: SSAValue, args: Sequence[SSAValue], type: Attribute | None = None):
        if type is None:
            assert isinstance(callee.type, FunctionType), f"not a function: {callee.type}"
            (type,) = callee.type.outputs.data
        super().__init__(operands=[callee, args], result_types=[type])

    def verify_(self) -> None:
        type = self.callee.type
        if isinstance(type, FunctionType):
            verify_call(self, type, self.args, "the callee")
