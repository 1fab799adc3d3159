"""
How each pass rewrites: its patterns, what it rewrites by `rewrite_each`, and its analyses.

    fuse-ops    `rewrite_each`; pattern RemoveUnusedConstant, of `relay.constant`; analysis.fusion

Read from the code: what a pass uses is what its methods name, and what the functions and classes of
`passes/` and `lowering/` that these name do, and so on. A pattern of another pass is not followed.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from xrelay.dialects.xdsl_extras.trait_patterns import required_trait
from xrelay.dialects.xdsl_extras.xdsl_internals import expected_classes
from xrelay.passes.support.changes import CompositePass, InspectionPass
from xrelay.passes.support.rewriting import rewrite_each
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.testing.reference import code, page, paragraphs, table

ROOMS = ("xrelay.passes.", "xrelay.lowering.")
"""The packages whose functions and classes are followed."""

DRIVER = ("xrelay.passes.support.", "xrelay.passes.plan_check.")
"""Packages that are not analyses: infrastructure, and the checker, which shares none of them."""


@dataclass
class Uses:
    """The patterns, helpers and analyses that the code of a pass refers to."""

    patterns: dict[type[RewritePattern], None] = field(
        default_factory=dict[type[RewritePattern], None]
    )
    rewrites_each: bool = False
    is_composite: bool = False
    is_inspection: bool = False
    analyses: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def kind(self) -> str:
        """The way of rewriting; `a walk` of passes without patterns that change the IR."""
        if self.is_composite:
            return "other passes"
        if self.is_inspection:
            return "nothing: it only reads"
        ways = ["patterns"] if self.patterns else []
        ways += [code("rewrite_each")] if self.rewrites_each else []
        return " and ".join(ways) or "a walk"


def uses_of(cls: type[ModulePass]) -> Uses:
    """Return what a pass uses."""
    found = Uses(is_composite=issubclass(cls, CompositePass))
    found.is_inspection = issubclass(cls, InspectionPass)
    seen: set[object] = {cls, rewrite_each}
    pending: list[object] = [cls]
    while pending:
        for used in _named_in(pending.pop()):
            if used is rewrite_each:
                found.rewrites_each = True
            if not _is_followed(used) or used in seen:
                continue
            seen.add(used)
            if not inspect.isclass(used) or not issubclass(used, ModulePass):
                pending.append(used)
            if inspect.isclass(used) and issubclass(used, RewritePattern):
                found.patterns[used] = None
    for value in vars(import_module(cls.__module__)).values():
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
        if name.startswith(ROOMS[0]) and name.count(".") == 3 and not name.startswith(DRIVER):
            found.analyses[name.removeprefix(ROOMS[0])] = None
    return found


def _is_followed(used: object) -> bool:
    module = str(getattr(used, "__module__", None))
    if inspect.isclass(used) and issubclass(used, RewritePattern):
        return module.startswith("xrelay.")
    return (inspect.isclass(used) or inspect.isfunction(used)) and module.startswith(ROOMS)


def _named_in(used: object) -> Iterator[Any]:
    """Yield the functions and classes that the code of a function, or of a class, names."""
    if inspect.isclass(used):
        for base in used.__mro__:
            if str(base.__module__).startswith(ROOMS):
                for member in vars(base).values():
                    yield from _named_in(_function_in(member))
    elif isinstance(used, FunctionType):
        for closed in used.__closure__ or ():
            yield from _named_in(_function_in(closed.cell_contents))
        yield from _named_by(used.__code__, used.__globals__)


def _function_in(member: object) -> object:
    """Return the function of a method, static method or property; others are of no interest."""
    for name in ("__func__", "fget", "func"):
        member = getattr(member, name, member)
    return member if isinstance(member, FunctionType) else None


def _named_by(body: CodeType, globals: dict[str, Any]) -> Iterator[Any]:
    """Yield what code names, and the canonicalizations of ops that it drives."""
    modules: list[ModuleType] = []
    names = [*_names_in(body)]
    for name in names:
        value = globals.get(name)
        if value is None:
            value = next((vars(m)[name] for m in modules if name in vars(m)), None)
        if isinstance(value, ModuleType):
            modules.append(value)
        members = cast("Sequence[object]", value if isinstance(value, tuple) else (value,))
        for member in members:
            yield type(member) if isinstance(member, RewritePattern) else member
            if "get_canonicalization_patterns" in names and inspect.isclass(member):
                if issubclass(member, HasCanonicalizationPatternsInterface):
                    yield from map(type, member.get_canonicalization_patterns())


def _names_in(body: CodeType) -> Iterator[str]:
    yield from body.co_names
    for inner in body.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in(inner)


def matched(pattern: type[RewritePattern]) -> str:
    """Return what a pattern matches: ops of classes, or those that have a trait."""
    match: Callable[..., None] = pattern.match_and_rewrite
    if (trait := required_trait(match)) is not None:
        return f"ops with {code(trait.__name__)}"
    classes: Sequence[type[Operation]] = expected_classes(match) or ()
    return ", ".join(code(kind.name) for kind in classes) or "any op"


def structure_page() -> str:
    """List all passes by what they rewrite, and how."""
    rows: list[Sequence[str]] = []
    for name, make in UNIVERSE.all_passes.items():
        uses = uses_of(make())
        patterns = "; ".join(
            f"{code(p.__name__)} on {matched(p)}" for p in sorted(uses.patterns, key=_place)
        )
        rows.append((code(name), uses.kind, patterns, ", ".join(map(code, uses.analyses))))
    text = (
        "A pattern matches an op by what it is; `rewrite_each` rewrites ops that an analysis "
        "chose; a walk changes the IR by neither. The analyses are the modules of `passes/` that "
        "a pass imports, besides the driver. Written from the code of the passes."
    )
    columns = ("pass", "rewrites by", "patterns", "analyses")
    return page("How passes rewrite", [paragraphs(text, table(columns, rows) or "")])


def _place(pattern: type[RewritePattern]) -> tuple[str, int]:
    return pattern.__module__, inspect.unwrap(pattern.match_and_rewrite).__code__.co_firstlineno
