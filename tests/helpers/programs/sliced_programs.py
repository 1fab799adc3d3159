"""Random programs of nested slices, splits and joins, with kernels between them."""

from dataclasses import dataclass, field
from random import Random


@dataclass
class SlicedProgram:
    """
    The text of a function of `%x: tensor<8x4xf32>`, or of a tensor of `n` rows, and a matrix.

    Values are tensors of rows; `None` is a number of rows that is known when the program runs.
    """

    rng: Random
    is_open: bool
    lines: list[str] = field(default_factory=list[str])
    values: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, int | None]])
    computed: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, int | None]])
    """The values that are not slices."""

    def __post_init__(self) -> None:
        self.values.append(("%x", None if self.is_open else 8))
        for _ in range(self.rng.randrange(3, 10)):
            self.rng.choice((self.slice, self.join, self.split, self.kernel))()
            self.kernel(recent=True)
        results = self.rng.sample(self.computed, min(3, len(self.computed)))
        results += self.rng.sample(self.values[1:], self.rng.randrange(2))
        types = ", ".join(self.type(rows) for _, rows in results)
        names = ", ".join(name for name, _ in results)
        dims = ' {relay.dims = ["n", 4]}' if self.is_open else ""
        self.text = "\n".join(
            (
                f"func.func @main(%x: {self.type(self.values[0][1])}{dims}, %w: tensor<4x4xf32>)"
                f" -> ({types}) {{",
                *self.lines,
                f"  func.return {names} : {types}",
                "}",
            )
        )

    def type(self, rows: int | None) -> str:
        return f"tensor<{'?' if rows is None else rows}x4xf32>"

    def add(self, text: str, rows: int | None) -> str:
        """Add an op; return the name of its result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        self.values.append((name, rows))
        return name

    def slice(self) -> None:
        name, rows = self.rng.choice(self.values)
        start, size = self.rng.randrange(4), self.rng.randrange(1, 5)
        if rows is None:
            after = None
        else:
            start, size = min(start, rows), min(size, rows - min(start, rows))
            after = size
        attributes = f"{{begin = array<i64: {start}>, end = array<i64: {start + size}>}}"
        types = f"({self.type(rows)}) -> {self.type(after)}"
        self.add(f"relay.strided_slice {name} {attributes} : {types}", after)

    def join(self) -> None:
        """Add a concatenation of rows, mostly of values that kernels compute."""
        pool = self.computed if self.computed and self.rng.random() < 0.8 else self.values
        parts = [self.rng.choice(pool) for _ in range(self.rng.randrange(1, 4))]
        known = [rows for _, rows in parts if rows is not None]
        rows = sum(known) if len(known) == len(parts) else None
        if rows is not None and rows > 64:
            return
        names = ", ".join(name for name, _ in parts)
        types = ", ".join(self.type(size) for _, size in parts)
        text = f"relay.concatenate {names} {{axis = 0 : i64}} : ({types}) -> {self.type(rows)}"
        self.computed.append((self.add(text, rows), rows))

    def split(self) -> None:
        name, rows = self.rng.choice(self.values)
        if not rows or rows % 2:
            return self.kernel()
        part, both = self.type(rows // 2), f"%v{len(self.lines)}"
        call = f"relay.split {name} {{indices_or_sections = 2 : i64}}"
        self.lines.append(f"  {both}:2 = {call} : ({self.type(rows)}) -> ({part}, {part})")
        self.values += [(f"{both}#{i}", rows // 2) for i in range(2)]
        return None

    def kernel(self, recent: bool = False) -> None:
        """Add a kernel of a value, or of one of the last two; most are not fused with a slice."""
        name, rows = self.rng.choice(self.values[-2:] if recent else self.values)
        type = self.type(rows)
        operator = self.rng.choice(("relay.exp", "relay.nn.softmax", "relay.nn.dense"))
        weights = ", %w", ", tensor<4x4xf32>"
        operand, more = weights if operator == "relay.nn.dense" else ("", "")
        name = self.add(f"{operator} {name}{operand} : ({type}{more}) -> {type}", rows)
        self.computed.append((name, rows))
