"""
Numbers of references by object, with copies that cost little however many objects there are.

    counts.change(a, +1)          layers          own
    copied = counts.copy()        {a: 1}          {}         shared by both
    copied.change(b, +1)          {a: 1}          {b: 1}

The layers never change and are shared by copies. Each is more than `RATIO` times as large as the
next, so there are few: a layer that is not is merged with the next. An object's number is in the
last layer that has one; 0 hides those of earlier layers.
"""

from __future__ import annotations

from ..program.objects import Object

RATIO = 2


class ReferenceCounts:
    """The number of references to each object, 0 by default."""

    __slots__ = ("_layers", "_own")

    def __init__(self) -> None:
        self._layers: list[dict[Object, int]] = []
        self._own: dict[Object, int] = {}

    @property
    def unshared(self) -> int:
        """The size of what no copy shares."""
        return len(self._own)

    def change(self, item: Object, by: int) -> int:
        """Add `by`, which is not 0, to the number of references to `item`, and return that."""
        own = self._own
        count = own.get(item)
        if count is None:
            count = 0
            for layer in reversed(self._layers):
                if item in layer:
                    count = layer[item]
                    break
        count += by
        if count or self._layers:
            own[item] = count
        else:
            del own[item]
        return count

    def copy(self) -> ReferenceCounts:
        """Return a copy; from now on both share all numbers."""
        if self._own:
            layers, top = list(self._layers), self._own
            while layers and len(layers[-1]) <= RATIO * len(top):
                top = layers.pop() | top
            layers.append(top if layers else {item: n for item, n in top.items() if n})
            self._layers, self._own = layers, {}
        made = ReferenceCounts()
        made._layers = self._layers
        return made

    def joined(self, other: ReferenceCounts) -> ReferenceCounts:
        """Return the sums of both, reusing one of them: neither may be used any more."""
        few, many = (self, other) if self._size() <= other._size() else (other, self)
        total: dict[Object, int] = {}
        for layer in (*few._layers, few._own):
            total |= layer
        for item, count in total.items():
            if count:
                many.change(item, count)
        return many

    def _size(self) -> int:
        return len(self._own) + sum(map(len, self._layers))
