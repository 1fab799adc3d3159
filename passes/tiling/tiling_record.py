"""
The attribute by which a function says what was chosen for it, for reports and pictures.

    relay.tiling = {live = array<i64: 1024, 73728>, chains = ["3 steps in 32 stripes of …"]}

`live` are the bytes live at each step of the program as it was, `chains` a sentence for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from ...dialects.relay.properties import INTS, ints

TILING = "relay.tiling"


@dataclass(frozen=True)
class TilingRecord:
    """The bytes live before chains of a function were tiled, and these chains."""

    live: Sequence[int]
    chains: Sequence[str]

    @property
    def attribute(self) -> DictionaryAttr:
        chains = ArrayAttr([StringAttr(chain) for chain in self.chains])
        return DictionaryAttr({"live": ints(self.live), "chains": chains})

    @staticmethod
    def of(op: Operation | None) -> TilingRecord | None:
        """Return what a function says; None if nothing, or if that is not from `choose-tiling`."""
        attribute = None if op is None else op.attributes.get(TILING)
        fields: Mapping[str, Attribute] = {}
        if isinstance(attribute, DictionaryAttr):
            fields = attribute.data
        live, chains = fields.get("live"), fields.get("chains")
        if live is None or not INTS.verifies(live) or not isa(chains, ArrayAttr[StringAttr]):
            return None
        texts = [chain.data for chain in chains]
        return TilingRecord(live.get_values(), texts) if live.get_values() else None
