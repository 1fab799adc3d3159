"""Writes the constants that are too large for IR text to their side file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from ...dialects.tensors import as_tensor, dtype_name


def write_weights(params: Mapping[str, DenseIntOrFPElementsAttr[Any]], path: Path) -> None:
    """Write `params` to `path` (safetensors), what was there is replaced; may raise `OSError`."""
    from safetensors import SafetensorError, serialize_file

    entries: dict[str, Any] = {}
    for name, value in params.items():
        type = as_tensor(value.type)
        assert type is not None
        data = value.data.data
        dtype = dtype_name(type.element_type)
        if dtype == "bool":  # xDSL stores all bits of a byte
            data = bytes(1 if byte else 0 for byte in data)
        entries[name] = {"dtype": dtype, "shape": list(type.get_shape()), "data": data}
    try:
        serialize_file(entries, path)
    except SafetensorError as error:
        raise OSError(str(error)) from None
