"""
Print the module between passes: `--print-ir-before/after[-all|-change|-failure]`.

Dumps are written to stderr, under the headings of mlir-opt:

    // -----// IR Dump After canonicalize //----- //
"""

import sys
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...passes.support.composite import CompositePass
from ..text.printing import PrintOptions, module_text


@dataclass
class Dumps:
    """The passes around which the module is printed."""

    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    """Print after a pass only if the text of the module changed."""
    after_failure: bool = False
    options: PrintOptions = field(default_factory=PrintOptions)
    seen: dict[str, str] = field(default_factory=dict[str, str], init=False)
    """The text before each pass that is running, when changes matter."""

    @property
    def are_wanted(self) -> bool:
        """True if a module may be printed."""
        every = self.before_all or self.after_all or self.after_change or self.after_failure
        return every or bool(self.before or self.after)

    def before_pass(self, step: ModulePass, ctx: Context, module: ModuleOp) -> None:
        """Show the module right before `step` runs; a composite pass only if it is named."""
        if self.after_change:
            self.seen[step.name] = module_text(ctx, module, self.options)
        if step.name in self.before or (self.before_all and not isinstance(step, CompositePass)):
            self._dump(f"Before {step.name}", ctx, module)

    def after_pass(self, step: ModulePass, ctx: Context, module: ModuleOp) -> None:
        """Show the module when `step` has succeeded; a composite pass only if it is named."""
        shows_all = self.after_all or (self.after_change and not self.after)
        wanted = shows_all and not isinstance(step, CompositePass)
        if not (wanted or step.name in self.after):
            return
        if self.after_change and module_text(ctx, module, self.options) == self.seen[step.name]:
            return
        self._dump(f"After {step.name}", ctx, module)

    def after_failed_pass(self, name: str, ctx: Context, module: ModuleOp) -> None:
        """Called when the pass `name` has failed, with the module as it left it."""
        if self.after_failure:
            self._dump(f"After {name} Failed", ctx, module)

    def _dump(self, when: str, ctx: Context, module: ModuleOp) -> None:
        print(f"// -----// IR Dump {when} //----- //", file=sys.stderr)
        print(module_text(ctx, module, self.options), file=sys.stderr)
