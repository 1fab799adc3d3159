"""TVM's device types: numbers in the text, names in the IR."""

from __future__ import annotations

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


def virtual_device(
    device_type: int, device_id: int, target: str | None, scope: str
) -> VirtualDeviceAttr:
    """
    Convert TVM's `VirtualDevice`; a type or id of -1, no target or an empty scope is unconstrained.
    """
    kind = DEVICE_TYPES.get(device_type, f"dev{device_type}") if device_type > 0 else None
    return VirtualDeviceAttr(
        kind, device_id if device_id >= 0 else None, target or None, scope or None
    )
