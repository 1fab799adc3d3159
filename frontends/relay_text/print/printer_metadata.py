"""
Print the metadata section, which `meta[key][n]` refers to, as TVM's JSON.

    meta[relay.Constant][0]     a tensor                meta[VirtualDevice][1]     a device

Equal entries are shared. The layout of the nodes is that of TVM 0.10's `SaveJSON`.
"""

from __future__ import annotations

import binascii
import json
import struct
from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, Operation

from ....dialects.device import VirtualDeviceAttr
from ....dialects.tensors import Tensor, as_tensor, element_size, is_static
from ....operators.element_types import ELEMENT_TABLE
from ..errors import unprintable
from ..json.saved_arrays import MAGIC
from ..tvm_devices import DEVICE_TYPES
from ..tvm_targets import target_parts
from .printer_literals import Dense
from .printer_types import dtype_text

_NUMBERS = {name: number for number, name in DEVICE_TYPES.items()}
_HEAD = struct.Struct("<QQiiiBBH")


def device_number(name: str) -> int | None:
    """Return TVM's number of a device type; None when it has none."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    digits = name.removeprefix("dev")
    return int(digits) if digits != name and digits.isdecimal() and len(digits) < 9 else None


def encoded(value: Dense, type: Tensor, dtype: str) -> str:
    """Encode a tensor as TVM saves it, in base64."""
    data, shape = value.data.data, type.get_shape()
    size = element_size(type.element_type)
    for dim in shape:
        size *= dim
    if len(data) != size and data:  # some builders of attributes store a splat once
        data = data * (size // len(data))
    if dtype == "bool":
        kind, bits = 1, 1
        data = bytes(1 if byte else 0 for byte in data)
    else:
        kind, bits = ELEMENT_TABLE[dtype].dlpack, ELEMENT_TABLE[dtype].bits
    head = _HEAD.pack(MAGIC, 0, 1, 0, len(shape), kind, bits, 1)
    dims = struct.pack(f"<{len(shape) + 1}q", *shape, len(data))
    return binascii.b2a_base64(head + dims + data, newline=False).decode("ascii")


class MetadataTable:
    """The constants and devices that a program refers to, in order of first reference."""

    def __init__(self) -> None:
        self.constants: dict[Dense, str] = {}
        self.devices: dict[VirtualDeviceAttr, str] = {}
        self._blobs: list[str] = []
        self._types: list[tuple[str, tuple[int, ...]]] = []

    def constant(self, value: Dense, at: Operation) -> str:
        """Return the reference to a tensor; errors are reported at `at`."""
        text = self.constants.get(value)
        if text is None:
            type = as_tensor(value.type)
            if type is None or not is_static(type):
                raise unprintable(f"a constant of type {value.type}", at)
            dtype = dtype_text(type.element_type, at)
            text = self.constants[value] = f"meta[relay.Constant][{len(self.constants)}]"
            self._blobs.append(encoded(value, type, dtype))
            self._types.append((dtype, type.get_shape()))
        return text

    def device(self, device: VirtualDeviceAttr, at: Operation) -> str:
        """Return the reference to a device; errors are reported at `at`."""
        text = self.devices.get(device)
        if text is None:
            kind = device.device_type
            if isinstance(kind, StringAttr) and device_number(kind.data) is None:
                raise unprintable(f"the device type {kind.data}, which TVM does not have", at)
            text = self.devices[device] = f"meta[VirtualDevice][{len(self.devices)}]"
        return text

    def text(self) -> str:
        """Return the section, or "" when there are no references."""
        if not self.constants and not self.devices:
            return ""
        return f"\n#[metadata]\n{_Nodes().document(self.devices, self._types, self._blobs)}\n"


class _Nodes:
    """The nodes of the JSON, each as its text; equal types and numbers share one."""

    def __init__(self) -> None:
        self.texts = [_object({"type_key": '""'})]
        self._shared: dict[tuple[str, tuple[object, ...]], int] = {}

    def document(
        self,
        devices: Sequence[VirtualDeviceAttr] | dict[VirtualDeviceAttr, str],
        types: list[tuple[str, tuple[int, ...]]],
        blobs: list[str],
    ) -> str:
        """Return the whole document: node 1 is the map from keys to arrays of entries."""
        self.texts.append("")
        keys: list[str] = []
        arrays: list[int] = []
        if devices:
            keys.append("VirtualDevice")
            arrays.append(self._array([self._device(d) for d in devices]))
        if blobs:
            keys.append("relay.Constant")
            nowhere = self._device(VirtualDeviceAttr())
            arrays.append(
                self._array([self._constant(i, *t, nowhere) for i, t in enumerate(types)])
            )
        listed = ", \n".join(f"        {json.dumps(key)}" for key in keys)
        self.texts[1] = _object(
            {"type_key": '"Map"', "keys": f"[\n{listed}\n      ]", "data": str(arrays)}
        )
        nodes = ", \n".join(f"    {text}" for text in self.texts)
        data = ", \n".join(f'    "{blob}"' for blob in blobs)
        data = f"[\n{data}\n  ]" if blobs else "[]"
        return (
            f'{{\n  "root": 1, \n  "nodes": [\n{nodes}\n  ], \n  "b64ndarrays": {data}, \n'
            f'  "attrs": {{"tvm_version": "0.10.0"}}\n}}'
        )

    def _add(self, text: str) -> int:
        self.texts.append(text)
        return len(self.texts) - 1

    def _array(self, elements: list[int]) -> int:
        fields = {"type_key": '"Array"'}
        if elements:
            fields["data"] = str(elements)
        return self._add(_object(fields))

    def _node(self, key: str, **attrs: object) -> int:
        shown = ", \n".join(
            f'        "{name}": {json.dumps(str(value))}' for name, value in sorted(attrs.items())
        )
        return self._add(_object({"type_key": json.dumps(key), "attrs": f"{{\n{shown}\n      }}"}))

    def _string(self, text: str, key: str = "runtime.String") -> int:
        known = self._shared.get((key, (text,)))
        if known is None:
            fields = {"type_key": json.dumps(key)}
            if text:
                fields["repr_str"] = json.dumps(text)
            known = self._shared[key, (text,)] = self._add(_object(fields))
        return known

    def _device(self, device: VirtualDeviceAttr) -> int:
        known = self._shared.get(("VirtualDevice", (device,)))
        if known is not None:
            return known
        kind, number, scope = device.device_type, device.device_id, device.scope
        type = device_number(kind.data) if isinstance(kind, StringAttr) else None
        type = -1 if type is None else type
        node = self._node(
            "VirtualDevice",
            device_type_int=type,
            virtual_device_id=number.data if isinstance(number, IntAttr) else -1,
            target=self._target(device.target, type),
            memory_scope=self._string(scope.data if isinstance(scope, StringAttr) else ""),
        )
        self._shared["VirtualDevice", (device,)] = node
        return node

    def _target(self, target: Attribute, device_type: int) -> int:
        if not isinstance(target, StringAttr):
            return 0
        parts = target_parts(target.data)
        keys = self._array([self._string(key) for key in parts.keys])
        kind = self._node(
            "TargetKind",
            name=self._string(parts.kind),
            default_device_type=device_type,
            default_keys=keys,
        )
        options = {name: self._option(value) for name, value in sorted(parts.options.items())}
        return self._node(
            "Target",
            kind=kind,
            tag=self._string(""),
            keys=keys,
            attrs=self._map(options),
            features=self._map({}),
            host=0,
        )

    def _option(self, value: str | int) -> int:
        if isinstance(value, str):
            return self._string(value)
        return self._node("IntImm", dtype="int32", span=0, value=value)

    def _map(self, entries: dict[str, int]) -> int:
        fields = {"type_key": '"Map"'}
        if entries:
            fields |= {"keys": json.dumps(list(entries)), "data": str(list(entries.values()))}
        return self._add(_object(fields))

    def _constant(self, index: int, dtype: str, shape: tuple[int, ...], nowhere: int) -> int:
        known = self._shared.get((dtype, shape))
        if known is None:
            dims = [self._node("IntImm", dtype="int32", span=0, value=dim) for dim in shape]
            known = self._node("relay.TensorType", dtype=dtype, shape=self._array(dims), span=0)
            self._shared[dtype, shape] = known
        return self._node(
            "relay.Constant",
            _checked_type_=known,
            data=index,
            span=0,
            virtual_device_=nowhere,
        )


def _object(fields: dict[str, str]) -> str:
    shown = ", \n".join(f'      "{name}": {text}' for name, text in fields.items())
    return f"{{\n{shown}\n    }}"
