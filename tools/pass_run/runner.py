"""
Run the passes of a pipeline on a module, with verification, dumps, times and reproducers.

A reproducer is a file with the module before the pass that failed, and the remaining passes:

    // Written by xrelay-opt when it failed. To reproduce: xrelay-opt --run-reproducer FILE
    // pipeline: fuse-ops{level=3},outline-primitives
    // flags: --allow-unregistered-dialect
    "builtin.module"() ({ …
"""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException

from ...dialects.errors import TOO_DEEP
from ...operators.records import record
from ...passes.support.changes import CompositePass, InspectionPass, apply_pass
from ...passes.support.diagnostics import Message, OptionError, PassError, Severity
from ...passes.support.reached import Reached
from ...passes.support.verifier import VerifyError, verify
from ...runtime.errors import MachineError
from ..commands import describe
from ..messages import NO_MEMORY, SourceError, message_of
from ..progress import Progress, no_progress
from ..text.printing import PrintOptions, module_text
from .ir_dumps import Dumps, Timer
from .pipeline_steps import Step, pipeline_text

HEADING = (
    "// Written by xrelay-opt when it failed. To reproduce: xrelay-opt --run-reproducer FILE\n"
)
LINE = re.compile(r"// (pipeline|flags): ?(.*)")


@record
class Recipe:
    """The pipeline and the flags of a reproducer."""

    pipeline: str
    flags: tuple[str, ...]


def read_recipe(text: str) -> Recipe | None:
    """Parse the first lines of a reproducer; None if `text` is not one."""
    entries: dict[str, str] = {}
    for line in text.split("\n", 4)[:4]:
        match = LINE.match(line)
        if match is not None:
            entries[match[1]] = match[2].strip()
    if "pipeline" not in entries:
        return None
    return Recipe(entries["pipeline"], tuple(entries.get("flags", "").split()))


class InternalError(Exception):
    """An error in our code or a plug-in's; `reproducer` is the file, if one was written."""

    def __init__(self, during: str, error: BaseException):
        super().__init__(f"internal error {during}: {describe(error)}")
        self.reproducer: str | None = None


