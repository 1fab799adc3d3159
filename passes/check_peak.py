"""
Check that a plan needs at most so many bytes; the program stays as it is.

    error: a peak of 100000 bytes is not reached: the plan has 101376

`choose-tiling` keeps live bytes below a peak, before there is a plan. A plan may need gaps between
tensors, or compiled code copies of slices that were not expected; or fewer, as values share bytes
in more ways than are counted. So a function without stripes whose count exceeds the peak is refused
here, with the fewer bytes of its plan and `relay.least_peak`. What counts are the storages of
a function that are allocated at once, with those of its caller; of open rows, at the most for which
`choose-tiling` keeps the peak. Levels `manifest` and `memory-planned`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from .memory_report.model import MemoryUse
from .memory_report.read import memory_of
from .memory_report.report import planned_with_calls
from .support.changes import InspectionPass
from .support.diagnostics import PassError
from .support.levels import Level
from .support.peak_option import peak_in
from .tiling.open_steps import open_sizes, sampled_rows
from .tiling.stripe_attributes import LeastPeak


def planned(use: MemoryUse, function: func.FuncOp, rows: int) -> int | None:
    """Return the most bytes that a function and its callees hold; open dims are `rows` at most."""
    name = f"@{function.sym_name.data}"
    own, open = next(use for use in use.functions if use.name == name), open_sizes(function, rows)
    values = [open.get((v.parameter or 0, v.axis), rows) for v in own.formulas.variables]
    sizes = own.formulas.evaluate(values)
    lent = sum(sizes[storage.size] for storage in own.storages if storage.is_given)
    dims = {v.options[0]: value for v, value in zip(own.formulas.variables, values, strict=True)}
    held = [planned_with_calls(use, name, on.device, {name: dims}) for on in own.devices()]
    return None if None in held else lent + sum(size or 0 for size in held)


@dataclass(frozen=True)
class CheckPeakPass(InspectionPass):
    """Check that a plan needs at most so many bytes."""

    name = "check-peak"
    accepts: ClassVar[Level] = "manifest"

    peak: str = ""
    """The most bytes of a function, such as `256KiB`, its results included; by default, any."""

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        peak = peak_in(self.peak)
        if peak is None:
            return
        use = memory_of(op)
        names = {function.name for function in use.functions}
        for function in op.walk():
            if not isinstance(function, func.FuncOp) or f"@{function.sym_name.data}" not in names:
                continue
            rows = sampled_rows(function)
            most = planned(use, function, max(rows, default=0))
            if most is None or most > peak:
                at = f" at {rows[-1]} rows" if rows else ""
                plan = "its plan is not known" if most is None else f"the plan has {most}"
                message = f"a peak of {peak} bytes is not reached{at}: {plan}"
                if (least := LeastPeak.of(function)) is not None:
                    reached = min(least.bytes, most or least.bytes)
                    message = replace(least, bytes=reached).refusal_of(peak)
                raise PassError(message, function)
