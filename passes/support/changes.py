"""
Passes that report whether they changed the module: after one that did not, it is still valid.

    simplify-inference        changed a batch norm           verify
    fold-constants            found nothing to fold
    dynamic-to-static         found no sizes
    plan-devices              does not report                verify
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class ReportingPass(ModulePass, ABC):
    """A pass that reports whether it changed anything."""

    @abstractmethod
    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Run the pass; return False only if `op` is unchanged, as `apply_patterns` does."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.change(ctx, op)


def apply_pass(step: ModulePass, ctx: Context, module: ModuleOp) -> bool:
    """Run `step`; return False if it reports, or declares, that it changed nothing."""
    if isinstance(step, ReportingPass):
        return step.change(ctx, module)
    step.apply(ctx, module)
    return not getattr(step, "changes_nothing", False)
