"""
Dumps of the module, `--print-ir-before/after[-all|-change|-failure]`, under the headings of
mlir-opt, or each in a file of `--print-ir-tree-dir`, and the tree of times of `--timing`.

    // -----// IR Dump After canonicalize //----- //
    FOLDER/07_canonicalize.mlir
"""

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...passes.support.changes import CompositePass
from ...runtime.files import writing
from ..text.printing import PrintOptions, module_text


@dataclass
class Dumps:
    """The passes around which the module is printed."""

    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    """Print after a pass only if the text of the module changed."""
    after_failure: bool = False
    tree: Path | None = None
    """The folder for a file after each pass."""
    options: PrintOptions = field(default_factory=PrintOptions)
    written: int = field(default=0, init=False)
    """The number of files in that folder."""
    seen: dict[str, str] = field(default_factory=dict[str, str], init=False)
    """The text before each pass that is running, when changes matter."""

    @property
    def are_wanted(self) -> bool:
        """True if a module may be printed."""
        every = self.before_all or self.after_all or self.after_change or self.after_failure
        return every or bool(self.before or self.after)

    def before_pass(self, step: ModulePass, ctx: Context, module: ModuleOp) -> None:
        """Show the module right before `step` runs; a composite pass only if it is named."""
        if self.after_change:
            self.seen[step.name] = module_text(ctx, module, self.options)
        if step.name in self.before or (self.before_all and not isinstance(step, CompositePass)):
            self._dump(f"Before {step.name}", ctx, module)

    def after_pass(self, step: ModulePass, ctx: Context, module: ModuleOp) -> None:
        """Show the module when `step` has succeeded; a composite pass only if it is named."""
        if self.tree is not None and not isinstance(step, CompositePass):
            self.written += 1
            path = self.tree / f"{self.written:02}_{step.name}.mlir"
            with writing(path):
                self.tree.mkdir(parents=True, exist_ok=True)
                path.write_text(module_text(ctx, module, self.options), encoding="utf-8")
        shows_all = self.after_all or (self.after_change and not self.after)
        wanted = shows_all and not isinstance(step, CompositePass)
        if not (wanted or step.name in self.after):
            return
        if self.after_change and module_text(ctx, module, self.options) == self.seen[step.name]:
            return
        self._dump(f"After {step.name}", ctx, module)

    def after_failed_pass(self, name: str, ctx: Context, module: ModuleOp) -> None:
        """Called when the pass `name` has failed, with the module as it left it."""
        if self.after_failure:
            self._dump(f"After {name} Failed", ctx, module)

    def _dump(self, when: str, ctx: Context, module: ModuleOp) -> None:
        print(f"// -----// IR Dump {when} //----- //", file=sys.stderr)
        print(module_text(ctx, module, self.options), file=sys.stderr)


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
