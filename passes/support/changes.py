"""
The bases of passes. After one that reports that it changed nothing, the module is still valid.

    simplify-inference        changed a batch norm           verify
    fold-constants            found nothing to fold
    dynamic-to-static         found no sizes
    plan-devices              does not report                verify
    verify-stage              only looks at the module

A pipeline does not run a pass that found nothing to change again before another changes something.
A composite pass is a fixed sequence of others, with options in common.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.xdsl_extras.identity import forget_attributes
from .levels import Level


@dataclass(frozen=True)
class LevelPass(ModulePass):
    """A pass that says from which level on it accepts a program, as all of ours do."""

    accepts: ClassVar[Level]


@dataclass(frozen=True)
class ReportingPass(LevelPass, ABC):
    """A pass that reports whether it changed anything."""

    @abstractmethod
    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Run the pass; return False only if `op` is unchanged, as `apply_patterns` does."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_pass(self, ctx, op)


@dataclass(frozen=True)
class InspectionPass(ReportingPass, ABC):
    """A pass that only looks at the module, to check it or to print something."""

    @abstractmethod
    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass, which leaves `op` unchanged."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        self.inspect(ctx, op)
        return False


def apply_pass(step: ModulePass, ctx: Context, module: ModuleOp) -> bool:
    """Run `step`; return False if it reports that it changed nothing."""
    forget_attributes()
    if isinstance(step, ReportingPass):
        return step.change(ctx, module)
    step.apply(ctx, module)
    return True


@dataclass(frozen=True)
class CompositePass(LevelPass, ABC):
    """
    Runs its `steps`, one after the other.

    `xrelay-opt` shows and times each step by itself; other drivers see one pass.
    """

    @abstractmethod
    def steps(self) -> Sequence[ModulePass]:
        """Return the passes to run, in order."""

    def run_steps(self, ctx: Context, op: ModuleOp, run: Callable[[ModulePass], bool]) -> bool:
        """Run each step by `run`, which returns whether it may have changed `op`; return that."""
        return any([run(step) for step in self.steps()])

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.run_steps(ctx, op, lambda step: apply_pass(step, ctx, op))
