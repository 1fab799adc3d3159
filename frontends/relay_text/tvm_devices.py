"""
TVM's device types, numbers in the text and names in the IR; targets as text and as parts.

    cuda -keys=cuda,gpu -arch=sm_50 -max_num_threads=1024
    ->
    kind cuda, keys cuda and gpu, options arch and max_num_threads

The text is that of TVM's `Target.str` (the kind, the keys, the options sorted by name), with the
host, which that omits: `cuda -keys=cuda,gpu -host='llvm -keys=cpu'`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...dialects.device import VirtualDeviceAttr

DEVICE_TYPES = {
    1: "cpu",
    2: "cuda",
    3: "cuda_host",
    4: "opencl",
    5: "aocl",
    6: "sdaccel",
    7: "vulkan",
    8: "metal",
    9: "vpi",
    10: "rocm",
    11: "rocm_host",
    12: "ext_dev",
    14: "hexagon",
    15: "webgpu",
}
"""The names of `DLDeviceType` and of TVM's own device types."""
_HOST = re.compile(r"(.*) -host='([^']*)'", re.DOTALL)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


@dataclass(frozen=True)
class TargetParts:
    """The parts of a target; the value of an option is text or an integer."""

    kind: str
    keys: Sequence[str] = ()
    options: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    host: str | None = None
    """The text of the target of the host."""

    @property
    def text(self) -> str:
        keys = [f"-keys={','.join(self.keys)}"] if self.keys else []
        options = [f"-{name}={value}" for name, value in sorted(self.options.items())]
        host = [f"-host='{self.host}'"] if self.host else []
        return " ".join([self.kind, *keys, *options, *host])


def target_parts(text: str) -> TargetParts:
    """
    Split the text of a target into its parts.

    A text that is not in TVM's form becomes the kind as a whole, so that nothing is lost.
    """
    match = _HOST.fullmatch(text)
    kind, *words = (text if match is None else match[1]).split(" ")
    keys: Sequence[str] = ()
    options: dict[str, str | int] = {}
    for word in words:
        name, _, value = word.removeprefix("-").partition("=")
        if name == "keys":
            keys = value.split(",")
        else:
            options[name] = int(value) if _INTEGER.fullmatch(value) else value
    parts = TargetParts(kind, keys, options, None if match is None else match[2])
    return parts if parts.text == text else TargetParts(text)


def virtual_device(
    device_type: int, device_id: int, target: str | None, scope: str
) -> VirtualDeviceAttr:
    """Convert TVM's `VirtualDevice`; -1, no target and an empty scope are unconstrained."""
    kind = DEVICE_TYPES.get(device_type, f"dev{device_type}") if device_type > 0 else None
    return VirtualDeviceAttr(
        kind, device_id if device_id >= 0 else None, target or None, scope or None
    )
