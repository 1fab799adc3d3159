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
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...operators.records import record
from ..calls.values import plain_value
from ..errors import MachineError
from ..machine.context import Context
from ..machine.paths import Decision
from ..observe.counters import Counters

if TYPE_CHECKING:
    from .bound import Bound
    from .template import Template

MAX_TEMPLATES = 16
"""Number of templates of a function; the one that was used least recently is dropped."""
FIRST, RUNS_FOR_ANOTHER = 8, 8
"""Number of templates that a function gets at once, and of their runs for each later one."""
MAX_SEEN = 1 << 12
"""Number of shapes that are recorded when they come again."""
MAX_FAILURES = 4
"""Number of paths without a template after which a function gets no more."""


@record
class Executed:
    """The counters of a call of a template, until they are read."""

    template: Template
    sizes: Sequence[int]

    def counters(self) -> Counters:
        return self.template.counters(self.sizes)


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
    _seen: set[object] = field(default_factory=set[object])
    """Shapes that ran templates with kernels to bind: recorded when they come again."""
    _traced: dict[int, int] = field(default_factory=dict[int, int])
    _lock: Lock = field(default_factory=Lock)

    def learn(self, index: int, args: Sequence[Any], decisions: Sequence[Decision]) -> None:
        """Make a template of the path that was just recorded for `args`, if it may be worth it."""
        with self._lock:
            failures = self.failures.setdefault(index, [])
            try:
                shapes = index, _shapes(args)
            except RecursionError:
                return
            path = shapes, tuple(decisions)
            if self._first.setdefault(index, path) == path or shapes in self._seen:
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
        self,
        bind: Callable[[Template], Bound],
        index: int,
        args: Sequence[object],
        limit: float,
    ) -> tuple[Bound, Any] | None:
        """
        Run a template of function `index`; return None if the call must be recorded.

        Otherwise returns what ran, and its result and sizes. `bind` binds a template to memory. A
        path has at most `limit` instructions.
        """
        templates = self.by_function[index]
        if not all(type(arg) is np.ndarray for arg in args):
            try:
                args = [*map(plain_value, args)]
            except (MachineError, RecursionError):
                return None
        shapes = (index, _shapes(args)) if any(t.opaque for t in templates) else None
        if shapes in self._seen:
            return None
        for number, template in enumerate(templates):
            if template.length > limit:
                continue
            try:
                bound = bind(template)
                result = bound.run(args)
            except Exception:  # recorded, it fails with its position
                bound = result = None
            if bound is None or result is None:
                for observer in self.context.observers:
                    observer.starts_over()
                continue
            if template.opaque and len(self._seen) < MAX_SEEN:
                self._seen.add(shapes)
            self.runs[index] = self.runs.get(index, 0) + 1
            if number:
                others = [other for other in templates if other is not template]
                self.by_function[index] = [template, *others]
            return bound, result
        return None
