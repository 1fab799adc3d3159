"""
The level that a module has reached, which a driver tests before it runs a pass.

    error: relay.add is not in a kernel: run fuse-ops, outline-primitives first

A pass would leave ops of an earlier level as they are, silently. So `Reached.admits` applies the
rules of `verify-stage` on ops, those that no pass of ours breaks: a module that met them before a
pass does so after it. Rules on types are left to `verify-stage`. What has reached one of the three
ends is left unchanged by the passes on the way.
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .changes import InspectionPass
from .diagnostics import PassError
from .levels import ENDS, Stage, end_after, level_of, path_to


@dataclass
class Reached:
    """The facts about the level of a module that are known, as passes run."""

    module: ModuleOp | None = None
    stage: Stage = "relay"
    """A level whose rules on ops it meets."""
    is_before_ends: bool = False
    """True if it is known to be at none of `ENDS`."""

    def admits(self, step: ModulePass, module: ModuleOp) -> bool:
        """
        Test whether `step` is to run: not if `module` is at an end that lies behind it.

        Raises a `PassError` at the first op of a level before the one that `step` accepts, or of
        one from which nothing leads to it. What is known of `module` is not tested again.
        """
        if self.module is not module:
            self.module, self.stage, self.is_before_ends = module, "relay", False
        level = level_of(step)
        if level is None or level == "every" or (level in ENDS and level == self.stage):
            return True
        if not self.is_before_ends and not isinstance(step, InspectionPass):
            from .stage_rules import end_of

            end = end_of(module)
            self.is_before_ends = end is None
            if end is not None and end.stage != level:
                goal = end_after(step)
                if goal is None or goal == end.stage:
                    return False
                message = f"{end.op.name} is of level {end.stage}, which does not lead to {goal}"
                raise PassError(message, end.op)
            if end is not None:
                self.stage = end.stage
        if level not in path_to(self.stage):
            from .stage_rules import require_no_earlier

            require_no_earlier(module, level)
            self.stage = level
        return True

    def note(self, step: ModulePass, changed: bool) -> None:
        """Note what is known after `step`."""
        verified: Stage | None = getattr(step, "verifies", None)
        if verified is not None:
            self.stage = verified
        elif changed and level_of(step) is None:  # it may have made any op
            self.stage, self.is_before_ends = "relay", False
        elif changed and end_after(step) is not None:
            self.is_before_ends = False
