"""
Print the module between passes: `--print-ir-before/after[-all|-change|-failure]`.

Dumps are written to stderr, under the headings of mlir-opt:

    // -----// IR Dump After canonicalize //----- //
"""

import sys
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from .printing import PrintOptions, module_text


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
    seen: str = field(default="", init=False)
    """The text before the pass, with `after_change`."""

    def before_pass(self, name: str, ctx: Context, module: ModuleOp) -> None:
        """Called right before the pass `name` runs."""
        if self.after_change:
            self.seen = module_text(ctx, module, self.options)
        if self.before_all or name in self.before:
            self._dump(f"Before {name}", ctx, module)

    def after_pass(self, name: str, ctx: Context, module: ModuleOp) -> None:
        """Called when the pass `name` has succeeded."""
        if self.after_change and (self.after_all or not self.after):
            wanted = True
        else:
            wanted = self.after_all or name in self.after
        if not wanted:
            return
        if self.after_change and module_text(ctx, module, self.options) == self.seen:
            return
        self._dump(f"After {name}", ctx, module)

    def after_failed_pass(self, name: str, ctx: Context, module: ModuleOp) -> None:
        """Called when the pass `name` has failed, with the module as it left it."""
        if self.after_failure:
            self._dump(f"After {name} Failed", ctx, module)

    def _dump(self, when: str, ctx: Context, module: ModuleOp) -> None:
        print(f"// -----// IR Dump {when} //----- //", file=sys.stderr)
        print(module_text(ctx, module, self.options), file=sys.stderr)
