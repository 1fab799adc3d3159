"""Primitives: groups of operators that become one kernel, first inline, then outlined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ....operators.rules import SCRATCH
from ... import vm
from ...device import VirtualDeviceAttr
from ...interfaces import (
    AllocatesResults,
    AnyDevice,
    Bufferizable,
    DeviceConstraint,
    DeviceRule,
    FunctionDeviceConstraint,
    FunctionDeviceRule,
    Fusible,
    InferTypes,
    KernelEffects,
    Lookup,
    Operand,
    PartPinned,
    Rematerializable,
    SameDomain,
    has_effects,
    kernel_name,
)
from ...turns import verify_turns
from ...xdsl_extras.formats import parse_location, print_location
from ...xdsl_extras.xdsl_internals import operands_of
from ..incomplete import AnyTensor
from ..properties import INTS
from ..shapes import ShapeFuncOp, TensorFunction, shape_type
from .control import YieldOp, verify_yielded


def verify_view(op: Operation) -> None:
    """Check that a `reshape_only` op has an operand to view and one result."""
    if "reshape_only" in op.properties and (not op.operands or len(op.results) != 1):
        raise VerifyException(
            f"reshape_only requires at least one operand and one result, but {op.name} has "
            f"{len(op.operands)} and {len(op.results)}"
        )


@irdl_op_definition
class PrimitiveOp(IRDLOperation):
    """
    Compute the region's operators as one kernel, on `args`.

    ```mlir
    %r = relay.primitive(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>) {
      %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %0 : tensor<4xf32>
    }
    ```

    The region is isolated from above. `{reshape_only}` says that the result has the elements of
    operand 0 in the same order, so that it can be a view. In a loop, it need not run in other turns
    than those from the first on up to the second of `turns`.
    """

    name = "relay.primitive"

    args = var_operand_def(AnyTensor)
    reshape_only = opt_prop_def(UnitAttr)
    turns = opt_prop_def(INTS)
    outputs = var_result_def(AnyTensor)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect(), AnyDevice())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse a primitive; by hand, as the arguments of the region are bound in its head."""

        def argument() -> tuple[Parser.Argument, SSAValue]:
            name = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type = parser.parse_type()
            named = parse_location(parser, name.resolve(type))
            return named, parser.resolve_operand(operand, type)

        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([a for a, _ in arguments])
        op = cls.create(
            operands=[operand for _, operand in arguments], result_types=types, regions=[body]
        )
        if attributes is not None:
            op.attributes = dict(attributes.data)
            for name in ("reshape_only", "turns"):
                if name in op.attributes:
                    op.properties[name] = op.attributes.pop(name)
        return op

    def print(self, printer: Printer) -> None:
        block = self.body.block

        def argument(pair: tuple[BlockArgument, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_operand(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)
            print_location(printer, pair[0])

        with printer.in_parens():
            printer.print_list(zip(block.args, self.args, strict=True), argument)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.results, lambda r: printer.print_attribute(r.type))
        printer.print_op_attributes(self.attributes | self.properties, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        (body,) = self.regions
        arguments, operands = body.block.args, operands_of(self)
        if len(arguments) != len(operands):
            raise VerifyException(
                f"the region has {len(arguments)} arguments, but there are {len(operands)} operands"
            )
        for i, (argument, operand) in enumerate(zip(arguments, operands, strict=True)):
            if argument.type is not operand.type and argument.type != operand.type:
                raise VerifyException(
                    f"argument {i} of the region is {argument.type}, "
                    f"but operand {i} is {operand.type}"
                )
        verify_view(self)
        verify_turns(self, self.turns)
        verify_yielded(self, body, [r.type for r in self.results], "the region")


@irdl_op_definition
class PrimFuncOp(TensorFunction):
    """
    Define a kernel: a function of tensors to tensors that `relay.call_lowered` names.

    ```mlir
    relay.prim_func @fused_add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %0 : tensor<4xf32>
    }
    ```

    Its types carry no device: a kernel runs on every device of its `target`, if it has one.
    One with an operator that has effects is `impure`, and so are calls of it.
    `scopes` lists the memory scope of each parameter, then of each result; "" is any scope.

    The `shape_func` of a kernel with results of dynamic shape computes their shapes. It gets for
    each parameter what its entry in `shape_inputs` says: 0 nothing, 1 its data, 2 its shape, 3 its
    data, then its shape.
    """

    name = "relay.prim_func"

    target = opt_prop_def(StringAttr)
    scopes = opt_prop_def(ArrayAttr[StringAttr])
    shape_func = opt_prop_def(SymbolRefAttr)
    shape_inputs = opt_prop_def(INTS)
    impure = opt_prop_def(UnitAttr)

    KIND: ClassVar = "kernel"
    PRINTED: ClassVar = ("target", "scopes", "shape_func", "shape_inputs", "impure")

    def __init__(
        self,
        name: str,
        type: FunctionType,
        body: Region,
        target: StringAttr | None = None,
        scopes: Sequence[str] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": type,
                "target": target,
                "scopes": None if scopes is None else ArrayAttr(map(StringAttr, scopes)),
                "impure": UnitAttr() if any(map(has_effects, body.ops)) else None,
            },
            regions=[body],
        )

    @property
    def has_operators(self) -> bool:
        """True unless ops of upstream dialects compute the results."""
        return any(
            op.has_trait(trait, value_if_unregistered=False)
            for op in self.body.ops
            for trait in (Fusible, InferTypes, Rematerializable)
        )

    def verify_(self) -> None:
        super().verify_()
        count = len(self.function_type.inputs) + len(self.function_type.outputs)
        if self.scopes is not None and len(self.scopes) != count:
            raise VerifyException(
                f"scopes needs one for each of {count} parameters and results, "
                f"but has {len(self.scopes)}"
            )
        if self.impure is None:
            for op in self.body.ops:
                if has_effects(op):
                    raise VerifyException(f"the kernel must be impure, as {op.name} has effects")
        self._verify_shape_inputs()

    def _verify_shape_inputs(self) -> None:
        if (self.shape_func is None) != (self.shape_inputs is None):
            raise VerifyException("shape_func and shape_inputs must be given together")
        if self.shape_inputs is None:
            return
        inputs, count = self.shape_inputs.get_values(), len(self.function_type.inputs)
        if len(inputs) != count or any(entry not in range(4) for entry in inputs):
            raise VerifyException(
                f"shape_inputs needs 0, 1, 2 or 3 for each of {count} parameters, "
                f"but is {list(inputs)}"
            )

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        if self.shape_func is None or self.shape_inputs is None:
            return
        name = self.shape_func.string_value()
        function = lookup(name)
        if not isinstance(function, ShapeFuncOp):
            raise VerifyException(f"@{name}, the shape function, is not a relay.shape_func")
        inputs: list[Attribute] = []
        for type, entry in zip(
            self.function_type.inputs, self.shape_inputs.get_values(), strict=True
        ):
            inputs += [type] if entry & 1 else []
            inputs += [shape_type(type)] if entry & 2 else []
        wanted = FunctionType.from_lists(
            inputs, [shape_type(type) for type in self.function_type.outputs]
        )
        if function.function_type != wanted:
            raise VerifyException(
                f"the shape function @{name} must be {wanted}, but is {function.function_type}"
            )


@irdl_op_definition
class ScratchOp(IRDLOperation):
    """
    Allocate memory without contents, in a kernel that yields it: its compiled code may write there.

    ```mlir
    %s = relay.scratch : tensor<1x4x4x28x64xf32>
    ```

    Nothing reads the kernel's result, not even the next call of the kernel.
    """

    name = SCRATCH

    result = result_def(TensorType)

    traits = traits_def(AllocatesResults(), AnyDevice())
    assembly_format = "attr-dict `:` type($result)"

    def verify_(self) -> None:
        if not all(isinstance(use.operation, YieldOp) for use in self.result.uses):
            raise VerifyException("scratch memory has no contents: it can only be yielded")


NAME_LIMIT = 80
"""The maximum length of a kernel's name, before a number makes it unique."""


def kernel_symbol(ops: Iterable[Operation], prefix: str = "fused") -> str:
    """
    The name that TVM gives a kernel of `ops`: `fused_` and its operators, `fused_dense_add`.

    The `prefix` of its shape function is `shape_func`.
    """
    operators = [op for op in ops if op.has_trait(Fusible)]
    names = [kernel_name(op).removeprefix(f"{op.name.partition('.')[0]}.") for op in operators]
    return "_".join([prefix, *names]).replace(".", "_")[:NAME_LIMIT]


class BufferizeCall(Bufferizable):
    """The kernel writes into tensors that its caller allocates."""

    def to_destination_style(self, op: Operation, outs: Sequence[SSAValue]) -> Operation:
        assert isinstance(op, CallLoweredOp)
        call = vm.InvokeTvmOp.on(op.callee, op.operands, outs)
        kept = ("impure", "turns")
        call.properties |= {name: op.properties[name] for name in kept if name in op.properties}
        return call


class ViewIsWhereItsDataIs(DeviceRule):
    """Operands and results are independent, except that a view is on the device of its data."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        assert isinstance(op, CallLoweredOp)
        if op.reshape_only is not None:
            yield SameDomain((op.operands[0], op.results[0]), "a view is where its data is")


class KernelScopes(FunctionDeviceRule):
    """Operands and results are in the memory scopes that the kernel requires, if it does."""

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        assert isinstance(op, CallLoweredOp)
        name = op.callee.string_value()
        kernel = lookup(name)
        if not isinstance(kernel, PrimFuncOp) or kernel.scopes is None:
            return
        inputs = [(Operand(i), f"parameter {i}") for i in range(len(op.args))]
        outputs = [(result, f"result {i}") for i, result in enumerate(op.results)]
        for (part, what), scope in zip((*inputs, *outputs), kernel.scopes, strict=True):
            if scope.data:
                reason = f"{what} of @{name} is in the scope {scope.data}"
                yield PartPinned(part, VirtualDeviceAttr(scope=scope), reason)


@irdl_op_definition
class CallLoweredOp(IRDLOperation):
    """
    Call the kernel `callee` on `args`.

    ```mlir
    %r = relay.call_lowered @fused_add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %v = relay.call_lowered @fused_reshape(%x) {reshape_only} : (tensor<4xf32>) -> tensor<2x2xf32>
    ```

    The types are those of the kernel, ignoring devices. With `reshape_only` the result has the
    elements of operand 0 in the same order. A call of an `impure` kernel is `impure`. In a loop, it
    need not run in other turns than those from the first on up to the second of `turns`.
    """

    name = "relay.call_lowered"

    callee = prop_def(SymbolRefAttr)
    args = var_operand_def(AnyTensor)
    reshape_only = opt_prop_def(UnitAttr)
    impure = opt_prop_def(UnitAttr)
    turns = opt_prop_def(INTS)
    outputs = var_result_def(AnyTensor)

    traits = traits_def(KernelEffects(), ViewIsWhereItsDataIs(), KernelScopes(), BufferizeCall())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $outputs)"

    @classmethod
    def on(
        cls,
        callee: SymbolRefAttr,
        args: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        reshape_only: UnitAttr | None = None,
        impure: UnitAttr | None = None,
    ) -> Self:
        """Build the call without checks: passes build one for every operator."""
        properties: dict[str, Attribute] = {"callee": callee}
        if reshape_only is not None:
            properties["reshape_only"] = reshape_only
        if impure is not None:
            properties["impure"] = impure
        return cls.create(operands=args, result_types=result_types, properties=properties)

    def verify_(self) -> None:
        verify_view(self)
        verify_turns(self, self.turns)

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        vm.verify_kernel_call(self, self.callee, operands_of(self), self.results, lookup)
