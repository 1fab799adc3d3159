"""Text for terminals and pictures: sizes in units, names that are safe to show, tables."""

from collections.abc import Iterator, Sequence

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


class Text(str):
    """Text that a prompt of Python shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def human(size: int) -> str:
    """Return `size` in a binary unit: `3.7 MiB`, `512 B`."""
    unit, scaled = 0, float(size)
    while scaled >= 1023.95 and unit + 1 < len(UNITS):
        unit, scaled = unit + 1, scaled / 1024
    return f"{size} B" if not unit else f"{scaled:.1f} {UNITS[unit]}"


def counted(count: int, noun: str) -> str:
    """Return a number of things: `1 tensor`, `2,000 tensors`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def printable(text: str) -> str:
    """Return `text` without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def table(rows: Sequence[Sequence[str]], align: str, indent: str = "    ") -> Iterator[str]:
    """Yield the lines of a table, whose columns are aligned to the left (<) or right (>)."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(align))]
    for row in rows:
        cells = [f"{cell:{a}{w}}" for cell, a, w in zip(row, align, widths, strict=True)]
        yield (indent + "  ".join(cells)).rstrip()
