"""
Sizes that are known on a path: those it has read, and those that follow from them.

    n = extract(data)        read: the path continues by its value
    bytes = n * 4            follows
"""

from collections.abc import Callable, Iterable, Sequence

from ..program.objects import Tensor
from ..program.program import Array
from ..program.size_operations import Scalar

Lookup = Callable[[Tensor], Array | None]


def unknown_sources(tensors: Sequence[Tensor], known: Lookup) -> list[Tensor]:
    """
    Return the tensors whose elements determine those of `tensors`, and are not `known`.

    These are sizes that are computed from data, not the data: a size has fewer values, so that
    fewer paths are recorded.
    """
    found: list[Tensor] = []
    seen: set[Tensor] = set()
    rest = list(reversed(tensors))
    while rest:
        item = rest.pop()
        if item in seen or known(item) is not None:
            continue
        seen.add(item)
        source = item.source
        if source is None or any(a.source is None and not a.constant for a in source.args):
            found.append(item)
        else:
            rest.extend(reversed(source.args))
    return found


def evaluated(
    tensors: Sequence[Tensor],
    values: dict[Tensor, Array],
    known: Lookup,
    evaluate: Callable[[Scalar, Sequence[Array]], Array],
) -> list[Array]:
    """Return the elements of `tensors`, which follow from `known` ones; keep them in `values`."""
    rest = list(tensors)
    while rest:
        item = rest[-1]
        if known(item) is not None:
            rest.pop()
            continue
        assert item.source is not None, "nothing is unknown here"
        missing = [arg for arg in item.source.args if known(arg) is None]
        if missing:
            rest += missing
            continue
        values[item] = evaluate(item.source.scalar, _present(map(known, item.source.args)))
        rest.pop()
    return _present(map(known, tensors))


def _present(found: Iterable[Array | None]) -> list[Array]:
    return [elements for elements in found if elements is not None]
