"""Kernels that the runtime supplies for a library, as JSON: their operators and constants."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..program.dtypes import element_type, type_name
from ..program.program import Array, AttrValue, Kernel, Step, TensorSpec


def spec_to(spec: TensorSpec) -> Mapping[str, object]:
    """Return the type of a tensor as JSON's types."""
    return {"dtype": spec.dtype, "shape": spec.shape}


def spec_from(found: Mapping[str, Any]) -> TensorSpec:
    """Return the type of a tensor that `spec_to` wrote."""
    shape = tuple(None if size is None else int(size) for size in found["shape"])
    return TensorSpec(str(found["dtype"]), shape)


def _array_to(array: Array) -> Mapping[str, object]:
    data = b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return {"dtype": type_name(array.dtype), "shape": array.shape, "data": data}


def _array_from(found: Mapping[str, Any]) -> Array:
    shape = tuple(map(int, found["shape"]))
    return np.frombuffer(b64decode(found["data"]), element_type(found["dtype"])).reshape(shape)


def _attr_to(value: AttrValue) -> object:
    """Floats are in hexadecimal: JSON has no infinities, and the bits must not change."""
    return {"float": value.hex()} if isinstance(value, float) else value


def _attr_from(value: Any) -> AttrValue:
    items: Any = value
    if isinstance(value, dict):
        return float.fromhex(items["float"])
    if isinstance(value, list):
        return tuple(map(int, items))
    if isinstance(value, int | str):
        return value
    raise ValueError(f"{value!r} is not the value of an attribute")


def kernel_to(kernel: Kernel) -> Mapping[str, object]:
    """Return `kernel` as JSON's types."""
    return {
        "name": kernel.name,
        "inputs": [spec_to(spec) for spec in kernel.ins],
        "constants": [_array_to(array) for array in kernel.constants],
        "locals": [spec_to(spec) for spec in kernel.locals],
        "steps": [
            {
                "op": step.op,
                "attrs": {name: _attr_to(value) for name, value in step.attrs.items()},
                "ins": step.ins,
                "outs": step.outs,
            }
            for step in kernel.steps
        ],
        "results": kernel.results,
        "host_inputs": kernel.host_ins,
    }


def kernel_from(found: Mapping[str, Any]) -> Kernel:
    """Return the kernel that `kernel_to` wrote."""
    return Kernel(
        str(found["name"]),
        tuple(map(spec_from, found["inputs"])),
        tuple(map(_array_from, found["constants"])),
        tuple(map(spec_from, found["locals"])),
        tuple(
            Step(
                str(step["op"]),
                {name: _attr_from(value) for name, value in step["attrs"].items()},
                tuple(map(int, step["ins"])),
                tuple(map(int, step["outs"])),
            )
            for step in found["steps"]
        ),
        tuple(map(int, found["results"])),
        tuple(map(int, found["host_inputs"])),
    )
