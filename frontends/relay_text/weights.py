"""Write constants that are too large for IR text to their side file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.ir import Attribute

from ...dialects.dense import Dense, elements
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


def write_weights(params: Mapping[str, Dense], path: Path) -> None:
    """Write `params` to `path` (safetensors), replacing the file; may raise `MachineError`."""
    import numpy as np

    from ...runtime.tensor_file import write_tensors

    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in params.items():
        type = as_tensor(value.type)
        assert type is not None
        flat = np.frombuffer(elements(value), dtype_name(type.element_type))
        arrays[name] = flat.reshape(type.get_shape())
    write_tensors(path, arrays)
