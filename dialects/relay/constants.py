"""Constants: small ones are in the IR, large ones are named and stored in a side file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from ..dense import Dense
from ..device import VirtualDeviceAttr, device_of, equals_without_devices, parse_device, with_device
from ..interfaces import Rematerializable
from ..tensors import as_tensor, is_static, tensor_size
from .incomplete import AnyTensor

INLINE_LIMIT = 1024
"""The largest constant, in bytes, that is stored in the IR; larger ones are a `relay.param`."""


@irdl_op_definition
class ConstantOp(IRDLOperation, HasFolderInterface):
    """
    Produce the tensor `value`.

    ```mlir
    %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %d = relay.constant dense<[1.0, 2.0]> : tensor<2xf32> on #relay.device<cuda:0>
    ```

    The type of `value` has no device; the result has that type on the given device, if any. Values
    of more than 1 KiB belong in a side file (`relay.param`), but are accepted.
    """

    name = "relay.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(AnyTensor)

    traits = traits_def(Pure(), ConstantLike(), Rematerializable())

    def __init__(self, value: Dense, device: VirtualDeviceAttr | None = None):
        type = with_device(value.type, device)
        Operation.__init__(self, properties={"value": value}, result_types=[type])  # no segments

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse a constant; by hand, as its type is that of `value` on a device."""
        start = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error(f"expected a dense constant, but got {value}", start, parser.pos)
        device = None
        if parser.parse_optional_keyword("on") is not None:
            device = parse_device(parser)
        op = cls(cast(Dense, value), device)
        op.attributes = parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.value)
        device = device_of(self.result.type)
        if device is not None:
            printer.print_string(" on ")
            printer.print_attribute(device)
        printer.print_op_attributes(self.attributes)

    def fold(self) -> Sequence[SSAValue | Attribute]:
        return (self.value,)

    def verify_(self) -> None:
        declared, given = self.result.type, self.value.type
        if not equals_without_devices(given, declared):
            raise VerifyException(f"the constant is {given}, but is declared as {declared}")


class MaterializeConstant(ConstantMaterializationInterface):
    """Materializes the result of an operator's folder as a `relay.constant`."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        if not isinstance(value, DenseIntOrFPElementsAttr):
            return None
        return ConstantOp(cast(Dense, value), device_of(type))


@irdl_op_definition
class ParamOp(IRDLOperation):
    """
    Produce the tensor that is stored as `param` in the module's side file.

    ```mlir
    %w = relay.param "conv1_w" : tensor<64x3x7x7xf32>
    ```

    The file is the module's `relay.params` attribute (`.safetensors`, relative to the IR
    file). No pass reads or copies the data.
    """

    name = "relay.param"

    param = prop_def(StringAttr)
    result = result_def(AnyTensor)

    traits = traits_def(Pure(), Rematerializable())
    assembly_format = "$param attr-dict `:` type($result)"

    def __init__(self, param: str | StringAttr, type: Attribute):
        name = StringAttr(param) if isinstance(param, str) else param
        Operation.__init__(self, properties={"param": name}, result_types=[type])  # no segments

    def verify_(self) -> None:
        type = as_tensor(self.result.type)
        if type is None or not is_static(type):
            raise VerifyException(
                f'param "{self.param.data}" must have a static shape, but is {self.result.type}'
            )


PARAMS_FILE = "relay.params"
"""The name of the module attribute that holds the path of its side file."""


def fits_inline(type: Attribute) -> bool:
    """Test whether a constant of this type is small enough to be stored in the IR."""
    tensor = as_tensor(type)
    return tensor is not None and is_static(tensor) and tensor_size(tensor) <= INLINE_LIMIT
