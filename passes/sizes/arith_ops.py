"""The ops of `arith` that are operations of the table of sizes, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.dialects import arith
from xdsl.ir import Operation

from ...operators.sizes.size_table import OPERATIONS

_CLASSES: Mapping[str, type[Operation]] = {kind.name: kind for kind in arith.Arith.operations}


def arith_ops() -> Mapping[type[Operation], str]:
    """Return the operation that each op on two integers computes."""
    return _arith_ops(len(OPERATIONS))


@cache
def _arith_ops(count: int) -> Mapping[type[Operation], str]:
    """Return `arith_ops` of a table of `count` operations: plug-ins and tests may add some."""
    kinds = ((_CLASSES.get(known.arith), name) for name, known in OPERATIONS.items())
    return {kind: name for kind, name in kinds if kind not in (None, arith.SelectOp)}


def class_of(name: str) -> type[Operation]:
    """Return the class of ops that compute an operation, which has an op of its own."""
    return _CLASSES[OPERATIONS[name].arith]
