"""The `relay` dialect: functional tensor programs, by family of operators."""

from xdsl.ir import Dialect

from ..device import VirtualDeviceAttr
from . import elementwise
from .types import IncompleteType

OPERATORS = (*elementwise.OPERATORS,)
"""Every tensor operator of the dialect."""

Relay = Dialect(
    "relay",
    [*OPERATORS],
    [VirtualDeviceAttr, IncompleteType],
)
