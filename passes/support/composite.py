"""Passes that are a fixed sequence of other passes, with options in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .changes import apply_pass


@dataclass(frozen=True)
class CompositePass(ModulePass, ABC):
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
