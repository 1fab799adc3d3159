"""What `mlir-opt` prints of upstream dialects, and xDSL does not read: ops, and custom forms."""

from importlib import import_module

from xdsl.ir import Dialect

MENDED = ("memref", "scf", "linalg", "gpu")
"""The dialects of xDSL that lack ops or forms."""


def mended(dialect: Dialect) -> Dialect:
    """Give a dialect of xDSL the ops and forms that it lacks, once; other dialects stay."""
    if dialect.name in MENDED:
        import_module(".custom_forms", __name__).mend(dialect)
    return dialect
