"""
Plans with a random fault, run in the machine: wrong results are never silent under `sanitize`.

The faults are those of `plan_faults`, and exchanged destinations. A run that is
not reported computes what the program computes, and the right plan is never reported.
`XRELAY_RANDOM_PROGRAMS=1000 pytest -s …` tries that many other programs and prints counts.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from helpers.machine.in_machine import machine_of, run_passes
from helpers.memory.plan_faults import (
    FAULTS,
    Calls,
    Fault,
    check_program_with_data,
    check_programs_of_tensors,
)
from helpers.programs.agreement import Array, Outcome, evaluated, flat, same
from helpers.programs.random_settings import OTHER, rounds
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import vm
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program.program import Program

FAULTS_PER_PROGRAM = 6
TO_BYTECODE = "expand-packs,lower-to-bytecode,allocate-registers"


def exchange_destinations(rng: Random, ops: Sequence[Operation]) -> bool:
    """Let two kernels write where the other one should, if the types are the same."""
    calls = [op for op in ops if isinstance(op, vm.InvokeTvmOp) and len(op.outs) == 1]
    rng.shuffle(calls)
    for one, other in pairwise(calls):
        first, second = one.outs[0], other.outs[0]
        if first is second or first.type != second.type:
            continue
        defined = [value.owner for value in (first, second)]
        if (
            all(
                isinstance(op, Operation) and op.parent is one.parent and op.is_before_in_block(one)
                for op in defined
            )
            and one.parent is other.parent
        ):
            one.operands[list(one.operands).index(first)] = second
            other.operands[list(other.operands).index(second)] = first
            return True
    return False


ALL_FAULTS: dict[str, Fault] = {**FAULTS, "exchange": exchange_destinations}


def run(machine: Machine, args: Sequence[Array]) -> Outcome:
    try:
        return flat(machine.run("main", *args))
    except MachineError as error:
        return str(error)


def is_same(found: Outcome, wanted: Outcome) -> bool:
    try:
        same(found, wanted, "")
    except AssertionError:
        return False
    return True


def agrees(found: Outcome, wanted: Outcome, what: str, module: ModuleOp) -> None:
    """Check a result of `module`, whose text takes longer than the check."""
    if not is_same(found, wanted):
        same(found, wanted, f"{what}:\n{module}")


def lowered(module: ModuleOp) -> Program | None:
    """Return the bytecode of a planned module; None if a verifier or the lowering refuses it."""
    try:
        verify(module)
        run_passes(module, TO_BYTECODE)
        return assemble(module)
    except (VerifyException, PassError):
        return None


def check_faults(
    module: ModuleOp, plan: str, rng: Random, calls: Calls, count: Counter[str]
) -> None:
    run_passes(module, plan)
    wanted = [evaluated(module, args) for args in calls]
    right = lowered(module.clone())
    assert right is not None
    machine = machine_of(right, sanitize=True)
    for _ in range(2):  # the second call takes the path that the first recorded
        for args, result in zip(calls, wanted, strict=True):
            agrees(run(machine, args), result, "with the right plan", module)
    for _ in range(FAULTS_PER_PROGRAM):
        faulty = module.clone()
        name = rng.choice(list(ALL_FAULTS))
        if not ALL_FAULTS[name](rng, list(walk(faulty))):
            continue
        tried = faulty.clone()
        program = lowered(faulty)
        if program is None:
            count[f"{name}: refused"] += 1
            continue
        plain, sanitized = machine_of(program), machine_of(program, sanitize=True)
        for args, result in [*zip(calls, wanted, strict=True)] * 2:
            is_right = is_same(run(plain, args), result)
            found = run(sanitized, args)
            is_reported = isinstance(found, str) and not isinstance(result, str)
            kind = "right" if is_right else "wrong"
            count[f"{name}: {kind}, {'reported' if is_reported else 'not reported'}"] += 1
            if not is_reported:
                agrees(found, result, f"after {name}, which was not reported", tried)


@pytest.mark.parametrize("seed", range(OTHER or rounds(8)))
def test_faults_in_programs_with_data_and_functions(seed: int):
    count = check_program_with_data(Random(f"sanitize {seed} {OTHER}"), check_faults)
    if OTHER:
        print(dict(sorted(count.items())))


def test_faults_in_programs_of_tensors():
    count = check_programs_of_tensors(check_faults)
    # Bytecode has no kills of single tensors in a shared storage: a misplaced one has no effect.
    reported = sum(n for name, n in count.items() if name.endswith("wrong, reported"))
    assert reported >= rounds(16), count
