"""Types without their devices."""

from xdsl.ir import Attribute

from ...dialects.device import with_device
from ..support.by_identity import ByIdentity


class PlainTypes(ByIdentity[Attribute]):
    """Maps a type to the type without devices; equal ones are one object."""

    def __init__(self) -> None:
        plain: dict[Attribute, Attribute] = {}

        def plain_type(type: Attribute) -> Attribute:
            without = with_device(type, None)
            return plain.setdefault(without, without)

        super().__init__(plain_type)
