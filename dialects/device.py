"""
Virtual devices, and how a type carries one.

A tensor's device is its encoding, `tensor<5x7xf32, #relay.device<cuda:0>>`; any other type of
this project that has a device is a `DeviceCarrier`. Only `device_of` reads and only `with_device`
writes devices in types.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeAlias, cast

from xdsl.dialects.builtin import IntAttr, NoneAttr, StringAttr, TensorType
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .tensors import Tensor, as_tensor, signless
from .type_algebra import folded, parts, rebuild
from .xdsl_extras.identity import by_identity, new_cache

DEVICE = "relay.device"
"""
The name of the device attribute, and of the entry of a function's `arg_attrs` and `res_attrs` that
annotates a parameter or a result with one.
"""

_NAMED_FIELDS = {"target": 2, "scope": 3}
_NAME = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


def _text(value: str | Attribute | None) -> StringAttr | NoneAttr:
    if value is None:
        return NoneAttr()
    if isinstance(value, str):
        return StringAttr(value)
    assert isinstance(value, StringAttr | NoneAttr)
    return value


def _index(value: int | Attribute | None) -> IntAttr | NoneAttr:
    if value is None:
        return NoneAttr()
    if isinstance(value, int):
        return IntAttr(value)
    assert isinstance(value, IntAttr | NoneAttr)
    return cast(IntAttr | NoneAttr, value)


@irdl_attr_definition
class VirtualDeviceAttr(ParametrizedAttribute):
    """
    A place for data and computations: device type, id, target and memory scope, each optional.

    ```mlir
    #relay.device<cuda:0>
    #relay.device<cpu>
    #relay.device<?:1, target = "llvm", scope = "global">
    #relay.device<?>
    ```

    The fields, and how two devices are joined, are those of TVM's `VirtualDevice`.
    """

    name = DEVICE

    device_type: StringAttr | NoneAttr = param_def(converter=_text)
    device_id: IntAttr | NoneAttr = param_def(converter=_index)
    target: StringAttr | NoneAttr = param_def(converter=_text)
    scope: StringAttr | NoneAttr = param_def(converter=_text)

    def __init__(
        self,
        device_type: str | Attribute | None = None,
        device_id: int | Attribute | None = None,
        target: str | Attribute | None = None,
        scope: str | Attribute | None = None,
    ):
        super().__init__(_text(device_type), _index(device_id), _text(target), _text(scope))

    def verify(self) -> None:
        kind = self.device_type
        if isinstance(kind, StringAttr) and not _NAME.fullmatch(kind.data):
            raise VerifyException(f'a device type must be an identifier, but is "{kind.data}"')
        if isinstance(self.device_id, IntAttr) and self.device_id.data < 0:
            raise VerifyException(f"a device id must be at least 0, but is {self.device_id.data}")

    @classmethod
    def parse_spec(cls, text: str) -> VirtualDeviceAttr | None:
        """Return the device that `cpu`, `cuda:1` or `?` names; None if `text` has another form."""
        kind, colon, number = text.partition(":")
        if colon and not (number.isascii() and number.isdigit()):
            return None
        if kind != "?" and not _NAME.fullmatch(kind):
            return None
        return cls(None if kind == "?" else kind, int(number) if colon else None)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            fields: list[Attribute] = [NoneAttr(), NoneAttr(), NoneAttr(), NoneAttr()]
            if parser.parse_optional_punctuation("?") is None:
                fields[0] = StringAttr(parser.parse_identifier(" for a device type, or ?"))
            if parser.parse_optional_punctuation(":") is not None:
                start = parser.pos
                number = parser.parse_integer(allow_boolean=False)
                if number < 0:
                    message = f"a device id must be at least 0, but is {number}"
                    parser.raise_error(message, start, parser.pos)
                fields[1] = IntAttr(number)
            while parser.parse_optional_punctuation(",") is not None:
                start = parser.pos
                key = parser.parse_identifier(": target or scope")
                if key not in _NAMED_FIELDS:
                    message = f"unknown device field '{key}'; expected 'target' or 'scope'"
                    parser.raise_error(message, start, parser.pos)
                index = _NAMED_FIELDS[key]
                if not isinstance(fields[index], NoneAttr):
                    parser.raise_error(f"duplicate device field '{key}'", start, parser.pos)
                parser.parse_punctuation("=")
                start = parser.pos
                fields[index] = parser.parse_attribute()
                if not isinstance(fields[index], StringAttr):
                    message = f"{key} must be a string, but is {fields[index]}"
                    parser.raise_error(message, start, parser.pos)
            return fields

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.spec)
            for key, value in (("target", self.target), ("scope", self.scope)):
                if isinstance(value, StringAttr):
                    printer.print_string(f", {key} = ")
                    printer.print_attribute(value)

    @property
    def spec(self) -> str:
        """Type and id: `cuda:0`, `cpu`, `?`."""
        kind = "?" if isinstance(self.device_type, NoneAttr) else self.device_type.data
        if isinstance(self.device_id, NoneAttr):
            return kind
        return f"{kind}:{self.device_id.data}"

    @property
    def long_name(self) -> str:
        """All fields: `cuda:0 (target "cuda", scope "texture")`."""
        named = (("target", self.target), ("scope", self.scope))
        fields = ", ".join(f'{key} "{v.data}"' for key, v in named if isinstance(v, StringAttr))
        return f"{self.spec} ({fields})" if fields else self.spec

    @property
    def is_unconstrained(self) -> bool:
        return all(isinstance(field, NoneAttr) for field in self.parameters)

    def join(self, other: VirtualDeviceAttr) -> VirtualDeviceAttr | None:
        """Combine two devices field by field; None if a field is set to different values."""
        fields: list[Attribute] = []
        for mine, theirs in zip(self.parameters, other.parameters, strict=True):
            if isinstance(mine, NoneAttr):
                fields.append(theirs)
            elif isinstance(theirs, NoneAttr) or mine == theirs:
                fields.append(mine)
            else:
                return None
        return VirtualDeviceAttr(*fields)

    def completed_by(self, default: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """
        Return this device with its unset fields taken from `default`.

        A target and an id belong to a device type: they are taken only if the types agree.
        """
        fields = list(self.parameters)
        kind, other = self.device_type, default.device_type
        same_kind = isinstance(kind, NoneAttr) or kind == other
        for i, theirs in enumerate(default.parameters):
            if isinstance(fields[i], NoneAttr) and (same_kind or i == 3):
                fields[i] = theirs
        if not same_kind and isinstance(fields[1], NoneAttr):
            fields[1] = IntAttr(0)
        return VirtualDeviceAttr(*fields)


def disambiguated(one: VirtualDeviceAttr, other: VirtualDeviceAttr) -> tuple[str, str]:
    """Name two devices, as briefly as distinguishes them."""
    kinds = one.device_type, other.device_type
    if kinds[0] != kinds[1] and all(isinstance(kind, StringAttr) for kind in kinds):
        return one.spec, other.spec
    return one.long_name, other.long_name


def parse_device(parser: AttrParser) -> VirtualDeviceAttr:
    """Parse a `#relay.device` attribute, or an alias of one."""
    start = parser.pos
    device = parser.parse_attribute()
    if not isinstance(device, VirtualDeviceAttr):
        parser.raise_error(f"expected a #relay.device, but got {device}", start, parser.pos)
    return device


_NO_DEVICE = NoneAttr()

UNCONSTRAINED = VirtualDeviceAttr()
CPU = VirtualDeviceAttr("cpu", 0)
"""The default of the options for the default device and the host."""


class DeviceCarrier(ABC):
    """A type that has its device, or none, as a parameter of its own: by default, the last one."""

    @property
    def carried_device(self) -> VirtualDeviceAttr | None:
        assert isinstance(self, ParametrizedAttribute), "a type with parameters"
        device = self.parameters[-1]
        return device if isinstance(device, VirtualDeviceAttr) else None

    def with_device(self, device: VirtualDeviceAttr | None) -> Self:
        assert isinstance(self, ParametrizedAttribute), "a type with parameters"
        return self.new([*self.parameters[:-1], NoneAttr() if device is None else device])


def device_of(type: Attribute) -> VirtualDeviceAttr | None:
    """Return the device that `type` carries: of a tuple or function, the first one in its parts."""
    if tensor := as_tensor(type):
        encoding = tensor.encoding
        return encoding if isinstance(encoding, VirtualDeviceAttr) else None
    if isinstance(type, DeviceCarrier):
        return type.carried_device
    return _first_and_all(type)[0] if parts(type) else None


def is_placed(type: Attribute) -> bool:
    """Test whether each leaf of `type` that can carry a device carries one."""
    return _first_and_all(type)[1]


_Devices: TypeAlias = tuple[VirtualDeviceAttr | None, bool]

_DEVICES: dict[int, tuple[Attribute, _Devices]] = new_cache()


def _first_and_all(type: Attribute) -> _Devices:
    """Return the first device in `type`, and whether all leaves have one."""
    return folded(type, _DEVICES, _placed_parts, _devices)


def _placed_parts(type: Attribute) -> Sequence[Attribute]:
    return () if as_tensor(type) or isinstance(type, DeviceCarrier) else parts(type)


def _devices(type: Attribute, inner: Sequence[_Devices]) -> _Devices:
    if as_tensor(type) or isinstance(type, DeviceCarrier):
        device = device_of(type)
        return device, device is not None
    return next((d for d, _ in inner if d is not None), None), all(placed for _, placed in inner)


def with_device(type: Attribute, device: VirtualDeviceAttr | None) -> Attribute:
    """
    Return `type`, and all its parts, on `device`; None removes the device.

    A type that cannot carry a device (an integer, `!relay.incomplete`) is returned unchanged.
    """
    if tensor := as_tensor(type):
        if tensor.encoding == (_NO_DEVICE if device is None else device):
            return type
        return tensor_type(tensor.element_type, tensor.shape.data, device)
    if isinstance(type, DeviceCarrier):
        return type.with_device(device)
    inner = parts(type)
    if not inner:
        return type
    key = id(type), id(device)
    if key not in _PLACED:
        placed = rebuild(type, [with_device(part, device) for part in inner])
        _PLACED[key] = placed, type, device
    return _PLACED[key][0]


_PLACED = new_cache()
"""The types of several parts on a device, by identity: those that share parts still do."""


def equal_but_for_devices(a: Attribute, b: Attribute) -> bool:
    """Test whether `with_device` makes the two types equal, without making types of tensors."""
    one, other = as_tensor(a), as_tensor(b)
    if one is None or other is None:
        return with_device(a, None) == with_device(b, None)
    if one is other:
        return True
    elements = one.element_type, other.element_type
    return one.shape.data == other.shape.data and (
        elements[0] is elements[1] or elements[0] == elements[1]
    )


def equals_without_devices(a: Attribute, b: Attribute) -> bool:
    """Test whether `a` is `with_device(b, None)`, without making types of tensors."""
    one, other = as_tensor(a), as_tensor(b)
    if one is None or other is None:
        return a == with_device(b, None)
    return isinstance(one.encoding, NoneAttr) and equal_but_for_devices(one, other)


def tensor_type(
    element_type: Attribute,
    shape: tuple[IntAttr, ...] | list[int],
    device: VirtualDeviceAttr | None = None,
) -> Tensor:
    """Return a ranked tensor type on `device`: the one place that writes an encoding."""
    return TensorType(element_type, shape, _NO_DEVICE if device is None else device)


def upstream_type(type: Attribute) -> Attribute:
    """
    Return `type` as the upstream dialects compute on it: without devices, integers signless.

    An unsigned element keeps its bits; which operations read it as unsigned is up to the ops.
    """
    if tensor := as_tensor(type):
        element = signless(tensor.element_type)
        if element is tensor.element_type and isinstance(tensor.encoding, NoneAttr):
            return type
        return tensor_type(element, tensor.shape.data)
    inner = parts(type)
    return rebuild(type, [upstream_type(part) for part in inner]) if inner else type


def plain_types() -> Callable[[Attribute], Attribute]:
    """Return a function from types to those without devices, of which equal ones are one object."""
    plain: dict[Attribute, Attribute] = {}

    def plain_type(type: Attribute) -> Attribute:
        without = with_device(type, None)
        return plain.setdefault(without, without)

    return by_identity(plain_type, {})


def devices_in(type: Attribute) -> Iterator[VirtualDeviceAttr | None]:
    """Yield the device, or None, of each leaf of `type` that can carry one, in order."""
    pending = [type]
    while pending:
        part = pending.pop()
        if as_tensor(part) or isinstance(part, DeviceCarrier):
            yield device_of(part)
        else:
            pending += reversed(parts(part))
