"""Ops of upstream dialects, and custom forms, that `mlir-opt` prints and xDSL does not read."""

from collections.abc import Iterable

from xdsl.ir import Dialect, Operation

MENDED = ("memref", "scf", "cf", "linalg", "gpu", "affine")
"""The dialects of xDSL that lack ops or forms."""

MENDED_OPS = {
    f"arith.{name}"
    for name in """
        select trunci extsi extui index_cast fptosi fptoui sitofp uitofp truncf extf divsi divui
        shrsi shrui
    """.split()
}
"""The ops of arith that xDSL has for single numbers only, or without their flags."""

RARELY = ("func.", "arith.")
"""The prefixes of ops that few programs use, whose classes are imported when one is needed."""


def mended(dialect: Dialect) -> Dialect:
    """Give a dialect of xDSL the ops and forms that it lacks, once; other dialects stay."""
    if dialect.name in MENDED:
        from .custom_forms import mend  # only if such a dialect is used

        mend(dialect)
    return dialect


def mended_op(op: type[Operation]) -> type[Operation]:
    """Give an op of arith or func what it lacks; other ops stay."""
    if op.name in ("func.func", "func.call"):
        from .func_forms import mend_func

        mend_func()
    if op.name in MENDED_OPS:
        from .arith_forms import mend_arith  # only if such an op is used

        mend_arith()
    return op


def missing_op(name: str, dialects: Iterable[str] = ()) -> type[Operation] | None:
    """Return the op of this name, by itself or in one of `dialects`, that xDSL rarely lacks."""
    names = [name, *(f"{dialect}.{name}" for dialect in dialects)]
    if not any(each.startswith(RARELY) for each in names):
        return None
    from . import missing_plain_ops  # only if one is used

    kinds = vars(missing_plain_ops).values()
    ops = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Operation))
    return next((op for op in ops if vars(op).get("name") in names), None)
