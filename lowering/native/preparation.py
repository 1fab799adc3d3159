"""
Rewrite a kernel for compilation, before its schedule is chosen.

Elementwise chains become one loop, and products become calls of a library if there is one for them.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg

from .fusion import fuse_elementwise
from .products import call_product, product_of
from .settings import Settings


def prepare(kernel: FuncOp, settings: Settings) -> None:
    """Rewrite `kernel`, in place."""
    fuse_elementwise(kernel)
    if settings.blas is not None:
        _call_products(kernel, settings, everywhere=settings.blas.is_preferred)


def _call_products(kernel: FuncOp, settings: Settings, *, everywhere: bool) -> None:
    generics = [op for op in kernel.walk() if isinstance(op, linalg.GenericOp)]
    products = [product for op in generics if (product := product_of(op)) is not None]
    if products and (everywhere or settings.scheduler(kernel, settings.machine) is None):
        for product in products:
            call_product(product)
