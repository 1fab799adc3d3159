"""
Problems and plans as CSV, in the format of google/minimalloc.

    id,lower,upper,size,alignment,gaps,offset
    b1,0,3,4,1,,
    b2,3,9,4,2,4-6 7-8@0:2,8

`lower,upper` are half-open; `begin,end` (also `start,end`) include the last time. Columns
may be in any order; those after `size` are optional, and their cells may be empty. A
gap's window `@a:b` is the bytes of the buffer that stay in use; the first `b` bytes are
kept. Additional columns: `pools` (names, most preferred first), `arms` (`branch:arm`,
outermost first), `tie` (a name), `reads` and `writes` (how often all bytes are, by default once)
and, in plans, `pool`.

A malformed file raises `CsvError`, which reads `file:line: error: …`.
"""

import csv
import io
from collections.abc import Sequence

from ..operators.intervals import Interval
from ..operators.records import record
from .buffers import Arm, Buffer, Gap, Pool, ProblemError
from .check import ends
from .problem import Plan, Problem

_NAMES = {
    "id": "id", "buffer": "id", "buffer_id": "id",
    "lower": "lower", "begin": "lower", "start": "lower",
    "upper": "upper", "end": "upper",
    "size": "size", "alignment": "alignment", "gaps": "gaps", "offset": "offset",
    "pools": "pools", "pool": "pool", "arms": "arms", "tie": "tie",
    "reads": "reads", "writes": "writes",
}  # fmt: skip

_REQUIRED = ("id", "lower", "upper", "size")


class CsvError(Exception):
    """A malformed file; the message reads `file:line: error: message`."""

    def __init__(self, file: str, line: int, message: str):
        super().__init__(f"{file}:{line}: error: {message}")


@record
class Table:
    """A CSV file: its header, its rows of cells, and the line of each row."""

    file: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def column(self, name: str) -> int | None:
        """Return the index of the column that means `name`, or None."""
        for i, title in enumerate(self.header):
            if _NAMES.get(title) == name:
                return i
        return None


