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

from ..text.syntax import Binding, Function, Region


def place_bindings(definition: Function) -> None:
    """Set the `place` of every binding of a definition that is needed."""
    root = definition.region
    if not definition.branches:
        for binding in reversed(definition.bindings):
            if any(owner is None or owner.place is not None for _, owner in binding.uses):
                binding.place = root
        return
    for binding in reversed(definition.bindings):
        place: Region | None = None
        for region, owner in binding.uses:
            used_in = region if owner is None else owner.place
            if used_in is None or not _settle(used_in, root):
                continue  # in a binding that is not needed
            place = used_in if place is None else _common(place, used_in)
        binding.place = place
        if place is not None:
            _need_before_regions(binding, place)


def _need_before_regions(binding: Binding, place: Region) -> None:
    """
    Let the regions between a binding's place and its uses refer to it.

    A binding that is used inside regions of a statement, or of another binding's value, but
    computed outside them is needed before these, so chains of such bindings cause no recursion.
    """
    for region, owner in binding.uses:
        inner: Region | None = None
        at = region if owner is None else owner.place
        while at is not None and at is not place:
            inner, at = at, at.parent
        if at is not None and inner is not None:
            inner.refs.append(binding)


def _parent(region: Region) -> Region | None:
    return region.outer if region.owner is None else region.owner.place


def _settle(region: Region, root: Region) -> bool:
    """Set `parent` and `depth` of `region`; return False if it is in an unused binding."""
    chain: list[Region] = []
    at = region
    while at is not root and at.parent is None:
        chain.append(at)
        outer = _parent(at)
        if outer is None:
            return False
        at = outer
    for inner in reversed(chain):
        outer = _parent(inner)
        assert outer is not None
        inner.parent = outer
        inner.depth = outer.depth + 1
    return True


def _common(a: Region, b: Region) -> Region:
    while a is not b:
        if a.depth < b.depth:
            a, b = b, a
        assert a.parent is not None, "every region is in the function's"
        a = a.parent
    return a


def settle(region: Region, root: Region) -> None:
    """Set the enclosing region of `region`, which is about to be computed."""
    known = _settle(region, root)
    assert known, "the region of a binding that is used has a place"


def is_within(region: Region | None, outer: Region) -> bool:
    """Return whether `region` is `outer` or inside it; both are settled."""
    while region is not None and region is not outer:
        region = region.parent
    return region is not None
