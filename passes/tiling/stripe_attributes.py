"""
The attributes of tiling: an op's place in its chain, and on functions the bytes before tiling.

    relay.stripes = {chain = 0, step = 1, carried, early}
    relay.stripes = {chain = 0, step = 2, axis = 1, height = "1/2", joined = array<i64: 0, 24>}
    relay.stripes = {chain = 1, step = 3, axis = 1, height = "4", loop}

The second is on the last step of a chain: stripes 0 and 1 are computed together, as are 24 and 25.
The first steps may be `early`: they run for all parts of a row before the others do. All stripes of
a chain that is a `loop` are turns of it, if some are alike, also those at both ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.hints import isa

from ...dialects.integers import i64_attribute
from ...dialects.relay.properties import INTS, ints
from ..support.diagnostics import PassError

STRIPES = "relay.stripes"


@dataclass(frozen=True)
class Stripes:
    """The attribute `relay.stripes` of an op."""

    chain: int
    step: int
    carried: bool = False
    axis: int | None = None
    height: Fraction | None = None
    joined: frozenset[int] = frozenset()
    """The stripes that are computed together with the next one."""
    early: bool = False
    is_loop: bool = False

    @property
    def attribute(self) -> DictionaryAttr:
        fields: dict[str, Attribute] = {
            "chain": i64_attribute(self.chain),
            "step": i64_attribute(self.step),
        }
        units = {"carried": self.carried, "early": self.early, "loop": self.is_loop}
        fields |= {name: UnitAttr() for name, is_set in units.items() if is_set}
        if self.axis is not None:
            fields |= {"axis": i64_attribute(self.axis), "height": StringAttr(str(self.height))}
        if self.joined:
            fields["joined"] = ints(sorted(self.joined))
        return DictionaryAttr(fields)

    @staticmethod
    def of(op: Operation) -> Stripes | None:
        """Read the attribute of `op`, None without one; raise `PassError` if it is invalid."""
        attribute = op.attributes.get(STRIPES)
        if attribute is None:
            return None
        given: Mapping[str, Attribute] = {}
        if isinstance(attribute, DictionaryAttr):
            given = attribute.data
        fields = dict(given)
        chain, step, axis = (_number(fields.pop(name, None)) for name in ("chain", "step", "axis"))
        units = [fields.pop(name, None) for name in ("carried", "early", "loop")]
        text = fields.pop("height", None)
        joined = _numbers(fields.pop("joined", ints(())))
        is_end = axis is not None and isinstance(text, StringAttr)
        is_inner = given.keys().isdisjoint(("axis", "height", "joined", "loop"))
        known = not fields and all(unit is None or isinstance(unit, UnitAttr) for unit in units)
        fits = known and (is_end or is_inner)
        if chain is None or step is None or joined is None or not fits:
            raise PassError(
                f"{STRIPES} must be {{chain, step}} and may have carried and early, or axis, "
                f"height, joined and loop of the last step, but is {attribute}",
                op,
            )
        height = _height(op, text.data) if isinstance(text, StringAttr) else None
        carried, early, is_loop = (unit is not None for unit in units)
        return Stripes(chain, step, carried, axis, height, joined, early, is_loop)


def _number(value: Attribute | None) -> int | None:
    """Return an integer of at least 0; None if `value` is something else."""
    if not isinstance(value, IntegerAttr):
        return None
    number = value.value.data
    return number if number >= 0 else None


def _numbers(value: Attribute) -> frozenset[int] | None:
    """Return integers of at least 0; None if `value` is something else."""
    if not INTS.verifies(value):
        return None
    numbers = frozenset(value.get_values())
    return None if min(numbers, default=0) < 0 else numbers


def _height(op: Operation, text: str) -> Fraction:
    try:
        height = Fraction(text)
    except (ValueError, ZeroDivisionError):
        height = Fraction(0)
    if height <= 0 or (height < 1 and height.numerator != 1):
        raise PassError(f"height must be rows, such as 8 or 1/4, but is '{text}'", op)
    return height


@dataclass(frozen=True)
class Tiled:
    """A chain, read from the attributes of its ops."""

    groups: Sequence[Sequence[Operation]]
    stripes: Sequence[Stripes]
    """The attribute of each step."""


def tiled_in(block: Block) -> list[Tiled]:
    """Return the chains of a block, in order. Raises `PassError` if one is incomplete."""
    chains: dict[int, dict[int, list[tuple[Operation, Stripes]]]] = {}
    for op in block.ops:
        stripes = Stripes.of(op)
        if stripes is not None:
            chains.setdefault(stripes.chain, {}).setdefault(stripes.step, []).append((op, stripes))
    tiled: list[Tiled] = []
    for number, steps in chains.items():
        ordered = [steps[step] for step in sorted(steps)]
        last, stripes = ordered[-1][-1]
        if [*sorted(steps)] != [*range(len(steps))] or stripes.height is None:
            raise PassError(
                f"chain {number} must have steps from 0 on, of which the last has a height", last
            )
        tiled.append(Tiled([[op for op, _ in s] for s in ordered], [s[-1][1] for s in ordered]))
    return tiled


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
        """Read the record of a function; None if it has none, or not one of `choose-tiling`."""
        attribute = None if op is None else op.attributes.get(TILING)
        fields: Mapping[str, Attribute] = {}
        if isinstance(attribute, DictionaryAttr):
            fields = attribute.data
        live, chains = fields.get("live"), fields.get("chains")
        if live is None or not INTS.verifies(live) or not isa(chains, ArrayAttr[StringAttr]):
            return None
        texts = [chain.data for chain in chains]
        return TilingRecord(live.get_values(), texts) if live.get_values() else None


LEAST = "relay.least_peak"


@dataclass(frozen=True)
class LeastPeak:
    """The least peak that chains of a function reach, which is above the one that is required."""

    bytes: int
    how: str
    """With what limits, and at what size of open dims."""

    @property
    def attribute(self) -> DictionaryAttr:
        return DictionaryAttr({"bytes": i64_attribute(self.bytes), "how": StringAttr(self.how)})

    @staticmethod
    def of(op: Operation) -> LeastPeak | None:
        """Read the least peak of a function; None if it has none, or not one of `choose-tiling`."""
        attribute, fields = op.attributes.get(LEAST), dict[str, Attribute]()
        if isinstance(attribute, DictionaryAttr):
            fields |= attribute.data
        bytes, how = _number(fields.get("bytes")), fields.get("how")
        return LeastPeak(bytes, how.data) if bytes and isinstance(how, StringAttr) else None

    def refusal_of(self, peak: int) -> str:
        return f"a peak of {peak} bytes is not reached{self.how}: the least is {self.bytes}"
