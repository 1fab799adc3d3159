"""Passes that are a fixed sequence of other passes, with options in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class CompositePass(ModulePass, ABC):
    """
    Runs its `steps`, one after the other.

    `xrelay-opt` shows and times each step by itself; other drivers see one pass.
    """

    @abstractmethod
    def steps(self) -> Sequence[ModulePass]:
        """Return the passes to run, in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for step in self.steps():
            step.apply(ctx, op)