def parse_table(text: str, file: str = "<text>") -> Table:
    """Split CSV into cells. Every row must have as many cells as the header."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: tuple[str, ...] | None = None
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            if not cells or not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = tuple(cell.strip().lower().removeprefix("\ufeff") for cell in cells)
                _check_header(file, reader.line_num, header)
                continue
            if len(cells) != len(header):
                message = f"expected {len(header)} cells, as in the header, but got {len(cells)}"
                raise CsvError(file, reader.line_num, message)
            rows.append(tuple(map(str.strip, cells)))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise CsvError(file, reader.line_num, f"invalid CSV: {error}") from None
    if header is None:
        raise CsvError(file, 1, "missing header: expected id,lower,upper,size,…")
    return Table(file, header, tuple(rows), tuple(lines))


def _check_header(file: str, line: int, header: tuple[str, ...]) -> None:
    seen: dict[str, str] = {}
    for title in header:
        name = _NAMES.get(title, title)
        if name in seen:
            same = "" if seen[name] == title else f", which means the same as '{seen[name]}'"
            raise CsvError(file, line, f"duplicate column '{title}'{same}")
        seen[name] = title


def parse_problem(
    text: str, file: str = "<text>", pools: Sequence[Pool] = (), fixed: bool = True
) -> Problem:
    """
    Parse the problem in `text`.

    `pools` declares pools; those named only in the `pools` column follow, without a
    capacity. With `fixed=False` the `offset` column is ignored.
    """
    return problem_of(parse_table(text, file), pools, fixed)


def problem_of(table: Table, pools: Sequence[Pool] = (), fixed: bool = True) -> Problem:
    """Return the problem in a table; see `parse_problem`."""
    for name in _REQUIRED:
        if table.column(name) is None:
            titles = [title for title, meaning in _NAMES.items() if meaning == name]
            message = f"missing column '{titles[0]}'"
            if titles[1:]:
                message += f" (or {', '.join(titles[1:])})"
            raise CsvError(table.file, 1, message)
    inclusive = int(table.header[table.column("upper") or 0] == "end")
    wanted = (*_REQUIRED, "alignment", "gaps", "offset", "pools", "arms", "tie", "reads", "writes")
    index = {name: table.column(name) for name in wanted}
    if not fixed:
        index["offset"] = None
    extra = any(index[name] is not None for name in wanted[4:])
    i, lo, up, sz = (index[name] or 0 for name in _REQUIRED)
    buffers: list[Buffer] = []
    for cells, line in zip(table.rows, table.lines, strict=True):
        try:
            life = Interval(int(cells[lo]), int(cells[up]) + inclusive)
            size = int(cells[sz])
        except ValueError:
            for name in _REQUIRED[1:]:
                _integer(table, line, name, cells[index[name] or 0])
            raise
        buffer = Buffer(cells[i], life, size)
        if extra:
            buffer = _with_extras(table, line, cells, index, buffer, inclusive)
        buffers.append(buffer)
    names = [pool.name for pool in pools]
    for buffer in buffers:
        names += [name for name in buffer.pools if name not in names]
    known = {pool.name: pool for pool in pools}
    declared = tuple(known.get(name, Pool(name)) for name in names) or (Pool("arena"),)
    try:
        return Problem(buffers, declared)
    except ProblemError as error:
        line = table.lines[error.rows[-1]] if error.rows else 1
        message = error.message
        if len(error.rows) > 1:
            message += f" (see line {table.lines[error.rows[0]]})"
        raise CsvError(table.file, line, message) from None


def _shown(cell: str) -> str:
    """Quote a cell, cut off where it is too long for a message."""
    return f"'{cell}'" if len(cell) <= 60 else f"'{cell[:50]}…' ({len(cell)} characters)"


def _integer(table: Table, line: int, name: str, cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise CsvError(
            table.file, line, f"{name} must be an integer, but is {_shown(cell)}"
        ) from None


def _with_extras(
    table: Table,
    line: int,
    cells: tuple[str, ...],
    index: dict[str, int | None],
    buffer: Buffer,
    inclusive: int,
) -> Buffer:
    def cell(name: str) -> str:
        column = index[name]
        return "" if column is None else cells[column]

    alignment, offset = cell("alignment"), cell("offset")
    reads, writes = cell("reads"), cell("writes")
    arms: list[Arm] = []
    for word in cell("arms").split():
        branch, colon, arm = word.partition(":")
        if not (branch and colon and arm):
            raise CsvError(table.file, line, f"an arm must be 'branch:arm', but is {_shown(word)}")
        arms.append(Arm(branch, arm))
    return buffer._replace(
        alignment=_integer(table, line, "alignment", alignment) if alignment else 1,
        offset=_integer(table, line, "offset", offset) if offset else None,
        gaps=tuple(
            _gap(table, line, word, buffer.size, inclusive) for word in cell("gaps").split()
        ),
        pools=tuple(cell("pools").split()),
        arms=tuple(arms),
        tie=cell("tie") or None,
        reads=_integer(table, line, "reads", reads) if reads else 1,
        writes=_integer(table, line, "writes", writes) if writes else 1,
    )


def _gap(table: Table, line: int, word: str, size: int, inclusive: int) -> Gap:
    span, at, window = word.partition("@")
    # The separating dash is the first that does not start a negative number.
    dash = span.find("-", 1)
    try:
        start, stop = int(span[:dash]), int(span[dash + 1 :]) + inclusive
        low, high = (int(part) for part in window.split(":")) if at else (0, 0)
        if dash < 1:
            raise ValueError
    except ValueError:
        message = f"a gap must be 'from-to' or 'from-to@low:high', but is {_shown(word)}"
        raise CsvError(table.file, line, message) from None
    if not 0 <= low <= high <= size:
        message = f"a gap's window {low}:{high} is not within the buffer's {size} bytes"
        raise CsvError(table.file, line, message)
    return Gap(start, stop, high if high > low else 0)


def format_plan(table: Table, problem: Problem, plan: Plan) -> str:
    """Return the table's rows unchanged, with the plan's offsets (and pools, if several)."""
    keep = [
        i for i, title in enumerate(table.header) if _NAMES.get(title) not in ("offset", "pool")
    ]
    several = len(problem.pools) > 1
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(table.header[i] for i in keep), *(["pool"] if several else []), "offset"])
    names = [pool.name for pool in problem.pools]
    for cells, at, pool in zip(table.rows, plan.offsets, plan.pools, strict=True):
        where = [names[pool]] if several else []
        writer.writerow([*(cells[i] for i in keep), *where, at])
    return out.getvalue()


def plan_of(table: Table, problem: Problem) -> Plan:
    """
    Return the plan for `problem` in a table; rows are matched by id.

    Heights are computed from the rows; nothing else is checked here.
    """
    i, at, where = table.column("id"), table.column("offset"), table.column("pool")
    if i is None or at is None:
        raise CsvError(table.file, 1, f"missing column '{'id' if i is None else 'offset'}'")
    names = {pool.name: k for k, pool in enumerate(problem.pools)}
    known = {buffer.id: row for row, buffer in enumerate(problem.buffers)}
    places: dict[int, tuple[int, int]] = {}
    for cells, line in zip(table.rows, table.lines, strict=True):
        row = known.get(cells[i])
        if row is None:
            raise CsvError(table.file, line, f"unknown buffer '{cells[i]}'")
        if row in places:
            raise CsvError(table.file, line, f"duplicate buffer '{cells[i]}'")
        pool = cells[where] if where is not None else ""
        if pool and pool not in names:
            raise CsvError(table.file, line, f"unknown pool '{pool}'")
        offset = _integer(table, line, "offset", cells[at])
        places[row] = (offset, names[pool] if pool else 0)
    for buffer, row in zip(problem.buffers, range(len(problem.buffers)), strict=True):
        if row not in places:
            raise CsvError(table.file, 1, f"buffer '{buffer.id}' is missing")
    offsets = tuple(places[row][0] for row in range(len(places)))
    pools = tuple(places[row][1] for row in range(len(places)))
    heights = tuple(end for end, _ in ends(problem, offsets, pools))
    return Plan(offsets, pools, heights)
