"""The sizes of groups of operands or results, as xDSL's `AttrSizedSegments` stores them."""

from functools import lru_cache
from struct import unpack
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i32
from xdsl.ir import Attribute, Operation


@lru_cache(maxsize=256)
def _unpacked(data: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(data) // 4}i", data)


def sizes_in(attribute: Attribute) -> tuple[int, ...]:
    """Return the sizes that an array of i32 has; () for another attribute."""
    array = cast("DenseArrayBase[IntegerType]", attribute)
    if not isinstance(attribute, DenseArrayBase):
        return ()
    if array.elt_type is not i32 and array.elt_type != i32:
        return ()
    return _unpacked(array.data.data)


def operand_counts(op: Operation) -> tuple[int, ...]:
    """
    Return how many operands a valid op has of each group.

    The accessors of xDSL compute that whenever they are read, and take ten times as long.
    """
    return sizes_in(op.properties["operandSegmentSizes"])
