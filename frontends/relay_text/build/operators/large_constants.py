"""Constants that are too large for IR text: weights, in a file of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from .....dialects.dense import Dense, elements
from .....dialects.relay.constants import fits_inline
from .....dialects.tensors import as_tensor, dtype_name
from .....operators.element_types import NUMBER_TYPES

if TYPE_CHECKING:
    from ....conversion import Array


def belongs_in_file(type: Attribute) -> bool:
    """
    Test whether constants of this type go to the side file; NumPy, which writes it, lacks bf16.
    """
    tensor = as_tensor(type)
    return (
        tensor is not None
        and not fits_inline(type)
        and dtype_name(tensor.element_type) in NUMBER_TYPES
    )


def arrays_of(params: Mapping[str, Dense]) -> dict[str, Array]:
    """Return constants as arrays, which are views of their bytes."""
    import numpy as np

    arrays: dict[str, Array] = {}
    for name, value in params.items():
        type = as_tensor(value.type)
        assert type is not None
        flat = np.frombuffer(elements(value), dtype_name(type.element_type))
        arrays[name] = flat.reshape(type.get_shape())
    return arrays
