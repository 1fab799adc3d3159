"""A picture of the bytes that are live over time, before chains were tiled and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .svg import LEFT, RIGHT, WIDTH, element, label, line

HEIGHT, TOP = 120, 24


def steps(loads: Sequence[int], most: int) -> str:
    """Return the outline of bytes over time, as wide as the picture for any number of steps."""
    width, base = (WIDTH - LEFT - RIGHT) / len(loads), TOP + HEIGHT
    corners = (
        f"V{base - HEIGHT * load / most:.1f}H{LEFT + (at + 1) * width:.1f}"
        for at, load in enumerate(loads)
    )
    return f"M{LEFT},{base}{''.join(corners)}V{base}"


def before_after(before: Sequence[int], after: Sequence[int]) -> Iterator[str]:
    """Yield a picture of the bytes live at each step of the program as it was, and as it is."""
    most, base = max(*before, *after, 1), TOP + HEIGHT
    title = f"{max(before):,} bytes live at most before, {max(after):,} in stripes"
    yield f'<svg viewBox="0 0 {WIDTH} {base + TOP}" role="img">'
    yield element("title", content=title)
    yield element("path", "load", d=steps(before, most))
    yield element("path", "after", d=steps(after, most))
    yield line("axis", base)
    for name, loads in (("before", before), ("in stripes", after)):
        y = base - HEIGHT * max(loads) / most
        yield label("soft end", LEFT - 8, y + 4, f"{max(loads):,}")
        yield label("soft", WIDTH - RIGHT + 10, y + 4, name)
    yield "</svg>"
