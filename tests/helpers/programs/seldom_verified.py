"""
Verification between passes, after one pass in four and the last one.

After each pass it took a seventh of the time of the tests, most of which compile programs by the
same passes. Golden tests, and all tests with `XRELAY_ROUNDS=4`, have the module verified after
each pass that changed it. Which passes it is depends on the program; it is the same in each run.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from helpers.programs.random_settings import ROUNDS
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.tools.pass_run.runner import Runner

OF = 4
_each: list[bool] = [True] if ROUNDS >= 4 else []


@contextmanager
def verified_after_each_pass() -> Generator[None]:
    """Verify as users do."""
    _each.append(True)
    try:
        yield
    finally:
        _each.pop()


def install() -> None:
    """Let runs of passes verify seldom."""
    runner = cast(Any, Runner)
    verify = runner._verify

    def seldom(
        self: Runner, ctx: Context, module: ModuleOp, before: ModuleOp | None, index: int
    ) -> None:
        left = len(self.steps) - 1 - index
        if _each or left == 0 or (left + len(list(module.ops))) % OF == 0:
            verify(self, ctx, module, before, index)

    runner._verify = seldom
