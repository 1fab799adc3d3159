"""
The templates of a machine.

A function gets a template when a second call with other sizes or decisions was recorded. A call
with new sizes tries them, the one that fitted last first; where no guards hold, it is recorded, and
gets a template, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..calls.values import Value, plain_value
from ..errors import MachineError
from ..machine.context import Context
from ..machine.execution import MAX_DEPTH, Running
from ..machine.paths import Decision
from .bound import Bound

if TYPE_CHECKING:
    from .template import Template

MAX_TEMPLATES = 16
"""Number of templates of a function; the one that was used least recently is dropped."""
FIRST, RUNS_FOR_ANOTHER = 8, 8
"""Number of templates that a function gets at once, and of their runs for each later one."""
MAX_FAILURES = 4
"""Number of paths without a template after which a function gets no more."""


class Pending(NamedTuple):
    """A call that must be recorded; `jumps` if it runs in place of another."""

    function: int
    args: Sequence[Any]
    jumps: bool = False


def _shapes(item: Any) -> object:
    """Return the shapes of the arrays in `item`, which may be data."""
    if isinstance(item, tuple | list):
        fields = cast(Sequence[Any], item)
        return getattr(fields, "tag", 0), *map(_shapes, fields)
    return getattr(item, "shape", None)


@dataclass(eq=False)
class Templates:
    """The templates of a machine, by function; thread-safe."""

    context: Context
    by_function: dict[int, list[Template]] = field(default_factory=dict[int, "list[Template]"])
    failures: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """The reasons why paths of a function have no template."""
    runs: dict[int, int] = field(default_factory=dict[int, int])
    """The number of calls of a function that templates ran."""
    _first: dict[int, object] = field(default_factory=dict[int, object])
    """The shapes and decisions of the first recorded call of a function."""
    _last: dict[int, object] = field(default_factory=dict[int, object])
    """The shapes of the last call whose template had kernels to bind: the next one is recorded."""
    _traced: dict[int, int] = field(default_factory=dict[int, int])
    _lock: Lock = field(default_factory=Lock)

    def learn(self, call: Pending, decisions: Sequence[Decision], jumps: bool) -> None:
        """
        Make a template of the path that was just recorded for `call`, if it may be worth it.

        It is for turns of loops: paths that a tail call leads to, or that end with one, `jumps`.
        """
        index, args = call.function, call.args
        with self._lock:
            failures = self.failures.setdefault(index, [])
            try:
                shapes = _shapes(args)
            except RecursionError:
                return
            path = shapes, tuple(decisions)
            is_first = self._first.setdefault(index, path) == path
            if (is_first and not (jumps or call.jumps)) or self._last.get(index) == shapes:
                return
            if len(failures) >= MAX_FAILURES:
                return
            traced = self._traced.get(index, 0)
            if traced >= FIRST + self.runs.get(index, 0) // RUNS_FOR_ANOTHER:
                return
            self._traced[index] = traced + 1
            from .template import template_of  # most programs need none

            observers = self.context.observers
            for observer in observers:
                observer.prepares(self.context.program.functions[index].name)
            try:
                traced_path = template_of(self.context, index, [*map(plain_value, args)], decisions)
            except Exception as error:  # a path that cannot be traced is recorded
                failures.append(f"{type(error).__name__}: {error}")
                return
            finally:
                for observer in observers:
                    observer.prepared()
            templates = self.by_function.get(index, [])
            if all(template.source != traced_path.source for template in templates):
                self.by_function[index] = [traced_path, *templates[: MAX_TEMPLATES - 1]]

    def again(self, context: Context) -> Templates:
        """Return templates of the same paths as the observers of `context` see them."""
        copies = Templates(context)
        for index, templates in self.by_function.items():
            copies.by_function[index] = [template.again(context) for template in templates]
        return copies

    def run(
        self, bind: Callable[[Template], Bound], call: Pending, running: Running
    ) -> Value | Pending:
        """
        Run templates for `call`, and for calls in its place, until one returns.

        Otherwise returns the call that must be recorded. `bind` binds a template to memory.
        """
        index, args, jumps = call
        observers = self.context.observers
        while templates := self.by_function.get(index):
            for arg in args:
                if type(arg) is not np.ndarray:
                    try:
                        args = [*map(plain_value, args)]
                    except (MachineError, RecursionError):
                        return call
                    break
            for number, template in enumerate(templates):
                if template.length > running.left:
                    continue
                if template.loops and running.depth >= MAX_DEPTH:
                    continue
                if template.opaque and self._last.get(index) == _shapes(args):
                    return Pending(index, args, jumps)
                for observer in observers:
                    observer.tries()
                bound = bind(template)
                before = (running.left, [*running.executed]) if template.loops else None
                try:
                    result = bound.run(running, args)
                except Exception:  # recorded, it fails with its position
                    result = None
                if result is not None:
                    break
                if before is not None:  # what its loops have executed is executed again
                    running.left, running.executed = before
                for observer in observers:
                    observer.starts_over()
            else:
                break
            value, sizes = result
            running.note(template, template.length, sizes)
            self.runs[index] = self.runs.get(index, 0) + 1
            if template.opaque:
                self._last[index] = _shapes(args)
            if number:
                others = [other for other in templates if other is not template]
                self.by_function[index] = [template, *others]
            if template.jumps is None:
                running.devices = template.devices
                return value
            if template.jumps == index and not observers:
                value = bound.turns(value, running)
            index, args, jumps = template.jumps, value, True
        return Pending(index, args, jumps)
