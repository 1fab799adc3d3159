"""The targets `memory-plan-svg` and `memory-plan-html` of `xrelay-opt -t`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...passes.memory_report.columns import source_of
from ...passes.memory_report.model import MemoryUse
from ...passes.memory_report.read import read_memory
from ...passes.report_memory import check_dims
from ...passes.support.keyed_options import parse_keyed
from ...runtime.calls.input_bindings import parse_dim
from ..pass_run.pipeline import EXPANDS
from .page import page
from .program_panels import left_out, views_of
from .svg import document


@dataclass(frozen=True)
class PlanPictures:
    """Draws the memory plan of a program, of this name."""

    use: MemoryUse
    title: str = ""

    def svg(self, dims: Mapping[str, int] | None = None) -> str:
        """Return a picture for these values of dims."""
        check_dims(self.use, dims := dims or {})
        return document([view.panel for view in views_of(self.use, dims)], left_out(self.use))

    def html(self, dims: Mapping[str, int] | None = None) -> str:
        """Return a page with a slider for each dim."""
        check_dims(self.use, dims := dims or {})
        return page(self.use, dims, self.title)


@dataclass(frozen=True)
class _MemoryPlanTarget(Target):
    """Shows the memory of a module at level `manifest` or `memory-planned`."""

    reads_before: ClassVar[str] = EXPANDS
    """The pass before which the driver stops."""

    pipeline: ClassVar[str] = "vm"
    """The pipeline to run if none is given."""

    dims: tuple[str, ...] = ()
    """The values of dims, like `n=3`."""

    @property
    def values(self) -> Mapping[str, int]:
        return parse_keyed(self.dims, parse_dim, "dims")


@dataclass(frozen=True)
class MemoryPlanSvgTarget(_MemoryPlanTarget):
    """Draws the memory plan of a module as SVG, for values of its dims."""

    name: ClassVar[str] = "memory-plan-svg"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(PlanPictures(read_memory(module)).svg(self.values))


@dataclass(frozen=True)
class MemoryPlanHtmlTarget(_MemoryPlanTarget):
    """Writes a page about the memory plan of a module, with sliders for its dims."""

    name: ClassVar[str] = "memory-plan-html"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        source = source_of(module)
        title = "" if source is None else source.file
        output.write(PlanPictures(read_memory(module), title).html(self.values))
