"""
Report the memory that a program uses, to stderr; the program stays as it is.

    memory of @main on cpu:0
      sum of tensors     11,686,112 B  11.1 MiB  31 tensors
      lower bound         3,928,576 B   3.7 MiB  alive at fused_nn_max_pool2d (squeezenet.mlir:16)
      planned             3,932,576 B   3.8 MiB  1.001 x the lower bound, 0.337 x the sum
      …

`xrelay-opt --memory-report` runs it right before `lower-to-bytecode`, or at the end. Levels
`manifest` and `memory-planned`.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..runtime.calls.input_bindings import parse_dim
from ..runtime.errors import Error
from .memory_report.model import MemoryUse
from .memory_report.read import read_memory
from .memory_report.report import json_of, options_of, report_of, text_lines, unknown_dims
from .support.changes import InspectionPass
from .support.diagnostics import parse_keyed


def check_dims(use: MemoryUse, dims: Mapping[str, int]) -> None:
    """Raise an `Error` for a dim that no function has."""
    unknown = unknown_dims(use, dims)
    if unknown:
        there = ", ".join(options_of(use)) or "none"
        raise Error(f"no size depends on a dim '{unknown[0]}'; there are: {there}")


@dataclass(frozen=True)
class ReportMemoryPass(InspectionPass):
    """Report the memory that a program uses."""

    name = "report-memory"
    accepts = "manifest"

    format: Literal["text", "json"] = "text"
    dims: tuple[str, ...] = ()
    """The values of dims, like `n=3`."""

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        dims = parse_keyed(self.dims, parse_dim, "dims")
        use = read_memory(op)
        check_dims(use, dims)
        reports = report_of(use, dims)
        if self.format == "json":
            lines = [json.dumps({"functions": json_of(reports)}, indent=2)]
        else:
            lines = list(text_lines(reports))
        print("\n".join(lines), file=sys.stderr)
