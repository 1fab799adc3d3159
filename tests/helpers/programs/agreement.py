"""Agreement of a program's results at every level and in the machine, at several shapes."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from helpers.machine.disassemble import disassemble
from helpers.machine.in_machine import UNIVERSE, machine_of
from helpers.machine.program_contents import read_back
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import PLAN, VmPipeline
from xrelay.passes.evaluation.evaluated_values import DataValue
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.layout_slices import Strategy
from xrelay.passes.support.changes import apply_pass
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.runtime.errors import MachineError
from xrelay.runtime.memory.limits import Memory
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import named_pipelines

Array = npt.NDArray[Any]
Outcome = list[Array] | str
"""Results, or an error."""

OPTIONAL = (
    *("simplify-inference", "fold-constants", "dynamic-to-static", "share-device-copies"),
    *("inline", "remove-unused-functions", "simplify-shapes"),
    *("remove-dead-writes", "remove-unused-kernels", "manifest-lifetimes"),
)
"""Passes of the pipeline `vm` that may be omitted."""
REPEATABLE = ("cse", "canonicalize", "dce", "eliminate-dead-code", "lift-constants")
"""Passes that may run after any other until bytes are killed."""

MEMORY: tuple[Literal["none", "coalesce", "plan"], ...] = ("none", "coalesce", "plan")
"""The values of the option `memory` of the pipeline `vm`."""

LAYOUT = (
    ("strategy", get_args(Strategy)),
    ("dynamic", ("at-bind", "symbolic")),
)
POOLS = (
    '"fast=64:1,slow=:10"',
    '"fast=96:1,middle=256:3:128,slow=:10"',
    '"fast=1KiB:1,slow=:10,cuda:0/fast=128:2,cuda:0/slow=:3"',
    '"cpu:0=16MiB:1"',
)
PLANNED = (
    *(("entries", ("main",)), ("in_place", ("false",)), ("reorder", ("true",))),
    *(("pools", POOLS), ("minimize", ("heights",))),
)


@st.composite
def plan_options(draw: Callable[[st.SearchStrategy[Any]], Any], name: str) -> str:
    """Options of `plan-memory` or `layout-slices`."""
    options: list[str] = []
    for option in LAYOUT if name == "layout-slices" else (*LAYOUT, *PLANNED):
        value = draw(st.sampled_from(("", *option[1])))
        if value:
            options.append(f"{option[0]}={value}")
    return f"{{{' '.join(options)}}}" if options else ""


@st.composite
def pipelines(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """
    The pipeline `vm` without some passes, with others, fusing or not, reordering or not, with a
    memory plan or not, overwriting dead bytes or not.

    Results may be written over operands. It repairs devices. Memory is verified, planned or not.
    """
    is_varied = draw(st.booleans())
    omitted = draw(st.sets(st.sampled_from(OPTIONAL), max_size=3)) if is_varied else ()
    vm = VmPipeline(draw(st.sampled_from(MEMORY))).text.split(",")
    passes = [name for name in vm if name not in omitted]
    last = passes.index("verify-stage{stage=manifest}")
    for added in draw(st.lists(st.sampled_from(REPEATABLE), max_size=3)) if is_varied else ():
        passes.insert(draw(st.integers(1, last)), added)
    passes.insert(passes.index("expand-packs"), "verify-memory-plan")
    if draw(st.booleans()):  # a part of a join may start at any element, but not what overwrites it
        passes.insert(passes.index("expand-packs"), "overwrite-dead-bytes")
    for added in ("reuse-in-place", "reorder-for-memory"):
        if draw(st.booleans()):
            passes.insert(passes.index("verify-stage{stage=manifest}") + 1, added)
    for text, name in ((PLAN, "plan-memory"), ("layout-slices", "layout-slices")):
        if text in passes:
            passes[passes.index(text)] = name + draw(plan_options(name))
    text = ",".join(passes).replace("plan-devices", "plan-devices{default=cuda:0 repair=true}")
    return text.replace("fuse-ops", f"fuse-ops{{level={draw(st.integers(0, 1))}}}")


def flat(value: Any) -> list[Array]:
    """Return the arrays of a result, in order."""
    if isinstance(value, DataValue):
        value = value.fields
    if isinstance(value, tuple | list):
        return [array for item in value for array in flat(item)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [np.asarray(value)]


def evaluated(module: ModuleOp, args: Sequence[Array]) -> Outcome:
    """Evaluate `main`; a kill poisons the bytes."""
    try:
        return flat(evaluate(module, args, memory=Memory(poison=True)))
    except PassError as error:
        return str(error)


def same(found: Outcome, wanted: Outcome, what: str) -> None:
    """Check that results are equal, or that both are errors."""
    if isinstance(wanted, str) or isinstance(found, str):
        assert isinstance(wanted, str) == isinstance(found, str), f"{what}: {found}, not {wanted}"
        return
    assert len(found) == len(wanted), what
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), what
        np.testing.assert_array_equal(a, b, err_msg=what)


def quiet() -> ReportingContext:
    """Return a context with all dialects that ignores remarks."""
    ctx = ReportingContext(handler=lambda message: None)
    for name, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def agree(module: ModuleOp, passes: str, calls: Sequence[Sequence[Array]]) -> list[Outcome]:
    """
    Lower `module` by `passes`, and check that the results of `calls` stay the same.

    A pass may remove an error with what is not used, but not cause one. The machine runs each call
    twice, as the second takes the path that the first recorded; the reference machine runs it once.
    Returns the results.
    """
    verify(module)
    wanted = [evaluated(module, args) for args in calls]
    for step in build(passes, UNIVERSE.all_passes, named_pipelines):
        if not apply_pass(step.run, quiet(), module):
            continue
        verify(module)
        name = step.run.name
        if name in ("verify-stage", "lower-to-bytecode", "allocate-registers"):
            continue  # instructions run in the machine
        for i, args in enumerate(calls):
            found = evaluated(module, args)
            if isinstance(wanted[i], str):
                wanted[i] = found
            same(found, wanted[i], f"call {i} after {name}")
    program = assemble(module)
    again = assemble(disassemble(program))
    for machine in (machine_of(read_back(program)), machine_of(again, sanitize=True)):
        for i, args in [*enumerate(calls)] * 2:
            try:
                found = flat(machine.run("main", *args))
            except MachineError as error:
                found = str(error)
            same(found, wanted[i], f"call {i} in the machine")
    return wanted
