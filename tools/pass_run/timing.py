"""
A tree of named time spans, printed as mlir-opt prints it.

    with timer.span("parse"): …
    with timer.span("pipeline 'vm'"), timer.span("infer-types"): …
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class Span:
    """One row: wall time in seconds, and the rows that it consists of."""

    name: str
    seconds: float = 0.0
    parts: "list[Span]" = field(default_factory=list["Span"])

    def part(self, name: str) -> "Span":
        """Return the last part if it has this name, else a new one."""
        if not self.parts or self.parts[-1].name != name:
            self.parts.append(Span(name))
        return self.parts[-1]


@dataclass
class Timer:
    """Measures nested spans; consecutive spans of the same name are added up."""

    root: Span = field(default_factory=lambda: Span("total"))
    open: list[Span] = field(default_factory=list[Span])

    @contextmanager
    def span(self, name: str) -> Generator[None]:
        """Add the time in the `with` block to the row `name`."""
        span = (self.open[-1] if self.open else self.root).part(name)
        self.open.append(span)
        start = time.perf_counter()
        try:
            yield
        finally:
            span.seconds += time.perf_counter() - start
            self.open.pop()

    def print(self, stream: TextIO) -> None:
        """Write the tree with seconds and percentages of the total."""
        total = sum(part.seconds for part in self.root.parts)
        rule = f"===-{'-' * 73}-==="
        print(rule, file=stream)
        print(f"{'... Execution time report ...':^{len(rule)}}".rstrip(), file=stream)
        print(rule, file=stream)
        print(f"  Total Execution Time: {total:.4f} seconds\n", file=stream)
        print("  ----Wall Time----  ----Name----", file=stream)
        for span in self.root.parts:
            _print_rows(span, total, 0, stream)
        print(f"  {total:9.4f} (100.0%)  Total", file=stream)


def _print_rows(span: Span, total: float, depth: int, stream: TextIO) -> None:
    share = 100 * span.seconds / total if total else 100.0
    row = f"  {span.seconds:9.4f} ({share:5.1f}%)  {'  ' * depth}{span.name}"
    print(row, file=stream)
    for part in span.parts:
        _print_rows(part, total, depth + 1, stream)
