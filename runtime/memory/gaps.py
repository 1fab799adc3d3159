"""
Sets of integers as sorted interval edges: [0, 4, 8, 12] is 0…3 and 8…11.

    gaps = [0, 12]
    cut(gaps, 4, 8)            gaps is [0, 4, 8, 12]
    meets(gaps, 4, 8)          False
    join(gaps, 4, 6)           (0, 6), the interval that it became; gaps is [0, 6, 8, 12]
"""

from bisect import bisect_left, bisect_right


def cut(edges: list[int], start: int, stop: int) -> None:
    """Remove [start, stop) from the set."""
    if start >= stop:
        return
    first, last = bisect_left(edges, start), bisect_right(edges, stop)
    edges[first:last] = [start] * (first % 2) + [stop] * (last % 2)


def meets(edges: list[int], start: int, stop: int) -> bool:
    """Test whether the set intersects [start, stop)."""
    first = bisect_right(edges, start)
    return start < stop and (first % 2 == 1 or (first < len(edges) and edges[first] < stop))


def join(edges: list[int], start: int, stop: int) -> tuple[int, int]:
    """Add [start, stop), which is not empty, to the set; return the interval that it is in now."""
    first, last = bisect_left(edges, start), bisect_right(edges, stop)
    edges[first:last] = [start] * (1 - first % 2) + [stop] * (1 - last % 2)
    first -= first % 2
    return edges[first], edges[first + 1]
