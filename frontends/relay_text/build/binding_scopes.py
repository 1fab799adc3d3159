"""
Place graph bindings: each is computed in the innermost region that encloses all its uses.

    %0 = f(%x);                                 if %c {
    if (%c) { g(%0) } else { %x }        ->       %0 = f(%x); g(%0)
                                                } else { %x }

A use is in a region, or in the value of another binding, and then counts where that binding is
computed. A binding's value ends before every use of it. So when bindings are visited from the
last end to the first, everything that a binding's place depends on is already known.
"""

from __future__ import annotations

from ..text.syntax import Binding, Function
from .definition_regions import Region, Regions, regions_of


class Scopes:
    """The regions of a definition, and the place of each of its bindings that is needed."""

    def __init__(self) -> None:
        self.regions = Regions(Region(None, None, []))
        self.place: dict[Binding, Region] = {}

    def collect(self, definition: Function) -> None:
        """Find the places of the bindings of `definition`."""
        regions_of(definition, self.regions)
        place, root = self.place, self.regions.root
        branches = len(self.regions.of) > 1
        for binding in reversed(self.regions.uses):
            if branches:
                self._place(binding)
            elif any(owner is None or owner in place for _, owner in self.regions.uses[binding]):
                place[binding] = root

    def _place(self, binding: Binding) -> None:
        common: Region | None = None
        uses = self.regions.uses[binding]
        for region, owner in uses:
            used_in = region if owner is None else self.place.get(owner)
            if used_in is None or not self._settle(used_in):
                continue  # in a binding that is not needed
            common = used_in if common is None else _common(common, used_in)
        if common is None:
            return
        self.place[binding] = common
        # Let the regions between the place and the uses refer to the binding: it is needed before
        # the statement, or the other binding's value, that contains them, so that chains of such
        # bindings cause no recursion.
        for region, owner in uses:
            inner: Region | None = None
            at = region if owner is None else self.place.get(owner)
            while at is not None and at is not common:
                inner, at = at, at.parent
            if at is not None and inner is not None:
                inner.refs.append(binding)

    def _parent(self, region: Region) -> Region | None:
        return region.outer if region.owner is None else self.place.get(region.owner)

    def _settle(self, region: Region) -> bool:
        """Set `parent` and `depth` of `region`; return False if it is in an unused binding."""
        chain: list[Region] = []
        at = region
        while at is not self.regions.root and at.parent is None:
            chain.append(at)
            outer = self._parent(at)
            if outer is None:
                return False
            at = outer
        for inner in reversed(chain):
            outer = self._parent(inner)
            assert outer is not None
            inner.parent = outer
            inner.depth = outer.depth + 1
        return True

    def settle(self, region: Region) -> None:
        """Set the enclosing region of `region`, which is about to be computed."""
        known = self._settle(region)
        assert known, "the region of a binding that is used has a place"


def _common(a: Region, b: Region) -> Region:
    while a is not b:
        if a.depth < b.depth:
            a, b = b, a
        assert a.parent is not None, "every region is in the function's"
        a = a.parent
    return a


def is_within(region: Region | None, outer: Region) -> bool:
    """Return whether `region` is `outer` or inside it; both are settled."""
    while region is not None and region is not outer:
        region = region.parent
    return region is not None
