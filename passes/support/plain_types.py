"""Types without their devices."""

from dataclasses import dataclass, field

from xdsl.ir import Attribute

from ...dialects.device import with_device


@dataclass
class PlainTypes:
    """Maps a type to the type without devices; each is computed once."""

    known: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])

    def __call__(self, type: Attribute) -> Attribute:
        plain = self.known.get(type)
        if plain is None:
            plain = self.known[type] = with_device(type, None)
        return plain
