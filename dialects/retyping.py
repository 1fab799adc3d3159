"""Another type for a value, in place."""

from xdsl.ir import Attribute, SSAValue


def set_type(value: SSAValue, type: Attribute) -> None:
    """
    Give `value` another type; who uses it stays.

    xDSL can only put a new value where the old one was, which rebuilds the results of its op and
    the operands of all its users; a sweep that gives every value a type would do that to each op.
    """
    value._type = type  # pyright: ignore[reportPrivateUsage]
