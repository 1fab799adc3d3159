"""
Checks of all plans that are made while tests run, whatever a test looks at.

`solve` and `choose` have their plans checked by `planning.check`, `layout-slices` its module by
`verify-memory-plan`. `install` replaces them, so it must run before anything imports them by name.
Lit tests, whose programs may be wrong on purpose, are `unverified`.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from importlib import import_module
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay import planning
from xrelay.planning import Fault, Plan, Problem, check, unknown_sizes
from xrelay.planning.unknown_sizes import Choice, Orientation


def checked_solve(problem: Problem, *args: Any, **options: Any) -> Any:
    """Solve, and check the plan."""
    answer = _solve(problem, *args, **options)
    if isinstance(answer, Plan):
        faults = check(problem, answer)
        assert not faults, f"a plan has faults: {faults[:3]}"
    return answer


def checked_choose(problems: Sequence[Problem], *args: Any, **options: Any) -> Choice:
    """Choose orientations, and check the plans of each at the samples."""
    choice = _choose(problems, *args, **options)
    for orientation in choice.orientations:
        for problem in problems:
            faults = faults_at(orientation, problem)
            assert not faults, f"an orientation has faults: {faults[:3]}"
    return choice


def faults_at(orientation: Orientation, problem: Problem) -> list[Fault]:
    """Return the faults of the offsets that an order has at the sizes of `problem`."""
    offsets = orientation.offsets([buffer.size for buffer in problem.buffers])
    plan = Plan(tuple(offsets), (0,) * len(offsets), (0,))
    return [fault for fault in check(unlimited(problem), plan) if fault.rule != "height"]


def unlimited(problem: Problem) -> Problem:
    """Return `problem` without the capacities of its pools, which an orientation ignores."""
    return replace(problem, pools=tuple(pool._replace(capacity=None) for pool in problem.pools))


_solve = planning.solve
_choose = unknown_sizes.choose
_unverified: list[bool] = []


@contextmanager
def unverified() -> Generator[None]:
    """Leave `layout-slices` as it is."""
    _unverified.append(True)
    try:
        yield
    finally:
        _unverified.pop()


def install() -> None:
    """Let everything that is imported after this use what checks."""
    wraps(_solve)(checked_solve)
    wraps(_choose)(checked_choose)
    package, rooms = cast(Any, planning), cast(Any, unknown_sizes)
    choice = cast(Any, import_module("xrelay.planning.unknown_sizes.choice"))
    package.solve = choice.solve = checked_solve
    rooms.choose = choice.choose = checked_choose
    from xrelay.passes.layout_slices import LayoutSlicesPass
    from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass

    lay_out = LayoutSlicesPass.apply

    def verified(self: LayoutSlicesPass, ctx: Context, op: ModuleOp) -> None:
        lay_out(self, ctx, op)
        if not _unverified:
            VerifyMemoryPlanPass().apply(ctx, op)

    LayoutSlicesPass.apply = verified
