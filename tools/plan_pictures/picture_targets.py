"""The targets `memory-plan-svg` and `memory-plan-html` of `xrelay-opt -t`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...passes.memory_report.model import MemoryUse
from ...passes.memory_report.read import read_memory, source_of
from ...passes.report_memory import check_dims
from ...passes.support.keyed_options import parse_keyed
from ...runtime.calls.input_bindings import parse_dim
from ..pass_run.pipeline import EXPANDS
from .page import page
from .program_panels import left_out, views_of
from .svg import document


@dataclass(frozen=True)
class _MemoryPlanTarget(Target):
    """Shows the memory of a module at level `manifest` or `memory-planned`."""

    reads_before: ClassVar[str] = EXPANDS
    """The pass before which the driver stops."""

    pipeline: ClassVar[str] = "vm"
    """The pipeline to run if none is given."""

    dims: tuple[str, ...] = ()
    """The values of dims, like `n=3`."""

    def read(self, module: ModuleOp) -> tuple[MemoryUse, dict[str, int]]:
        dims = parse_keyed(self.dims, parse_dim, "dims")
        use = read_memory(module)
        check_dims(use, dims)
        return use, dims


@dataclass(frozen=True)
class MemoryPlanSvgTarget(_MemoryPlanTarget):
    """Draws the memory plan of a module as SVG, for values of its dims."""

    name: ClassVar[str] = "memory-plan-svg"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        use, dims = self.read(module)
        output.write(document([view.panel for view in views_of(use, dims)], left_out(use)))


@dataclass(frozen=True)
class MemoryPlanHtmlTarget(_MemoryPlanTarget):
    """Writes a page about the memory plan of a module, with sliders for its dims."""

    name: ClassVar[str] = "memory-plan-html"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        use, dims = self.read(module)
        source = source_of(module)
        output.write(page(use, dims, "" if source is None else source.file))
