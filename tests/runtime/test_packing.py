"""The instruction `pack`: offsets of slices whose sizes a running program knows."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from helpers.machine.both_machines import Machine
from helpers.programs.machine_programs import function, program
from helpers.programs.random_settings import rounds

from xrelay.runtime.errors import MachineError
from xrelay.runtime.memory import packing
from xrelay.runtime.memory.packing import plan
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.instructions import Reg
from xrelay.runtime.program.program import TensorSpec

I64 = TensorSpec("int64", ())


def packed(*sizes: int | Reg, lifetimes: Sequence[int] = (0, 2, 1, 3, 2, 4)) -> Machine:
    """Return `main(x0, x1)`: the total and the offsets of three slices, aligned to 64."""
    pack = vm.Pack(10, (11, 12, 13), 64, tuple(lifetimes), sizes)
    fields = (10, 11, 12, 13)
    return Machine(program(function([I64, I64], pack, vm.AllocADT(14, 0, fields), vm.Ret(14))))


def run(machine: Machine, *args: int) -> list[int]:
    return [int(value) for value in machine.run("main", *map(np.int64, args))]


def test_slices_that_are_not_alive_together_share_bytes():
    assert run(packed(Reg(0), 100, Reg(1)), 64, 64) == [164, 0, 64, 0]


def test_sizes_that_depend_on_data_are_planned_in_each_call():
    machine = packed(Reg(0), 100, Reg(1))
    for a, b in ((64, 64), (640, 1), (64, 64), (0, 1000), (640, 1)):
        total, *offsets = run(machine, a, b)
        sizes = (a, 100, b)
        ends = [at + size for at, size in zip(offsets, sizes, strict=True)]
        assert total == max(ends)
        assert all(at % 64 == 0 for at in offsets)
        for i, j in ((0, 1), (1, 2)):
            assert not sizes[i] or not sizes[j] or ends[i] <= offsets[j] or ends[j] <= offsets[i]


def test_a_plan_is_made_once_for_equal_sizes(monkeypatch: pytest.MonkeyPatch):
    made: list[Sequence[int]] = []

    def counted(pack: vm.Pack, sizes: Sequence[int]) -> packing.Layout:
        made.append(sizes)
        return plan(pack, sizes)

    monkeypatch.setattr(packing, "plan", counted)
    plans = packing.Plans()
    pack = vm.Pack(0, (1,), 64, (0, 1), (Reg(0),))
    for size in (1, 2, 1, 2, 1):
        assert plans.of(pack, (size,)) == (size, (0,))
    assert made == [(1,), (2,)]
    monkeypatch.setattr(packing, "MAX_KEPT", 2)
    for size in (1, 3, 4):  # drops 2, then 1
        plans.of(pack, (size,))
    plans.of(pack, (4,))
    plans.of(pack, (1,))
    assert made == [(1,), (2,), (3,), (4,), (1,)]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (
            (5, 1 << 62),
            r"main\[0\] pack: tensors of \d{19} bytes together .* not between -2\^62 and 2\^62",
        ),
        (((1 << 61) + 5, 1 << 61), r"have no plan in memory \(sizes .* not below 2\^62\)"),
    ],
)
def test_sizes_without_a_plan_are_an_error(sizes: Sequence[int], message: str):
    with pytest.raises(MachineError, match=message):
        run(packed(Reg(0), 100, Reg(1)), *sizes)


def test_a_negative_size_counts_as_0():
    pack = vm.Pack(0, (1, 2, 3), 64, (0, 2, 0, 2, 0, 2), (Reg(0), Reg(1), Reg(2)))
    assert packing.Plans().of(pack, (100, -1000, 4)) == packing.Plans().of(pack, (100, 0, 4))


@pytest.mark.parametrize(
    ("pack", "message"),
    [
        (
            vm.Pack(0, (1, 2), 64, (0, 1), (4, 4)),
            "2 slices need 2 offsets and 4 lifetime bounds, but there are 2 and 2",
        ),
        (vm.Pack(0, (1,), 48, (0, 1), (4,)), "alignment must be a power of two up to 1048576"),
        (vm.Pack(0, (1,), 64, (1, 1), (4,)), r"slice 0 must not be empty, but is \[1, 1\)"),
        (vm.Pack(0, (1,), 64, (-1, 1), (4,)), r"slice 0 must not be empty, but is \[-1, 1\)"),
        (vm.Pack(0, (1,), 64, (0, 1 << 62), (4,)), "slice 0 must not be empty"),
        (vm.Pack(0, (1,), 64, (0, 1), (-4,)), "slice 0 must have at least 0 bytes, but has -4"),
        (vm.Pack(0, (1,), 64, (0, 1), (4,), (0, 1)), "triples of a slice, a branch and an arm"),
        (vm.Pack(0, (1,), 64, (0, 1), (4,), (1, 0, 0)), r"slice 1 is out of range \[0, 1\)"),
        (
            vm.Pack(0, (1,), 64, (0, 1), (4,), (0, 7, 0, 0, 7, 1)),
            "slice 0 can be in one arm of branch 7 only",
        ),
        (vm.Pack(0, (99,), 64, (0, 1), (4,)), r"register r99 is out of range"),
        (vm.Pack(99, (1,), 64, (0, 1), (4,)), r"register r99 is out of range"),
        (vm.Pack(0, (1,), 64, (0, 1), (Reg(99),)), r"register r99 is out of range"),
    ],
)
def test_a_malformed_pack_is_an_error(pack: vm.Pack, message: str):
    with pytest.raises(MachineError, match=message):
        Machine(program(function([], pack, vm.Ret(0))))


def random_pack(rng: random.Random) -> vm.Pack:
    """A pack of up to 12 slices of size 0, some of them in arms of nested branches."""
    count = rng.randint(1, 12)
    lifetimes: list[int] = []
    arms: list[int] = []
    for i in range(count):
        start = rng.randint(0, 10)
        lifetimes += (start, start + rng.randint(1, 5))
        if rng.random() < 0.5:
            outer = rng.randint(0, 1)
            arms += (i, 0, outer)
            if rng.random() < 0.5:
                arms += (i, 1 + outer, rng.randint(0, 2))
    registers = tuple(range(1, count + 1))
    return vm.Pack(
        0, registers, rng.choice([1, 4, 64]), tuple(lifetimes), (0,) * count, tuple(arms)
    )


def conflicts(pack: vm.Pack) -> Iterator[tuple[int, int]]:
    """Yield the slices that are alive together on some path, by definition."""
    triples = list(zip(pack.arms[::3], pack.arms[1::3], pack.arms[2::3], strict=True))
    for i, j in combinations(range(len(pack.sizes)), 2):
        excluded = any(
            a == i and b == j and branch == other and arm != another
            for a, branch, arm in triples
            for b, other, another in triples
        )
        times = [range(*pack.lifetimes[2 * k : 2 * k + 2]) for k in (i, j)]
        if not excluded and set(times[0]) & set(times[1]):
            yield i, j


@pytest.mark.ci
def test_random_slices_never_overlap():
    rng = random.Random(5)
    shared = 0
    for _ in range(rounds(500)):
        pack = random_pack(rng)
        assert not list(pack.faults())
        pairs = list(conflicts(pack))
        sizes = [rng.choice([0, 1, 5, 64, 1000]) for _ in pack.sizes]
        total, at = plan(pack, sizes)
        ends = [start + size for start, size in zip(at, sizes, strict=True)]
        assert max(ends) <= total <= sum(-(-size // 64) * 64 for size in sizes)
        assert all(start % pack.alignment == 0 for start in at)
        for i, j in pairs:
            assert not sizes[i] or not sizes[j] or ends[i] <= at[j] or ends[j] <= at[i]
        shared += total < sum(sizes)
    assert shared > rounds(150)


def test_arms_are_ignored_where_too_many_slices_are_alive_together(
    monkeypatch: pytest.MonkeyPatch,
):
    pack = vm.Pack(0, (1, 2), 1, (0, 2, 1, 3), (8, 8), (0, 0, 0, 1, 0, 1))
    assert packing.pairs_alive(pack) == 1
    assert plan(pack, (8, 8)) == (8, (0, 0))
    monkeypatch.setattr(packing, "MAX_PAIRS", 0)
    assert plan(pack, (8, 8))[0] == 16


def test_an_offset_is_not_writable():
    machine = Machine(
        program(
            function(
                [I64],
                vm.Pack(10, (11,), 64, (0, 1), (Reg(0),)),
                vm.DeviceCopy(0, 11, 0, 0),
                vm.Ret(0),
            )
        )
    )
    with pytest.raises(MachineError, match="must not write to a constant"):
        machine.run("main", np.int64(7))
