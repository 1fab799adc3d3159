"""Device hints, which constrain device planning, and the copies that planning makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import BoolAttr, FunctionType, TupleType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .. import memory
from ..device import VirtualDeviceAttr, device_of, devices_in, with_device
from ..interfaces import (
    AllocatesResults,
    Bufferizable,
    DeviceConstraint,
    DeviceRule,
    Equation,
    Fresh,
    InferTypes,
    Lookup,
    Pinned,
    PreferSameDomain,
    SameDomain,
    ShapesOfOperand,
    TypeEquations,
)
from ..tensors import as_tensor
from ..xdsl_extras.formats import FunctionTypeOf
from ..xdsl_extras.trait_patterns import Patterns
from .incomplete import is_incomplete, refine


def _same_type(op: Operation) -> Sequence[Attribute]:
    return (with_device(op.operands[0].type, None),)


def _same_types(op: Operation, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    yield Equation(op.operands[0].type, op.results[0].type, "the operand")


def is_copyable(type: Attribute) -> bool:
    """Test whether `type` is a tensor or a tuple of types that can be copied."""
    if isinstance(type, TupleType):
        return all(is_copyable(t) for t in type.types)
    return as_tensor(type) is not None


def _verify_same_type(op: Operation) -> None:
    """Verify that operand and result have the same type, devices aside."""
    given, declared = op.operands[0].type, op.results[0].type
    if is_incomplete(given) or is_incomplete(declared):
        return
    if refine(with_device(declared, None), with_device(given, None)) is None:
        raise VerifyException(
            f"the result of {op.name} must have its operand's type, {given}, but is declared as "
            f"{declared}"
        )


class HintedDevices(DeviceRule):
    """
    The operand, the result or both are on the hint's device.

    The two sides may differ, but a function cannot be copied, and those of a free hint should not.
    """

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        assert isinstance(op, OnDeviceOp)
        if isinstance(op.value.type, FunctionType):
            reason = "a hint on a function is about the function itself"
            yield SameDomain((op.value, op.result), reason)
        if op.constrain_body:
            yield Pinned(op.value, op.device, "the hint says where its operand is")
        if op.constrain_result:
            yield Pinned(op.result, op.device, "the hint says where its result is")
        if not (op.constrain_body or op.constrain_result):
            reason = "a free hint joins its operand and its result"
            yield PreferSameDomain((op.value, op.result), reason)


@irdl_op_definition
class OnDeviceOp(IRDLOperation):
    """
    Constrain `value` to be on `device`.

    ```mlir
    %y = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
    %z = relay.on_device %x, #relay.device<cpu:0> {constrain_result = true}
           : (tensor<4xf32>) -> tensor<4xf32>
    ```

    `constrain_body` (true) constrains the operand, `constrain_result` (false) the result. Where
    the two end up on different devices, `plan-devices` makes a copy. Equal hints are not merged.
    """

    name = "relay.on_device"

    value = operand_def(AnyAttr())
    device = prop_def(VirtualDeviceAttr)
    constrain_body_attr = prop_def(
        BoolAttr, default_value=BoolAttr.from_bool(True), prop_name="constrain_body"
    )
    constrain_result_attr = prop_def(
        BoolAttr, default_value=BoolAttr.from_bool(False), prop_name="constrain_result"
    )
    result = result_def(AnyAttr())

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(
        AllocatesResults(), HintedDevices(), InferTypes(_same_type), TypeEquations(_same_types)
    )
    custom_directives = (FunctionTypeOf,)
    assembly_format = (
        "$value `,` qualified($device) attr-dict"
        " `:` custom<FunctionTypeOf>(type($value), type($result))"
    )

    @property
    def constrain_body(self) -> bool:
        return bool(self.constrain_body_attr)

    @property
    def constrain_result(self) -> bool:
        return bool(self.constrain_result_attr)

    def __init__(
        self,
        value: SSAValue,
        device: VirtualDeviceAttr,
        constrain_body: bool = True,
        constrain_result: bool = False,
    ):
        super().__init__(
            operands=[value],
            properties={
                "device": device,
                "constrain_body": BoolAttr.from_bool(constrain_body),
                "constrain_result": BoolAttr.from_bool(constrain_result),
            },
            result_types=[value.type],
        )

    def verify_(self) -> None:
        if (self.constrain_body or self.constrain_result) and self.device.is_unconstrained:
            raise VerifyException("a constraining hint must name a device")
        _verify_same_type(self)


class CopiedDevices(DeviceRule):
    """Operand and result are each on the device that its type carries."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for value, what in ((op.operands[0], "source"), (op.results[0], "destination")):
            device = device_of(value.type)
            if device is not None:
                yield Pinned(value, device, f"the {what} of relay.device_copy is where it says")


class BufferizeCopy(Bufferizable):
    """The copy writes into a tensor on the destination."""

    def to_destination_style(self, op: Operation, outs: Sequence[SSAValue]) -> Operation:
        return memory.CopyOp.create(operands=[op.operands[0], outs[0]], result_types=[outs[0].type])


@irdl_op_definition
class DeviceCopyOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    Copy `value` to the device of the result type.

    ```mlir
    %g = relay.device_copy %x
           : tensor<4xf32, #relay.device<cpu:0>> to tensor<4xf32, #relay.device<cuda:0>>
    ```

    Both types name a device and differ in nothing else.
    """

    name = "relay.device_copy"

    value = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure(), CopiedDevices(), BufferizeCopy(), ShapesOfOperand())
    assembly_format = "$value attr-dict `:` type($value) `to` type($result)"

    def __init__(self, value: SSAValue, device: VirtualDeviceAttr):
        super().__init__(operands=[value], result_types=[with_device(value.type, device)])

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (RemoveNeedlessCopy(),)

    def verify_(self) -> None:
        for value, what in ((self.value, "operand"), (self.result, "result")):
            if is_incomplete(value.type):
                continue
            if not is_copyable(value.type):
                raise VerifyException(
                    f"relay.device_copy copies tensors and tuples of them, not {value.type}"
                )
            if len(set(devices_in(value.type))) != 1 or device_of(value.type) is None:
                raise VerifyException(
                    f"the {what} of relay.device_copy must name one device, but is {value.type}"
                )
        _verify_same_type(self)


class RemoveNeedlessCopy(RewritePattern):
    """Remove a copy from a device to itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DeviceCopyOp, rewriter: PatternRewriter, /) -> None:
        if op.value.type == op.result.type:
            rewriter.replace(op, [], [op.value])
