"""Types without their devices."""

from dataclasses import dataclass, field

from xdsl.ir import Attribute

from ...dialects.device import with_device


@dataclass
class PlainTypes:
    """Maps a type to the type without devices; each is computed once, and equal ones are one."""

    known: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])
    by_identity: dict[int, tuple[Attribute, Attribute]] = field(
        default_factory=dict[int, tuple[Attribute, Attribute]]
    )
    """The same, by the identity of a type, which is kept alive."""

    def __call__(self, type: Attribute) -> Attribute:
        found = self.by_identity.get(id(type))
        if found is None:
            plain = self.known.get(type)
            if plain is None:
                plain = with_device(type, None)
                plain = self.known[type] = self.known.setdefault(plain, plain)
            found = self.by_identity[id(type)] = type, plain
        return found[1]
