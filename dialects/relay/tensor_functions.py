"""Functions of tensors to tensors that the symbols of kernels and shape functions define."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, Self

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolNameConstraint
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.irdl import IRDLOperation, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..device import equals_without_devices
from ..interfaces import AnyDevice
from ..tensors import as_tensor
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
