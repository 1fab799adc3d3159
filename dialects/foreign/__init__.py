"""Ops of upstream dialects, and custom forms, that `mlir-opt` prints and xDSL does not read."""

from xdsl.ir import Dialect

MENDED = ("memref", "scf", "linalg", "gpu", "affine")
"""The dialects of xDSL that lack ops or forms."""


def mended(dialect: Dialect) -> Dialect:
    """Give a dialect of xDSL the ops and forms that it lacks, once; other dialects stay."""
    if dialect.name in MENDED:
        from .custom_forms import mend  # only if such a dialect is used

        mend(dialect)
    return dialect
