"""
Rewrite a kernel for compilation, before its schedule is chosen.

Reshapes move out of elementwise chains, which become one loop, values are computed in the memory of
results, copies that transpose get buffers of their own, and products become calls of the BLAS
library, if one is chosen.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg

from ..build.settings import Settings
from .blas_products import call_product, product_of
from .loop_fusion import fuse_elementwise
from .reshapes import move_reshapes_to_ends
from .result_memory import compute_in_destinations
from .transposition import transpose_operands, write_transposed


def prepare(kernel: FuncOp, settings: Settings) -> None:
    """Rewrite `kernel`, in place."""
    move_reshapes_to_ends(kernel)
    fuse_elementwise(kernel)
    compute_in_destinations(kernel)
    if settings.blas is not None and settings.blas.is_preferred:
        _call_products(kernel)
    transpose_operands(kernel)
    write_transposed(kernel)
    if settings.blas is not None and settings.scheduler(kernel, settings.machine) is None:
        _call_products(kernel)


def _call_products(kernel: FuncOp) -> None:
    generics = [op for op in kernel.walk() if isinstance(op, linalg.GenericOp)]
    for op in generics:
        product = product_of(op)
        if product is not None:
            call_product(product)
