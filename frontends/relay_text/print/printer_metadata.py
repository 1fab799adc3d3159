"""
Print the metadata section, which `meta[key][n]` refers to, as TVM's JSON.

    meta[relay.Constant][0]     a tensor                meta[VirtualDevice][1]     a device

Equal entries are shared. The layout of the nodes is that of TVM 0.10's `SaveJSON`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Operation

from ....dialects.dense import Dense
from ....dialects.device import VirtualDeviceAttr
from ....dialects.tensors import as_tensor, is_static
from ..errors import unprintable
from ..json.saved_arrays import encode
from ..tvm_devices import DEVICE_TYPES, target_parts
from ..type_texts import dtype_text

_CPU = 1
"""The type of the device of a host."""
_NUMBERS = {name: number for number, name in DEVICE_TYPES.items()}
_NUMBER_LIST = re.compile(r"\[\n[0-9, \n]+\]")


def device_number(name: str) -> int | None:
    """Return TVM's number of a device type; None when it has none."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    digits = name.removeprefix("dev")
    return int(digits) if digits != name and digits.isdecimal() and len(digits) < 9 else None


def _on_one_line(numbers: re.Match[str]) -> str:
    return f"[{', '.join(re.findall('[0-9]+', numbers[0]))}]"


class MetadataTable:
    """The constants and devices that a program refers to, in order of first reference."""

    def __init__(self) -> None:
        self._constants: dict[Dense, str] = {}
        self._devices: dict[VirtualDeviceAttr, str] = {}
        self._types: list[tuple[str, tuple[int, ...]]] = []

    def constant(self, value: Dense, at: Operation) -> str:
        """Return the reference to a tensor; errors are reported at `at`."""
        text = self._constants.get(value)
        if text is None:
            type = as_tensor(value.type)
            if type is None or not is_static(type):
                raise unprintable(f"a constant of type {value.type}", at)
            self._types.append((dtype_text(type.element_type, at), type.get_shape()))
            text = self._constants[value] = f"meta[relay.Constant][{len(self._constants)}]"
        return text

    def device(self, device: VirtualDeviceAttr, at: Operation) -> str:
        """Return the reference to a device; errors are reported at `at`."""
        text = self._devices.get(device)
        if text is None:
            kind = device.device_type
            if isinstance(kind, StringAttr) and device_number(kind.data) is None:
                raise unprintable(f"the device type {kind.data}, which TVM does not have", at)
            text = self._devices[device] = f"meta[VirtualDevice][{len(self._devices)}]"
        return text

    def text(self) -> str:
        """Return the section, or "" when there are no references."""
        if not self._constants and not self._devices:
            return ""
        nodes = _Nodes()
        entries: dict[str, int] = {}
        if self._devices:
            entries["VirtualDevice"] = nodes.array(map(nodes.device, self._devices))
        if self._types:
            nowhere = nodes.device(VirtualDeviceAttr())
            constants = (nodes.constant(i, *t, nowhere) for i, t in enumerate(self._types))
            entries["relay.Constant"] = nodes.array(constants)
        nodes.nodes[1] = {"type_key": "Map", "keys": [*entries], "data": [*entries.values()]}
        document = {
            "root": 1,
            "nodes": nodes.nodes,
            "b64ndarrays": [
                encode(value, *type)
                for value, type in zip(self._constants, self._types, strict=True)
            ],
            "attrs": {"tvm_version": "0.10.0"},
        }
        text = json.dumps(document, indent=2, separators=(", ", ": "))
        text = _NUMBER_LIST.sub(_on_one_line, text)
        return f"\n#[metadata]\n{text}\n"


class _Nodes:
    """The nodes of the JSON; equal devices, strings and types share one."""

    def __init__(self) -> None:
        self.nodes: list[Mapping[str, Any]] = [{"type_key": ""}, {}]
        self._shared: dict[object, int] = {}

    def _add(self, key: str, **parts: Any) -> int:
        """Add a node; parts without content are omitted."""
        self.nodes.append({"type_key": key, **{k: part for k, part in parts.items() if part}})
        return len(self.nodes) - 1

    def _object(self, key: str, **fields: object) -> int:
        return self._add(key, attrs={name: str(value) for name, value in sorted(fields.items())})

    def array(self, elements: Iterable[int]) -> int:
        """Add an array of nodes."""
        return self._add("Array", data=[*elements])

    def _map(self, entries: Mapping[str, int]) -> int:
        return self._add("Map", keys=[*entries], data=[*entries.values()])

    def _string(self, text: str) -> int:
        if text not in self._shared:
            self._shared[text] = self._add("runtime.String", repr_str=text)
        return self._shared[text]

    def device(self, device: VirtualDeviceAttr) -> int:
        if device not in self._shared:
            kind, number, scope = device.device_type, device.device_id, device.scope
            type = device_number(kind.data) if isinstance(kind, StringAttr) else None
            type = -1 if type is None else type
            self._shared[device] = self._object(
                "VirtualDevice",
                device_type_int=type,
                virtual_device_id=number.data if isinstance(number, IntAttr) else -1,
                target=self._target(device.target.data, type)
                if isinstance(device.target, StringAttr)
                else 0,
                memory_scope=self._string(scope.data if isinstance(scope, StringAttr) else ""),
            )
        return self._shared[device]

    def _target(self, target: str, device_type: int) -> int:
        parts = target_parts(target)
        keys = self.array([self._string(key) for key in parts.keys])
        kind = self._object(
            "TargetKind",
            name=self._string(parts.kind),
            default_device_type=device_type,
            default_keys=keys,
        )
        options = {name: self._option(value) for name, value in sorted(parts.options.items())}
        return self._object(
            "Target",
            kind=kind,
            tag=self._string(""),
            keys=keys,
            attrs=self._map(options),
            features=self._map({}),
            host=0 if parts.host is None else self._target(parts.host, _CPU),
        )

    def _option(self, value: str | int) -> int:
        return self._string(value) if isinstance(value, str) else self._integer(value)

    def _integer(self, value: int) -> int:
        return self._object("IntImm", dtype="int32", span=0, value=value)

    def constant(self, index: int, dtype: str, shape: Sequence[int], nowhere: int) -> int:
        """Add the tensor whose elements are array `index`."""
        type = self._shared.get((dtype, shape))
        if type is None:
            dims = self.array([self._integer(dim) for dim in shape])
            type = self._object("relay.TensorType", dtype=dtype, shape=dims, span=0)
            self._shared[dtype, shape] = type
        return self._object(
            "relay.Constant", _checked_type_=type, data=index, span=0, virtual_device_=nowhere
        )
