"""
Random programs compute the same as machine code, and free what they allocate, once.

All programs of a test are one library. `XRELAY_RANDOM_PROGRAMS=1000 pytest …` compiles that many
others. The references are the programs' evaluation, op by op, before any pass.
"""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from agreement import Array, Outcome, evaluated, quiet
from dynamic_programs import DynamicProgram, arguments, dynamic_programs, inferred
from hinted_relay_programs import RelayProgram
from hypothesis import given
from native_programs import NativeBatch
from programs import parse
from programs_with_calls import ProgramWithCalls
from random_settings import OTHER, exactly
from relay_programs import read
from xdsl.dialects.builtin import ModuleOp

from xrelay.lowering.pipelines import AotPipeline
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError

PASSES, _, _ = AotPipeline().text.partition(",plan-memory")
PASSES = PASSES.replace("plan-devices", "plan-devices{default=cpu:0 repair=true}")
MEMORY = (
    "plan-memory",
    "manifest-lifetimes",
    "coalesce-storage,layout-slices,manifest-lifetimes",
    "pass-workspaces,layout-slices,manifest-lifetimes",
)
FIRST_SEED = Random().randrange(1 << 30) if OTHER else 0


class Checked:
    """A batch of programs, the calls of each, and what they return."""

    def __init__(self) -> None:
        self.batch = NativeBatch()
        self.calls: list[tuple[int, str, list[Array], Outcome]] = []

    def add(self, module: ModuleOp, calls: Sequence[Sequence[Array]], what: str) -> None:
        wanted = [evaluated(module, args) for args in calls]
        memory = MEMORY[len(self.batch.entries) % len(MEMORY)]
        number = self.batch.add(module, f"{PASSES},{memory},verify-stage{{stage=memory-planned}}")
        if number is not None:
            self.calls += [
                (number, what, list(args), outcome)
                for args, outcome in zip(calls, wanted, strict=True)
            ]

    def check(self, folder: Path) -> None:
        self.batch.build(folder)
        for number, what, args, wanted in self.calls:
            compare(self.batch.run(number, args), wanted, what)


def compare(found: Outcome, wanted: Outcome, what: str) -> None:
    """Check that results are equal but for rounding, or that both are errors."""
    if isinstance(wanted, str) or isinstance(found, str):
        # What is not used may be removed, with its error.
        assert isinstance(wanted, str), f"{what}: {found}"
        return
    assert len(found) == len(wanted), what
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), what
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=what)


def test_programs_with_calls(tmp_path: Path):
    """Functions call others, in branches too, and return tuples; rows are dynamic or not."""
    checked = Checked()
    for seed in range(FIRST_SEED, FIRST_SEED + (OTHER or 16)):
        rng, is_open = Random(seed), bool(seed % 2)
        module = parse(ProgramWithCalls(rng, is_open, seed % 3 == 0).text)
        made = np.random.default_rng(seed)
        rows = [[8, 8], [8, 8]] if not is_open else [[2, 3], [0, 1], [4, 4]]
        calls = [
            [
                *(made.uniform(-1, 1, (n, 4)).astype(np.float32) for n in sizes),
                np.array(bool(i % 2)),
            ]
            for i, sizes in enumerate(rows)
        ]
        checked.add(module, calls, f"seed {seed}")
    assert not checked.batch.rejected
    checked.check(tmp_path)


def test_programs_of_tensors(tmp_path: Path):
    """Operators, branches and views, with dynamic dims that have names or not."""
    checked = Checked()

    @exactly(12)
    @given(dynamic_programs())
    def add(program: DynamicProgram) -> None:
        calls = [arguments(shapes) for shapes in program.calls]
        checked.add(inferred(program), calls, program.text)

    add()
    assert len(checked.batch.rejected) <= len(checked.batch.entries) // 10
    checked.check(tmp_path)


def test_programs_with_recursion(tmp_path: Path):
    """Programs of Relay text: some call themselves; those with data types are not accepted."""
    checked, count = Checked(), OTHER or 16
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        rng, is_open = Random(seed), bool(seed % 2)
        text = RelayProgram(rng, is_open).text
        module = read(text)
        InferTypesPass().apply(quiet(), module)
        sizes = [(4, 4)] if not is_open else [(4, 4), (2, 2), (0, 3)]
        calls = [
            [np.array(flag), *arguments([(n,), (m,)])] for flag in (True, False) for n, m in sizes
        ]
        try:
            checked.add(module, calls, f"seed {seed}")
        except PassError as error:
            if "would have to be on" not in str(error) and "can be copied" not in str(error):
                raise
    assert len(checked.batch.entries) >= count // 4
    checked.check(tmp_path)
