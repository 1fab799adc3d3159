"""Programs at level `relay`, compiled and run in the machine."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from helpers.machine.reference_machine import ReferenceMachine
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay import TypeDataOp
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.evaluation.evaluated_values import DataValue, Value
from xrelay.passes.support.diagnostics import Message, ReportingContext
from xrelay.runtime.calls.values import Tagged
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program.named_results import results_of
from xrelay.runtime.program.program import Program
from xrelay.tools.api.loaded import compile_program
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.api.session import Given, Session
from xrelay.tools.messages import Reporter
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.runner import Runner
from xrelay.tools.registry import named_pipelines

UNIVERSE = load_universe(lambda text: None)


def _ignore(message: Message) -> None:
    pass


def universal_context(allow_unregistered: bool = False) -> ReportingContext:
    """Return a context that knows all dialects and ignores remarks."""
    ctx = ReportingContext(allow_unregistered=allow_unregistered, handler=_ignore)
    for name, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def run_passes(module: ModuleOp, passes: str) -> None:
    """Run a pipeline; remarks are ignored."""
    ctx = universal_context()
    Runner(build(passes, UNIVERSE.all_passes, named_pipelines)).run(ctx, module)


def compiled(module: ModuleOp, passes: str = "vm") -> Program:
    """Compile `module`, which becomes bytecode."""
    run_passes(module, passes)
    return assemble(module)


def machine_of(program: Program, sanitize: bool = False) -> Machine:
    """A machine whose unwritten memory is NaN."""
    return Machine(program, kernels=KERNELS, memory=Memory(poison=True), sanitize=sanitize)


def tagged(value: Value, tags: dict[str, int]) -> Any:
    """Return an evaluator's value as the machine's: data with tags for constructors."""
    done: list[Any] = []
    rest: list[Any] = [(value, False)]
    while rest:
        item, is_open = rest.pop()
        data = isinstance(item, DataValue)
        if not data and not isinstance(item, tuple):
            done.append(np.asarray(item))
            continue
        fields = item.fields if data else cast("tuple[Value, ...]", item)
        if not is_open:
            rest.append((item, True))
            rest += [(field, False) for field in reversed(fields)]
            continue
        built = done[len(done) - len(fields) :]
        del done[len(done) - len(fields) :]
        done.append(Tagged(tags[item.constructor], built) if data else tuple(built))
    return done.pop()


def results_in_machine(module: ModuleOp, args: Sequence[Value], function: str) -> list[Value]:
    """
    Compile `module` and run `function` twice, sanitized, and in the reference machine.

    All return the same. The first run records its path, the second one follows it.
    """
    tags = {
        constructor.constructor.data: tag
        for op in module.ops
        if isinstance(op, TypeDataOp)
        for tag, constructor in enumerate(op.constructors)
    }
    program = compile_program(Session(Reporter()), Given(module), "vm").program
    called = next(f for f in program.functions if f.name == function)
    machine, sanitized = machine_of(program), machine_of(program, sanitize=True)
    given = [tagged(arg, tags) for arg in args]
    first, *others = (
        results_of(called, program.data, runner.evaluate(function, *given))
        for runner in (machine, machine, sanitized, ReferenceMachine(program, kernels=KERNELS))
    )
    for other in others:
        assert_same(tuple(first), tuple(other))
    return first


def assert_same(one: Value, other: Value) -> None:
    """Check that two values are equal, however deep they are."""
    rest = [(one, other)]
    while rest:
        a, b = rest.pop()
        if isinstance(a, DataValue):
            assert a.constructor == b.constructor
            a, b = a.fields, b.fields
        if isinstance(a, tuple):
            rest += zip(a, b, strict=True)  # pyright: ignore[reportUnknownArgumentType]
            continue
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(a, b)
