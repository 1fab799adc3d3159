"""Write constants that are too large for IR text to their side file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

from ...dialects.relay.constants import fits_inline
from ...dialects.tensors import as_tensor, dtype_name


def belongs_in_file(type: Attribute) -> bool:
    """
    Return whether constants of this type go to the side file; NumPy, which writes it, has no bf16.
    """
    tensor = as_tensor(type)
    return (
        tensor is not None
        and not fits_inline(type)
        and dtype_name(tensor.element_type) not in ("bfloat16", "int4", "uint4")
    )


def write_weights(params: Mapping[str, DenseIntOrFPElementsAttr[Any]], path: Path) -> None:
    """Write `params` to `path` (safetensors), replacing the file; may raise `OSError`."""
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in params.items():
        type = as_tensor(value.type)
        assert type is not None
        dtype = dtype_name(type.element_type)
        if dtype == "bool":  # xDSL stores all bits of a byte
            array = np.frombuffer(value.data.data, np.uint8) != 0
        else:
            array = np.frombuffer(value.data.data, np.dtype(dtype))
        arrays[name] = array.reshape(type.get_shape())
    try:
        save_file(arrays, path)
    except SafetensorError as error:
        raise OSError(str(error)) from None
