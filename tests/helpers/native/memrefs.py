"""
Call compiled functions whose parameters are memrefs.

    add = bind(ctypes.CDLL("kernels.so"), "add", [x, y, out])
    add()                                   writes out; nothing is allocated

MLIR's C interface of a function takes a pointer to a descriptor for each memref.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np


@cache
def descriptor_type(rank: int) -> type[ctypes.Structure]:
    """Return the structure that describes a memref of `rank`."""
    fields: list[tuple[str, Any]] = [
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
    ]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"Memref{rank}", (ctypes.Structure,), {"_fields_": fields})


def descriptor_of(array: np.ndarray[Any, Any]) -> ctypes.Structure:
    """Return the descriptor of an array, which must outlive it."""
    address, rank = array.ctypes.data, array.ndim
    if not rank:
        return descriptor_type(0)(address, address, 0)
    sizes = (ctypes.c_int64 * rank)(*array.shape)
    strides = (ctypes.c_int64 * rank)(*(stride // array.itemsize for stride in array.strides))
    return descriptor_type(rank)(address, address, 0, sizes, strides)


def bind(
    library: ctypes.CDLL, symbol: str, arguments: Sequence[np.ndarray[Any, Any] | int]
) -> Callable[[], int]:
    """
    Return a function that calls `symbol` with `arguments`: arrays as memrefs, and `index` values.

    The function must have `llvm.emit_c_interface`, and arrays the layouts of its parameters. Its
    result is an `index`, or none.
    """
    function = getattr(library, f"_mlir_ciface_{symbol}")
    function.restype = ctypes.c_int64
    descriptors = [x if isinstance(x, int) else descriptor_of(x) for x in arguments]
    given = [ctypes.c_int64(x) if isinstance(x, int) else ctypes.byref(x) for x in descriptors]
    keep = (library, descriptors, arguments)

    def call(_: object = keep) -> int:
        return function(*given)

    return call