@dataclass
class Runner:
    """Runs pipelines; after a crash, a reproducer is written to `reproducer_path`."""

    steps: Sequence[Step] = ()
    verify_first: bool = True
    verify_each: bool = True
    dumps: Dumps = field(default_factory=Dumps)
    timer: Timer = field(default_factory=Timer)
    reproducer_path: str | None = None
    flags: Sequence[str] = ()
    """The flags that a reproducer must be run with."""
    progress: Progress = field(default_factory=no_progress)
    reached: Reached = field(default_factory=Reached)
    """The level of the module, which no pass is run before its own."""
    settled: list[ModulePass] = field(init=False, default_factory=list[ModulePass])
    """The passes that found nothing to change in the module as it is: they need not run again."""

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """
        Run all steps.

        Raises the diagnostic of a pass as it is, `VerifyError` with the name of the pass that
        left an invalid module, and `InternalError` for everything else.
        """
        try:
            self._run(ctx, module)
        finally:
            self.progress.clear()

    def _run(self, ctx: Context, module: ModuleOp) -> None:
        self.settled.clear()
        if self.verify_first:
            with self.timer.span("verify"):
                verify(module)
        for i, step in enumerate(self.steps):
            with ExitStack() as spans:
                for group in step.groups:
                    spans.enter_context(self.timer.span(f"pipeline '{group}'"))
                self._run_step(ctx, module, i)

    def _show(self, index: int, step: ModulePass) -> None:
        """Show which step begins, unless there is, or may be, other output."""
        if self.dumps.are_wanted or isinstance(step, InspectionPass):
            self.progress.clear()
        else:
            self.progress.show(f"pass {index + 1} of {len(self.steps)}: {step.name}")

    def _run_step(self, ctx: Context, module: ModuleOp, index: int) -> None:
        step = self.steps[index].run
        self._show(index, step)
        before = module.clone() if self.reproducer_path is not None else None
        try:
            changed = self._apply(ctx, module, step)
        except ShrinkException:
            raise
        except Exception as error:
            self.dumps.after_failed_pass(step.name, ctx, module)
            if isinstance(error, RecursionError):
                error = DiagnosticException(TOO_DEEP)
            if isinstance(error, MemoryError):
                error = DiagnosticException(NO_MEMORY)
            if isinstance(error, DiagnosticException | ParseError):
                self._write(ctx, before, index)
                fail = self.steps[index].fail
                if isinstance(error, OptionError) and fail is not None:
                    raise fail(error) from None
                raise _named(error, step.name)
            internal = InternalError(f"in pass '{step.name}'", error)
            internal.reproducer = self._write(ctx, before, index)
            raise internal from error
        if self.verify_each and changed:
            self._verify(ctx, module, before, index)
        self.dumps.after_pass(step, ctx, module)

    def _apply(self, ctx: Context, module: ModuleOp, step: ModulePass) -> bool:
        """
        Run one pass, of a composite one its steps; each is shown and timed by itself.

        Returns whether anything may have changed.
        """
        self.dumps.before_pass(step, ctx, module)
        with self.timer.span(step.name):
            if step in self.settled:
                return False
            if not self.reached.admits(step, module):
                return False
            if isinstance(step, CompositePass):
                changed = self._apply_steps(ctx, module, step)
            else:
                changed = apply_pass(step, ctx, module)
        self.reached.note(step, changed)
        if changed:
            self.settled.clear()
        elif not isinstance(step, InspectionPass | CompositePass):
            self.settled.append(step)
        return changed

    def _apply_steps(self, ctx: Context, module: ModuleOp, composite: CompositePass) -> bool:
        def run(part: ModulePass) -> bool:
            changed = self._apply(ctx, module, part)
            self.dumps.after_pass(part, ctx, module)
            return changed

        return composite.run_steps(ctx, module, run)

    def _verify(self, ctx: Context, module: ModuleOp, before: ModuleOp | None, index: int) -> None:
        name = self.steps[index].run.name
        try:
            with self.timer.span("verify"):
                verify(module)
        except VerifyError as error:
            self.dumps.after_failed_pass(name, ctx, module)
            self._write(ctx, before, index)
            error.message = f"verification failed after pass '{name}': {error.message}"
            raise
        except Exception as error:
            internal = InternalError(f"in the verifier after pass '{name}'", error)
            internal.reproducer = self._write(ctx, before, index)
            raise internal from error

    def _write(self, ctx: Context, module: ModuleOp | None, index: int) -> str | None:
        if module is None or self.reproducer_path is None:
            return None
        remaining = pipeline_text(self.steps[index:])
        # The generic form does not run the dialects' printers.
        options = PrintOptions(generic=True, aliases=self.dumps.options.aliases)
        return self.write_text(module_text(ctx, module, options), remaining)

    def write_text(self, text: str, pipeline: str | None = None) -> str | None:
        """Write a reproducer for `text` with `pipeline` (default: the whole one)."""
        from ...runtime.files import replace

        path = self.reproducer_path
        if path is None:
            return None
        if pipeline is None:
            pipeline = pipeline_text(self.steps)
        head = f"{HEADING}// pipeline: {pipeline}\n// flags: {' '.join(self.flags)}\n"
        try:
            replace(path, [head.encode(), text.encode()])
        except MachineError as error:
            return f"{path} ({error.message})"
        return path


def _named(error: Exception, pass_name: str) -> Exception:
    """Prefix `error` with the name of the pass if it has no place."""
    if isinstance(error, PassError | ParseError | SourceError):
        if not isinstance(error, PassError) or error.location is not None:
            return error
    message = message_of(error)
    if message is None or message[0].location is not None:
        return error
    text = f"pass '{pass_name}' failed: {message[0].message}"
    named = SourceError(Message(Severity.ERROR, text, None, message[0].notes))
    named.__cause__ = error
    return named
